"""Facts: what a frame gives, what it must never give, and how it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.types import InputReferences
from litepyramid.units.coreference import ages
from litepyramid.units.extract import extract
from litepyramid.units.facts import sentence_facts
from litepyramid.units.parses import Frame, ParsedSentence
from litepyramid.units.spelling import spaces_before, spelled


def sentence(*rows: str) -> ParsedSentence:
    """A sentence of "token tag tag …" rows, a tag for each frame."""
    table = [row.split() for row in rows]
    tokens = tuple(row[0] for row in table)
    frames = []
    for column in range(1, len(table[0])):
        tags = tuple(row[column] for row in table)
        frames.append(Frame(tags.index("B-V"), tags))
    return ParsedSentence(tokens, tuple(frames))


def facts_of(parsed: ParsedSentence) -> list[tuple[str, bool]]:
    """Facts as texts, and whether somebody said them."""
    facts = sentence_facts(parsed)
    return [(" ".join(parsed.tokens[i] for i in f.tokens), f.said) for f in facts]


def test_the_core_stays_with_every_adjunct():
    parsed = sentence(
        "Ann B-ARG0", "has O", "not B-ARGM-NEG", "made B-V", "a B-ARG1", "pledge I-ARG1",
        "on B-ARGM-TMP", "Monday I-ARGM-TMP", "in B-ARGM-LOC", "Rome I-ARGM-LOC", ". O",
    )  # fmt: skip
    assert facts_of(parsed) == [
        ("Ann has not made a pledge on Monday", False),
        ("Ann has not made a pledge in Rome", False),
    ]


@pytest.mark.parametrize(
    ("verb", "facts"),
    [
        ("said", [("Police said he fled", False), ("he fled", True)]),
        ("fear", [("Police fear he fled", False)]),
    ],
)
def test_what_is_said_is_marked_and_what_is_feared_is_none(verb, facts):
    parsed = sentence(
        "Police B-ARG0 O",
        f"{verb} B-V O",
        "he B-ARG1 B-ARG0",
        "fled I-ARG1 B-V",
        ". O O",
    )
    assert facts_of(parsed) == facts


def test_a_condition_is_no_fact_and_stays_with_its_clause():
    parsed = sentence(
        "He B-ARG0 O", "pays B-V O", "if B-ARGM-ADV O", "he I-ARGM-ADV B-ARG0",
        "loses I-ARGM-ADV B-V", "on B-ARGM-TMP O", "Monday I-ARGM-TMP O",
    )  # fmt: skip
    assert facts_of(parsed) == [("He pays if he loses on Monday", False)]


def test_a_noun_takes_the_place_of_its_relative_pronoun():
    parsed = sentence(
        "She B-ARG0 O", "made B-V O", "a B-ARG1 B-ARG1", "film I-ARG1 I-ARG1",
        "in I-ARG1 B-R-ARGM-LOC", "which I-ARG1 I-R-ARGM-LOC", "he I-ARG1 B-ARG0",
        "dances I-ARG1 B-V", ". O O",
    )  # fmt: skip
    assert facts_of(parsed) == [
        ("She made a film", False),
        ("he dances in a film", False),
    ]


def test_what_is_said_beside_is_a_fact_of_its_own():
    parsed = sentence(
        "Police B-ARG0 O", "arrested B-V O", "a B-ARG1 B-ARG0", "man I-ARG1 I-ARG0",
        "who I-ARG1 B-R-ARG0", "slept I-ARG1 B-V", ". O O",
    )  # fmt: skip
    expected = [("Police arrested a man", False), ("a man slept", False)]
    assert facts_of(parsed) == expected


def test_a_participle_takes_the_auxiliary_that_it_shares():
    parsed = sentence(
        "He B-ARG1 B-ARG1", "was O O", "picked B-V O", "up I-V O", "and O O",
        "taken O B-V", "home O B-ARG2", ". O O",
    )  # fmt: skip
    assert facts_of(parsed) == [
        ("He was picked up", False),
        ("He was taken home", False),
    ]


def test_what_just_happens_takes_no_auxiliary():
    parsed = sentence(
        "He B-ARG1 B-ARG1", "was O O", "hurt B-V O", "and O O", "died O B-V",
    )  # fmt: skip
    assert facts_of(parsed)[1:] == [("He died", False)]


def test_words_between_auxiliary_and_verb_stay():
    parsed = sentence(
        "They B-ARG1", "were O", "almost B-ARGM-ADV", "certainly I-ARGM-ADV",
        "linked B-V", "to B-ARG2", "it I-ARG2",
    )  # fmt: skip
    assert facts_of(parsed) == [("They were almost certainly linked to it", False)]


def test_an_aside_goes_with_its_comma():
    parsed = sentence(
        "Ann B-ARG0 B-ARG0", ", I-ARG0 O", "who I-ARG0 B-R-ARG0", "fell I-ARG0 B-V",
        ", I-ARG0 O", "left B-V O",
    )  # fmt: skip
    assert facts_of(parsed) == [("Ann left", False), ("Ann fell", False)]


def test_a_question_word_without_a_noun_gives_no_fact():
    parsed = sentence(
        "He B-ARG0 O", "asked B-V O", "who B-ARG1 B-ARG1", "Ann I-ARG1 B-ARG0",
        "will I-ARG1 B-ARGM-MOD", "meet I-ARG1 B-V",
    )  # fmt: skip
    assert facts_of(parsed) == [("He asked who Ann will meet", False)]


def test_an_infinitive_is_no_fact():
    parsed = sentence(
        "Ann B-ARG0 B-ARG0", "wants B-V O", "to B-ARG1 O", "win I-ARG1 B-V"
    )
    assert facts_of(parsed) == [("Ann wants to win", False)]


def test_two_sentences_written_as_one_are_read_apart():
    parsed = sentence(
        "It B-ARG0 O", "has B-V O", "' B-ARG1 O", "nice I-ARG1 O", "' I-ARG1 O",
        "doors I-ARG1 O", "and I-ARG1 O", "' I-ARG1 O", "laser I-ARG1 O",
        "lights I-ARG1 O", "' I-ARG1 O", "The I-ARG1 B-ARG0", "man I-ARG1 I-ARG0",
        "left O B-V", ". O O",
    )  # fmt: skip
    assert facts_of(parsed) == [
        ("It has ' nice ' doors and ' laser lights '", False),
        ("The man left", False),
    ]


def test_who_speaks_after_a_quotation_is_in_its_sentence():
    parsed = sentence(
        "' O O", "Bob B-ARG1 B-ARG0", "won I-ARG1 B-V", "' O O", "Ann B-ARG0 O", "said B-V O",
    )  # fmt: skip
    assert facts_of(parsed) == [("Bob won ' Ann said", False), ("Bob won", True)]


@pytest.mark.parametrize(
    ("rows", "fact"),
    [
        (("They B-ARG1", "fell B-V", "last B-ARGM-TMP", "night O", ". O"), "night"),
        (("He B-ARG1", "died B-V", "to B-ARGM-MNR", "death O", ", O"), "death"),
    ],
)
def test_words_that_a_labeller_cut_off_belong_to_the_fact(rows, fact):
    parsed = sentence(*rows)
    ((text, _),) = facts_of(parsed)
    assert text.endswith(fact)
    assert text.startswith(parsed.tokens[0])


def test_a_subject_in_two_pieces_is_one():
    parsed = sentence("Door B-ARG1", "of O", "cars B-ARG0", "flew B-V", "open B-ARG2")
    assert facts_of(parsed) == [("Door of cars flew open", False)]


@pytest.mark.parametrize(
    "rows",
    [
        # It was Ann that left. It was nothing that helped.
        (
            "It B-ARG1 O", "was B-V O", "Ann B-ARG2 B-ARG0", "that I-ARG2 B-R-ARG0",
            "left I-ARG2 B-V",
        ),
        (
            "She B-ARG0 O", "is B-V O", "not B-ARGM-NEG O", "people B-ARG2 B-ARG0",
            "who I-ARG2 B-R-ARG0", "leave I-ARG2 B-V",
        ),
        # The man, seen in May, was there.
        (
            "He B-ARG1 B-ARG1", "seen O B-V", "here O B-ARGM-LOC", "was B-V O",
            "shot B-ARG2 O",
        ),
        # He will stay before she leaves. He knows what we need.
        (
            "He B-ARG0 O", "will B-ARGM-MOD O", "stay B-V O", "before B-ARGM-TMP O",
            "Ann I-ARGM-TMP B-ARG0", "leaves I-ARGM-TMP B-V",
        ),
        (
            "He B-ARG0 O", "knows B-V O", "what B-ARG1 B-ARG1", "we I-ARG1 B-ARG0",
            "need I-ARG1 B-V",
        ),
        # Rooms in flats he let. Men, most of whom left.
        (
            "He B-ARG0 O", "saw B-V O", "rooms B-ARG1 B-ARG1", "in I-ARG1 I-ARG1",
            "flats I-ARG1 I-ARG1", "he I-ARG1 B-ARG0", "let I-ARG1 B-V",
        ),
        (
            "He B-ARG0 O", "saw B-V O", "men B-ARG1 B-ARG1", ", I-ARG1 O",
            "most I-ARG1 B-ARG1", "of I-ARG1 I-ARG1", "whom I-ARG1 B-R-ARG1",
            "left I-ARG1 B-V",
        ),
    ],
)  # fmt: skip
def test_these_clauses_give_no_fact_of_their_own(rows):
    parsed = sentence(*rows)
    assert len(facts_of(parsed)) == 1


def test_a_quotation_is_whole_before_who_said_it():
    parsed = sentence(
        "Today B-ARGM-TMP B-ARGM-TMP", "I B-ARG0 B-ARG0", "met O B-V", "Bob B-ARG1 B-ARG1",
        "' I-ARG1 I-ARG1", ", O O", "said B-V O", "Ann B-ARG1 O",
    )  # fmt: skip
    assert facts_of(parsed)[0] == ("Today I met Bob ' , said Ann", False)


def test_a_fact_does_not_end_in_and():
    parsed = sentence("Ann B-ARG0", "left B-V", "- B-ARG2", "and I-ARG2", "ran O")
    assert facts_of(parsed) == [("Ann left", False)]


def test_what_may_have_happened_stays_a_possibility_in_the_second_verb():
    parsed = sentence(
        "He B-ARG0 B-ARG1", "may B-ARGM-MOD O", "have O O", "gone B-V O", "in B-ARG4 O", "and O O",
        "got O O", "lost O B-V",
    )  # fmt: skip
    assert facts_of(parsed)[1] == ("He may have got lost", False)


def test_a_participle_that_says_which_one_gives_no_fact():
    parsed = sentence(
        "A B-ARG1 B-ARG0", "video I-ARG1 I-ARG0", "made B-V I-ARG0", "by B-ARG0 I-ARG0",
        "Bob I-ARG0 I-ARG0", "shows O B-V", "cats O B-ARG1",
    )  # fmt: skip
    assert facts_of(parsed) == [("A video made by Bob shows cats", False)]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Ann Lee won. CLICK HERE to see how she won.", ["Ann Lee won"]),
        ("Ann Lee won. READ: Who beat Bob?", ["Ann Lee won"]),
        ("Why did Ann Lee win?", ["Why did Ann Lee win?"]),
        ("It was ranked 16th in May.", ["It was ranked 16th in May"]),
        ("Ann Lee left. Bob ran for her life.", ["Ann Lee left", "Bob ran for her life"]),
        ("Ann Lee won. Said she was happy.", ["Ann Lee won", "she was happy", "Said she was happy"]),
        ("Ann Lee won. Her son ran.", ["Ann Lee won", "Ann Lee's son ran"]),
        ("Asked why, Ann Lee said: 'I won.'", ["Ann Lee said: I won"]),
        ("World War I ended in May.", ["World War I ended in May"]),
        ("It may go after Ann looks at it.", ["It may go after Ann looks at it"]),
        ("Ann left before Bob hit her.", ["Ann left before Bob hit her", "Bob hit her"]),
        ("Ann won in 1943, when Bob was 13.", ["Ann won in 1943, when Bob was 13"]),
        ("Ann Lee won. Mr Lee ran with her.", ["Ann Lee won", "Mr Lee ran with her"]),
        ("Ann Lee ran. A witness said she fell.", ["Ann Lee ran", "A witness said she fell", "she fell"]),
        ("Ann thought Bob fell.", ["Ann thought Bob fell"]),
        ("A 35-metre - long boat sank.", ["A 35-metre - long boat sank"]),
        ("Ann likes it more than Bob likes it.", ["Ann likes it more than Bob likes it"]),
        ("Ann saw a cat called Rex.", ["Ann saw a cat called Rex"]),
        ("Ann Lee and Bob Ray, who is ill, won.", ["Bob Ray is ill", "Ann Lee and Bob Ray won"]),
    ],
)  # fmt: skip
def test_facts_that_a_reader_understands_alone(text, facts):
    assert [*extract({"a": text}).units[0].texts] == facts


@pytest.mark.parametrize(
    ("text", "ages_of"),
    [
        ("Ann Lee , 33 , and Bob , 7 .", ["Ann Lee is 33", "Bob is 7"]),
        ("A man of Leeds , 33 , left in May 12 , 2020 .", []),
        ("Ann Lee , ² , left .", []),
    ],
)
def test_ages_stand_behind_names(text, ages_of):
    tokens = text.split()
    texts = [
        " ".join([*(tokens[i] for i in n), "is", tokens[a]]) for n, a in ages(tokens)
    ]
    assert texts == ages_of


TOKENS = [
    "Ann",
    "who",
    "has",
    "to",
    "not",
    "said",
    "if",
    ",",
    "it",
    "in",
    "made",
    ":",
    "'",
]
ROLES = ["ARG0", "ARG1", "R-ARG0", "ARGM-TMP", "ARGM-NEG", "ARGM-MOD", "C-ARG1", "V"]


@st.composite
def parsed_sentences(draw) -> ParsedSentence:
    """Any words with any frames."""
    tokens = tuple(draw(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=12)))
    tag = st.builds("{}-{}".format, st.sampled_from("BI"), st.sampled_from(ROLES))
    row = st.lists(st.just("O") | tag, min_size=len(tokens), max_size=len(tokens))
    frames = []
    for tags in draw(st.lists(row, max_size=4)):
        verb = draw(st.integers(0, len(tokens) - 1))
        tags[verb] = "B-V"
        frames.append(Frame(verb, tuple(tags)))
    return ParsedSentence(tokens, tuple(frames))


@given(parsed_sentences())
def test_any_frames_give_facts_of_their_own_words(parsed):
    facts = sentence_facts(parsed)
    assert facts

    for fact in facts:
        assert len(set(fact.tokens)) == len(fact.tokens) > 0
        assert set(fact.tokens) <= set(range(len(parsed.tokens)))
        assert fact.verb == -1 or fact.verb in fact.tokens

    for fact in facts:
        for other in facts:
            contained = set(fact.tokens) < set(other.tokens)
            assert not (contained and fact.verb == other.verb)


@given(st.text("ab ,.'()", max_size=30))
def test_words_are_spelled_as_the_text_has_them(text):
    """All words of a text come back as the text, but for spaces before marks."""
    tokens = text.replace(",", " , ").replace(".", " . ").split()
    spaces = spaces_before(text, tokens)
    written = spelled(list(zip(tokens, spaces, strict=True)))
    assert " ," not in written
    assert " ." not in written
    kept = set(written) - {" "}
    assert kept <= set(text)


def test_a_reference_is_written_with_its_own_spaces_and_quotes():
    text = 'The 27-year-old wasn\'t hurt (he said), but "very" tired; he left.'
    references = [InputReferences("a", ((text,),), (False,))]
    units = extract(references, srl="sentences").units[0]
    assert units.texts == (text.rstrip("."),)


def test_the_example_has_no_loose_marks():
    from litepyramid.embedded.example import load_example

    for entry in extract(load_example().references).units:
        for text in entry.texts:
            assert " ," not in text
            assert " ." not in text
            assert text[0] not in ",."
