"""References in, units out: the embedded extractor, other backends, the command
line."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from bench.extraction import best_match
from cases import cases, refused

from litepyramid.io.coerce import as_references, as_units
from litepyramid.io.inputs import read_ids
from litepyramid.sentences import split_sentences
from litepyramid.types import InputReferences
from litepyramid.units.extract import extract, tokenized
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parses import Frame, ParsedBatch, with_frames, write_parses


def one(*sentences: str, name="a") -> InputReferences:
    return InputReferences(name, (sentences,), (True,))


def test_names_stand_in_for_pronouns_by_default():
    references = [one("Ann Lee moved to Rome .", "She bought a house in May .")]
    assert extract(references).units[0].texts[1:] == ("Ann Lee bought a house in May",)
    triplets = extract(references, rules="zb21").units[0]
    assert triplets.texts[1:] == ("Ann Lee bought a house", "Ann Lee bought in May")
    plain = extract(references, rules="zb21", coref="none").units[0]
    assert plain.texts[1:] == ("She bought a house", "She bought in May")
    assert [unit.sentence for unit in plain.units] == [0, 1, 1]
    assert {(unit.kind, unit.weight, unit.reference) for unit in plain.units} == {
        ("stu", 1.0, 0)
    }
    before = extract(references, coref="embedded")
    assert before.parses[0].sentences[1].text == "Ann Lee bought a house in May ."
    assert before.counts["mentions replaced"] == 1


def test_short_lines_with_a_title_are_facts_and_other_short_ones_are_not():
    answer = "**Ann Lee** lives in Rome [2].\n- Age: 33.\n- Indeed.\n- Home: Rome."
    expected = ("Ann Lee lives in Rome", "Age: 33", "Home: Rome")
    assert extract([answer]).units[0].texts == expected


# A sentence, and its units. An unknown word is no bare verb unless something says so;
# no fact loses its verb, its particle or its object.
LONG = "The line will cost 340 million kroner and open in 2029 ."
ROWS = [
    (LONG, "The line will cost 340 million kroner", "The line will open in 2029"),
    *cases("""
