"""scripts/train/allennlp_parse.py at its edge: predictions of AllenNLP's shape in, our
file out."""

import re

import allennlp_parse as script
import pytest
from nltk import Tree

from litepyramid.units.parses import read_parses


def srl(tokens):
    """A frame for each word in -ed, what is read of SrlBert's forward_on_instances."""
    frames = []
    for verb, token in enumerate(tokens):
        if token.endswith("ed"):
            before = ["I-ARG0"] * verb
            after = ["O"] * (len(tokens) - verb - 1)
            tags = [*before, "B-V", *after]
            frames.append((verb, {"verb": token, "words": tokens, "tags": tags}))

    return frames, int("long" in tokens)


def coref(rows):
    """What the coreference model's predictor gives: inclusive ends, over the whole
    text."""
    document = [token for row in rows for token in row]
    last = [len(document) - 2] * 2
    return {"document": document, "clusters": [[last, [0, 1]]]}


def tree(tokens):
    words = [Tree("X", [token]) for token in tokens]
    return Tree("S", [Tree("NP", words[:2]), *words[2:]])


@pytest.fixture
def models():
    return script.Models(
        sentences=re.compile(r"[^.]+\.").findall,
        tokenize=re.compile(r"\w+|[.()]").findall,
        srl=srl,
        coref=coref,
        tree=tree,
    )


REFERENCES = """
{"input": "a", "references": ["The mayor (Ann) resigned. She waved.", ["It rained."]]}
{"input": "b", "sentences": [{"tokens": ["so", "long", "walked", "."]}]}
"""


def test_three_models_into_one_file(models, tmp_path):
    source = tmp_path / "references.jsonl"
    source.write_text(REFERENCES)
    references = script.read_references(source)
    assert script.run(references, models, tmp_path / "out.jsonl") == (3, 1)
    first, second, third = read_parses(tmp_path / "out.jsonl")
    places = [(parsed.input, parsed.reference) for parsed in (first, second, third)]
    assert places == [("a", 0), ("a", 1), ("b", 0)]

    assert "|".join(first.sentences[0].tokens) == "The|mayor|(|Ann|)|resigned|."
    assert first.sentences[0].tree.startswith("(S (NP (X The) (X mayor)) (X -LRB-)")
    assert [frame.verb for frame in first.sentences[0].frames] == [5]
    assert first.sentences[1].frames[0].tags == ("I-ARG0", "B-V", "O")
    assert first.clusters == (((0, 2), (8, 9)),)
    assert second.sentences[0].text == "It rained ."
    assert "|".join(third.sentences[0].tokens) == "so|long|walked|."


def test_models_that_are_left_out(models, tmp_path):
    (tmp_path / "r.txt").write_text(
        "<t> It rained . </t> <t> Ann slept . </t>\nOne. Two.\n"
    )
    few = models._replace(srl=None, coref=None, tree=None)
    script.run(script.read_references(tmp_path / "r.txt"), few, tmp_path / "out.jsonl")
    first, second = read_parses(tmp_path / "out.jsonl")
    assert [s.text for s in first.sentences] == ["It rained .", "Ann slept ."]
    assert [s.text for s in second.sentences] == ["One .", "Two ."]
    assert (first.input, second.input) == ("1", "2")
    assert first.clusters is None
    assert first.sentences[0].frames is None


def test_outputs_over_other_words_are_named_and_nothing_is_written(
    models, tmp_path, capsys
):
    frame = {"tags": ["O"], "words": ["x"]}
    bad = models._replace(srl=lambda tokens: ([(0, frame)], 0))
    reference = script.Reference("a", 0, sentences=["Ann slept ."])
    with pytest.raises(SystemExit):
        script.run([reference], bad, tmp_path / "out.jsonl")
    message = "reference 1 of input 'a': the tags of 'Ann' are over other words"
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_allennlp_it_says_what_to_install(tmp_path, capsys):
    (tmp_path / "r.txt").write_text("It rained .\n")
    with pytest.raises(SystemExit) as error:
        script.main([str(tmp_path / "r.txt"), "-o", str(tmp_path / "o.jsonl")])
    assert error.value.code == 2
    assert "allennlp_requirements.txt" in capsys.readouterr().err
