"""References in, units out: the embedded extractor, other backends, the command
line."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from bench.extraction import best_match
from cases import cases, refused

import litepyramid as lp
from litepyramid.data.records import InputReferences
from litepyramid.files import read_lines
from litepyramid.sentences import split_sentences
from litepyramid.units.extract import extract, tokenized
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parses import Frame, ParsedBatch, with_frames, write_parses


def one(*sentences: str, name="a") -> InputReferences:
    return InputReferences(name, (sentences,), (True,))


def test_names_stand_in_for_pronouns_by_default():
    def extracted(**options):
        sentences = "Ann Lee sold her house in May .", "Her brother bought a car ."
        return extract([one(*sentences)], **options)

    sold = "Ann Lee sold her house", "Ann Lee sold her house in May"
    facts = (*sold, "Ann Lee's brother bought a car")
    assert extracted().units[0].texts == facts
    before = extracted(coref="embedded")
    assert before.units[0].texts == facts
    assert before.parses[0].sentences[1].text == "Ann Lee 's brother bought a car ."
    assert before.counts["mentions replaced"] == 2

    triplets = ["Ann Lee sold her house", "Ann Lee sold in May"]
    for coref, brother in (
        ("srl", "Ann Lee 's brother bought a car"),
        ("embedded", "Ann Lee 's brother bought a car"),
        ("none", "Her brother bought a car"),
    ):
        (units,) = extracted(rules="zb21", coref=coref).units
        assert [*units.texts] == [*triplets, brother]
        assert [unit.sentence for unit in units.units] == [0, 0, 1]
        first = units.units[0]
        assert (first.kind, first.weight, first.reference) == ("stu", 1.0, 0)


def test_short_lines_are_facts():
    answer = "**Ann Lee** lives in Rome [2].\n- Age: 33.\n- Home: Rome."
    expected = ("Ann Lee lives in Rome", "Age: 33", "Home: Rome")
    assert extract([answer]).units[0].texts == expected


# A sentence, and its facts. An unknown word is no bare verb unless something says so;
# no fact loses its verb, its particle or its object.
ROWS = """
The line will cost 340 million kroner and open in 2029 . | The line will cost 340 million kroner | The line will open in 2029
Danilo this week agreed to join Real Madrid . | Danilo this week agreed to join Real Madrid
Leave the city now . | Leave the city | Leave the city now
They do not moulder here .                    | They do not moulder here
It could be used in electric cars .           | It could be used | It could be used in electric cars
Markets had not expected the decision .       | Markets had not expected the decision
Talks broke down last week .                  | Talks broke down last week
The prime minister called it a historic step . | The prime minister called it a historic step
"""


def test_units_of_sentences_that_are_parsed():
    rows = cases(ROWS)
    references = [one(text, name=text) for text, *_ in rows]
    units = extract(references).units
    assert [(entry.input, *entry.texts) for entry in units] == sorted(rows)


def test_all_references_count_and_unmarked_ones_are_split():
    marked = ("It rained in Rome .",)
    text = ("Mr. Lee left. It rained in the U.S. on Monday!",)
    entry = InputReferences("a", (marked, text, marked), (True, False, True))
    result = extract([entry], srl="sentences")
    assert [(unit.reference, unit.text) for unit in result.units[0].units] == [
        (0, "It rained in Rome"),
        (1, "Mr. Lee left"),
        (1, "It rained in the U.S. on Monday!"),
        (2, "It rained in Rome"),
    ]
    assert result.counts["references without sentence marks"] == 1
    triplets = extract([entry], srl="sentences", rules="zb21")
    assert triplets.units[0].texts[2] == "It rained in the U.S. on Monday !"


@dataclass
class Fixed:
    """A backend that calls every second word a verb, and an argument what follows to
    `end`."""

    end: int = 100

    def parse(self, references):
        frames = []
        for reference in references:
            for sentence in reference.sentences:
                tags = ["B-ARG0", "B-V", *["I-ARG1"] * (self.end - 2), *["O"] * 9]
                tags = tags[: len(sentence.tokens)]
                frames.append((Frame(1, tuple(tags)),))

        rest = iter(frames)
        parsed = [with_frames(reference, rest) for reference in references]
        return ParsedBatch(tuple(parsed), {"srl": "fixed"})


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_saved_units_are_read_again_and_what_is_said_stays_marked(tmp_path, ending):
    texts = ("Ann left .", "She ran home ."), ("Police said he fled home .",)
    result = extract([InputReferences("a", texts, (True, True))])
    said = [unit.said for unit in result.units[0].units]
    assert said == [False, False, False, True]
    result.save(tmp_path / f"stus.{ending}")
    again = lp.load(units=tmp_path / f"stus.{ending}").units.of_kind("stu")
    assert again == lp.Units.of(result.units)


def test_what_no_triplet_covers_is_counted_and_what_no_fact_covers_added():
    long = "Bob slept near Oslo with six dogs ."
    references = [one("Ann left Rome .", "The mayor spoke .", long)]
    plain = extract(references, srl=Fixed(3), rules="zb21")
    triplets = ("Ann left Rome", "The mayor spoke", "Bob slept near")
    assert plain.units[0].texts == triplets
    left = plain.counts["share of a sentence's content words in no STU"]
    assert left == pytest.approx((3 / 6) / 3)
    assert "16.7%" in plain.notes[0]
    assert not extract(references, srl="sentences").notes

    facts = extract(references)
    assert facts.counts["sentences with more than a third in no STU"] == 0
    assert facts.signature != plain.signature
    with refused("gives no dependency trees"):
        extract(references, srl=Fixed(3))
    with refused("gives no frames"):
        extract(references, srl="embedded", rules="zb21")


def test_frames_and_clusters_from_files(tmp_path):
    references = [one("Ann left home .", "She ran to Rome .")]
    path = tmp_path / "parses.jsonl"
    parse = Fixed().parse(tokenized(references)).references[0]
    write_parses(path, [replace(parse, clusters=(((0, 1), (4, 5)),))])

    def extracted(srl=path, **options):
        srl = srl if isinstance(srl, Fixed) else str(srl)
        made = extract(references, srl=srl, rules="zb21", **options)
        return made.units[0].texts

    expected = ("Ann left home .", "Ann ran to Rome .")
    assert extracted() == expected
    assert extracted(coref=str(path)) == expected
    assert extracted(Fixed(), coref=str(path)) == expected
    assert extracted(coref="none") == ("Ann left home .", "She ran to Rome .")

    other = tmp_path / "other.jsonl"
    tokens = tokenized([one("Bob left home .", "She ran to Rome .")])
    write_parses(other, Fixed().parse(tokens).references)
    with refused('has no "clusters"'):
        extracted(coref=str(other))
    empty = tmp_path / "empty.jsonl"
    write_parses(empty, [replace(parse, clusters=())])
    with refused("over other tokens than its frames"):
        extracted(other, coref=str(empty))


def test_parses_of_other_references_are_refused(tmp_path):
    path = tmp_path / "parses.jsonl"
    texts = "Ann Lee left home.", "She didn’t run to Rome."
    options = {"coref": "embedded", "rules": "zb21", "parses": path}
    of_file = extract([one(*texts)], srl=Fixed(), **options)
    again = extract([one(*texts)], srl=str(path), rules="zb21")
    assert again.units == of_file.units
    assert again.counts["texts in other words than the file's"] == 1  # "Ann Lee did"
    # Another program splits as it likes.
    extract([one(" ".join(texts))], srl=str(path), rules="zb21").to_table()

    with refused(
        "sentence 2 of reference 1 of input 'a' is 'Ann Lee did n’t run to Rome .' "
        "here, 'Bob slept .' in the references. Was this made from these"
    ):
        extract([one(texts[0], "Bob slept.")], srl=str(path), rules="zb21")
    with refused("reference 1 of input 'a' is 'Ann Lee left home . Ann"):
        extract([one("Bob slept.")], srl=str(path), rules="zb21")


def test_realsumm_units_are_close_to_the_authors(realsumm):
    data = lp.load(realsumm)
    names = sorted(read_lines(realsumm / "ids.txt")[:15])
    references = [entry for entry in data.references if entry.input in names]
    theirs = [*data.stus.of_inputs(names)]
    ours = extract(references, rules="zb21").units
    assert 7 <= np.mean([len(entry.units) for entry in ours]) <= 12
    assert best_match(ours, theirs) >= 0.79
    assert best_match(theirs, ours) >= 0.75

    # A fact is longer: more of its words are a person's, and less often a fragment.
    scus = [*data.units.of_inputs(names)]
    facts = extract(references).units
    assert best_match(facts, scus) >= best_match(ours, scus)
    texts = [text for entry in facts for text in entry.texts]
    loose = [text for text in texts if re.search(r"^[,.]| ,| \. | \.$", text)]
    assert not loose


def test_parser_on_gold_tokens(data):
    """On every twelfth sentence."""
    from spacy.training.converters import conllu_to_docs

    text = (data / "ud_english_ewt" / "en_ewt-ud-test.conllu").read_text("utf-8")
    some = "\n\n".join(text.split("\n\n")[::12])
    gold = list(conllu_to_docs(some, n_sents=1, no_print=True))
    parsed = EmbeddedBackend().words([[token.text for token in doc] for doc in gold])

    right = []
    for doc, ours in zip(gold, parsed, strict=True):
        for token, our in zip(doc, ours, strict=True):
            head = token.head.i == our.head
            root = "root" if token.head.i == token.i else token.dep_
            label = head and root == our.deprel
            classes = token.pos_ == our.upos, token.tag_ == our.xpos
            right.append((head, label, *classes))
    assert (np.mean(right, axis=0) >= [0.84, 0.80, 0.93, 0.93]).all()


def test_splitter_on_references_whose_marks_are_known(realsumm):
    right = 0
    for entry in lp.load(references=realsumm / "references.txt").references:
        sentences = [" ".join(text.split()) for text in entry.references[0]]
        right += split_sentences(" ".join(sentences)) == sentences
    assert right >= 95


def test_the_signature_changes_when_the_units_do_and_only_then():
    """The order of the inputs and the marks of the same sentences change no unit."""
    first = one("Ann left Rome .", name="a")
    second = one("Bob slept .", name="b")
    signature = extract([first, second]).signature
    assert extract([second, first]).signature == signature
    unmarked = InputReferences("a", (("Ann left Rome .",),), (False,))
    assert extract([unmarked, second]).signature == signature

    changes = [extract([first, one("Bob slept well .", name="b")])]
    changes.append(extract([first, one("Bob slept .", name="c")]))
    for option in ({"srl": "sentences"}, {"coref": "none"}, {"rules": "zb21"}):
        changes.append(extract([first, second], **option))
    assert all(changed.signature != signature for changed in changes)