Danilo this week agreed to join Real Madrid . | Danilo this week agreed to join Real Madrid
Leave the city now .                          | Leave the city now .
They do not moulder here .                    | They do not moulder here
It could be used in electric cars .           | It could be used in electric cars
Markets had not expected the decision .       | Markets had not expected the decision
Talks broke down last week .                  | Talks broke down last week
The prime minister called it a historic step . | The prime minister called it a historic step
"""),
]


def test_units_of_sentences_that_are_parsed():
    references = [one(text, name=text) for text, *_ in ROWS]
    units = extract(references, srl="embedded", rules="zb21").units
    assert [entry.texts for entry in units] == [tuple(facts) for _, *facts in ROWS]


def test_a_name_in_place_of_a_possessive_pronoun_stays_possessive():
    references = [one("Ann Lee sold her house in May .", "Her brother bought a car .")]
    assert extract(references).units[0].texts == (
        "Ann Lee sold her house in May",
        "Ann Lee's brother bought a car",
    )
    assert extract(references, rules="zb21").units[0].texts == (
        "Ann Lee sold her house",
        "Ann Lee sold in May",
        "Ann Lee 's brother bought a car",
    )
    texts = extract(references, rules="zb21", coref="embedded").units[0].texts
    assert texts[-1] == "Ann Lee 's brother bought a car"


ANOTHER = """
Ann Lee sold a house . | Maria , 72 , left her husband . | left her husband
Ann Lee spoke for Eve Berg . | Berg left her husband . | left her husband
Ann Lee : Eve Berg won the vote . | She likes tea . | she likes tea
Ann and Bob Lee met in Rome . | She likes tea . | she likes tea
Ann Lee met a woman in Rome . | She likes tea . | she likes tea
On Tuesday Ann Lee fell . | Victim says she likes tea . | she likes tea
"""


@pytest.mark.parametrize(("first", "second", "kept"), cases(ANOTHER))
def test_a_pronoun_stays_where_another_may_be_meant(first, second, kept):
    texts = extract([one(first, second)]).units[0].texts
    assert any(text.lower().endswith(kept) for text in texts)


def test_a_date_is_no_unit_and_an_age_is_one():
    references = [one("Friday , May 8 , 2009", "Ann Lee , 33 , left Rome .")]
    texts = extract(references).units[0].texts
    assert texts == ("Ann Lee left Rome", "Ann Lee is 33")


def test_all_references_count_and_unmarked_ones_are_split():
    texts = (
        ("It rained in Rome .",),
        ("Mr. Lee left. It rained in the U.S. on Monday!",),
    )
    entry = InputReferences("a", (*texts, texts[0]), (True, False, True))
    result = extract([entry], srl="sentences")
    assert [(u.text, u.reference) for u in result.units[0].units] == [
        ("It rained in Rome", 0),
        ("Mr. Lee left", 1),
        ("It rained in the U.S. on Monday!", 1),
        ("It rained in Rome", 2),
    ]
    triplets = extract([entry], srl="sentences", rules="zb21")
    assert triplets.units[0].texts[2] == "It rained in the U.S. on Monday !"
    assert result.counts["references without sentence marks"] == 1


@dataclass
class Fixed:
    """A backend that calls every second word a verb, and an argument what follows to
    `end`."""

    end: int = 100

    def parse(self, references):
        tokens = [s.tokens for r in references for s in r.sentences]
        tags = [
            ("B-ARG0", "B-V", *["I-ARG1"] * (self.end - 2), *["O"] * 9) for _ in tokens
        ]
        frames = iter(
            [(Frame(1, t[: len(w)]),) for w, t in zip(tokens, tags, strict=True)]
        )
        return ParsedBatch(
            tuple(with_frames(r, frames) for r in references), {"srl": "fixed"}
        )


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_saved_units_are_read_again(tmp_path, ending):
    references = InputReferences(
        "a", (("Ann left .", "She ran home ."), ("Bob ran .",)), (True,) * 2
    )
    units = extract([references])
    units.save(tmp_path / f"stus.{ending}")
    assert as_units(tmp_path / f"stus.{ending}", kind="stu", only=True) == list(
        units.units
    )


def test_what_is_said_stays_marked_in_a_file(tmp_path):
    units = extract([one("Police said he fled home .")])
    assert [unit.said for unit in units.units[0].units] == [False, True]
    units.save(tmp_path / "units.jsonl")
    assert as_units(tmp_path / "units.jsonl", kind="stu") == list(units.units)


def test_what_no_triplet_covers_is_counted_and_what_no_fact_covers_added():
    texts = (
        "Ann left Rome .",
        "The mayor spoke .",
        "Bob slept near Oslo with six dogs .",
    )
    plain = extract([one(*texts)], srl=Fixed(3), rules="zb21")
    assert plain.units[0].texts == (
        "Ann left Rome",
        "The mayor spoke",
        "Bob slept near",
    )
    assert plain.counts[
        "share of a sentence's content words in no STU"
    ] == pytest.approx((3 / 6) / 3)
    filled = extract([one(*texts)], srl=Fixed(3))
    assert filled.units[0].texts == (*plain.units[0].texts, texts[2].rstrip(" ."))
    assert filled.counts["sentences added as units"] == 1
    assert filled.signature != plain.signature
    assert "16.7%" in plain.notes[0]
    assert not extract([one(*texts[:2])], srl="sentences").notes


def test_frames_and_clusters_from_files(tmp_path):
    references = [one("Ann left home .", "She ran to Rome .")]
    path = tmp_path / "parses.jsonl"
    parse = Fixed().parse(tokenized(references)).references[0]
    write_parses(path, [replace(parse, clusters=(((0, 1), (4, 5)),))])
    expected = ("Ann left home", "Ann ran to Rome")
    assert extract(references, srl=str(path)).units[0].texts == expected
    plain = extract(references, srl=str(path), coref="none").units[0]
    assert plain.texts == ("Ann left home", "She ran to Rome")
    triplets = extract(references, srl=str(path), rules="zb21").units[0]
    assert triplets.texts == ("Ann left home .", "Ann ran to Rome .")
    assert extract(references, srl=Fixed(), coref=str(path)).units[0].texts == expected
    assert (
        extract(references, srl=str(path), coref=str(path)).units[0].texts == expected
    )
    other = [one("Bob left home .", "She ran to Rome .")]
    write_parses(tmp_path / "other.jsonl", Fixed().parse(tokenized(other)).references)
    with refused('has no "clusters"'):
        extract(references, srl=str(path), coref=str(tmp_path / "other.jsonl"))
    write_parses(path, [replace(parse, clusters=())])
    with refused("over other tokens than its frames"):
        extract(references, srl=str(tmp_path / "other.jsonl"), coref=str(path))


def test_parses_of_other_references_are_refused(tmp_path):
    path = tmp_path / "parses.jsonl"
    texts = "Ann Lee left home.", "She didn’t run to Rome."
    of_file = extract([one(*texts)], srl=Fixed(), coref="embedded", parses=path)
    again = extract([one(*texts)], srl=str(path))
    assert again.units == of_file.units
    assert again.counts["texts in other words than the file's"] == 1  # "Ann Lee did"

    with refused(
        "sentence 2 of reference 1 of input 'a' is 'Ann Lee did n’t run to Rome .' "
        "here, 'Bob slept .' in the references. Were these parses made from these"
    ):
        extract([one(texts[0], "Bob slept.")], srl=str(path))
    with refused("reference 1 of input 'a' is 'Ann Lee left home . Ann"):
        extract([one("Bob slept.")], srl=str(path))
    # Another program splits as it likes.
    extract([one(" ".join(texts))], srl=str(path)).to_table()


def test_realsumm_units_are_close_to_the_authors(realsumm):
    ids = read_ids(realsumm / "ids.txt")
    references = as_references(realsumm / "references.txt", ids)[:30]
    theirs = as_units(realsumm / "STUs.txt", ids, kind="stu")[:30]
    ours = extract(references, rules="zb21").units
    assert 7 <= sum(len(entry.units) for entry in ours) / len(ours) <= 12
    assert best_match(ours, theirs) >= 0.79
    assert best_match(theirs, ours) >= 0.75

    # A fact is longer: more of its words are a person's, and less often a fragment.
    scus = as_units(realsumm / "SCUs.txt", ids, kind="scu")[:30]
    facts = extract(references).units
    assert best_match(facts, scus) >= best_match(ours, scus)
    texts = [text for entry in facts for text in entry.texts]
    assert not [text for text in texts if " ," in text or " . " in text]
    assert not [text for text in texts if text.endswith(" .") or text[0] in ",."]


def test_parser_on_gold_tokens(data):
    from spacy.training.converters import conllu_to_docs

    text = (data / "ud_english_ewt" / "en_ewt-ud-test.conllu").read_text(
        encoding="utf-8"
    )
    gold = list(
        conllu_to_docs("\n\n".join(text.split("\n\n")[::12]), n_sents=1, no_print=True)
    )
    parsed = EmbeddedBackend().docs([[token.text for token in doc] for doc in gold])
    pairs = [
        (g, p)
        for gs, ps in zip(gold, parsed, strict=True)
        for g, p in zip(gs, ps, strict=True)
    ]
    heads = [g.head.i == p.head.i for g, p in pairs]
    labels = [h and g.dep_ == p.dep_ for h, (g, p) in zip(heads, pairs, strict=True)]
    assert np.mean(heads) >= 0.84
    assert np.mean(labels) >= 0.80
    assert np.mean([g.pos_ == p.pos_ for g, p in pairs]) >= 0.93
    assert np.mean([g.tag_ == p.tag_ for g, p in pairs]) >= 0.93


def test_splitter_on_references_whose_marks_are_known(realsumm):
    right = sum(
        split_sentences(" ".join(entry.references[0]))
        == [" ".join(t.split()) for t in entry.references[0]]
        for entry in as_references(realsumm / "references.txt")
    )
    assert right >= 95


def test_the_signature_changes_when_the_units_do_and_only_then():
    """The order of the inputs and the marks of the same sentences change no unit."""
    first = one("Ann left Rome .", name="a")
    second = one("Bob slept .", name="b")
    signature = extract([first, second]).signature
    assert extract([second, first]).signature == signature
    unmarked = InputReferences("a", (("Ann left Rome .",),), (False,))
    assert extract([unmarked, second]).signature == signature

    for references, options in (
        ([first, one("Bob slept well .", name="b")], {}),
        ([first, one("Bob slept .", name="c")], {}),
        ([first, second], {"srl": "sentences"}),
        ([first, second], {"coref": "none"}),
        ([first, second], {"rules": "zb21"}),
    ):
        assert extract(references, **options).signature != signature


def test_whoever_saves_units_sees_three_of_them(cli, tmp_path):
    references = tmp_path / "references.jsonl"
    references.write_text('{"input": "a", "references": ["Ann left. Bob ran."]}\n')
    shown = cli("units", "extract", references, "-o", tmp_path / "units.jsonl").stdout
    assert "Three of the units" in shown
    assert "Bob ran" in shown
