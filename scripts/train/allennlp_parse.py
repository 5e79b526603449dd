r"""Parses references with AllenNLP itself and writes litepyramid's interchange file.

Runs in an environment of its own, Python 3.10 with allennlp_requirements.txt, since
AllenNLP installs on nothing newer; so it uses nothing of litepyramid. docs/units.md
shows the way.

    python scripts/train/allennlp_parse.py references.jsonl -o parses.jsonl
    python scripts/train/allennlp_parse.py references.jsonl -o parses.jsonl --tree none
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

PUBLISHED = "https://storage.googleapis.com/allennlp-public-models/"
SRL = PUBLISHED + "structured-prediction-srl-bert.2020.12.15.tar.gz"
COREF = PUBLISHED + "coref-spanbert-large-2021.03.10.tar.gz"
TREE = PUBLISHED + "elmo-constituency-parser-2020.02.10.tar.gz"
SPACY = "en_core_web_sm"
DEVICE = -1  # the CPU; else the number of a GPU
MARK = re.compile(r"</?t>")
ESCAPES = {
    "[": "-LSB-",
    "]": "-RSB-",
    "{": "-LCB-",
    "}": "-RCB-",
}
WINDOW = 512


class Reference(NamedTuple):
    """One reference: a text to be split, sentences as texts, or sentences as tokens."""

    input: str
    index: int
    text: str = ""
    sentences: list[str] | None = None
    tokens: list[list[str]] | None = None


class Models(NamedTuple):
    """What runs on a reference; None is left out.

    sentences: from a text to its sentences; tokenize: from a sentence to its tokens;
    srl: from tokens to (index of the verb, AllenNLP's output) pairs, and the number of
    verbs skipped; coref: from the sentences' tokens to AllenNLP's output; tree: from
    tokens to an nltk tree.
    """

    sentences: Callable[[str], list[str]]
    tokenize: Callable[[str], list[str]]
    srl: Callable[[list[str]], tuple[list[tuple[int, dict[str, Any]]], int]] | None
    coref: Callable[[list[list[str]]], dict[str, Any]] | None
    tree: Callable[[list[str]], Any] | None


def fail(what: str) -> SystemExit:
    """An error for the user: printed to stderr, status 2."""
    print(f"error: {what}", file=sys.stderr)
    return SystemExit(2)


def read_references(path: Path) -> list[Reference]:
    """References of a JSONL file, an interchange file, or a file of lines with <t>
    marks."""
    is_json = path.suffix in (".jsonl", ".ndjson", ".json")
    references: list[Reference] = []
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), start=1):
        if is_json and line.strip():
            references.extend(json_references(json.loads(line)))
        elif not is_json:
            marked = [part.strip() for part in MARK.split(line) if part.strip()]
            sentences = marked if "<t>" in line else None
            references.append(Reference(str(number), 0, line, sentences))
    return references


def json_references(row: dict[str, Any]) -> Iterator[Reference]:
    """The references of one JSON line."""
    name = str(row["input"])
    if "sentences" in row:
        tokens = [s["tokens"] for s in row["sentences"]]
        yield Reference(name, row.get("reference", 0), tokens=tokens)
        return

    for index, reference in enumerate(row["references"]):
        if isinstance(reference, str):
            yield Reference(name, index, reference)
        else:
            yield Reference(name, index, sentences=reference)


def tokens_of(reference: Reference, models: Models) -> list[list[str]]:
    """The tokens of each sentence."""
    if reference.tokens is not None:
        return reference.tokens
    sentences = reference.sentences
    if sentences is None:
        sentences = models.sentences(reference.text)
    rows = []
    for sentence in sentences:
        tokens = ["".join(token.split()) for token in models.tokenize(sentence)]
        rows.append([token for token in tokens if token])
    return [row for row in rows if row]


def frames_of(
    found: list[tuple[int, dict[str, Any]]], tokens: list[str]
) -> list[dict[str, Any]]:
    """AllenNLP's SRL outputs as frames."""
    frames = []
    for verb, output in found:
        tags = output["tags"]
        if list(output["words"]) != tokens:
            raise ValueError(f"the tags of '{tokens[verb]}' are over other words")
        frames.append(
            {"verb": verb, "tags": ["O" if t.startswith("@@") else t for t in tags]}
        )
    return frames


def clusters_of(output: dict[str, Any], total: int) -> list[list[list[int]]]:
    """AllenNLP's clusters, whose ends are inclusive, as half-open spans in document
    order."""
    words = len(output["document"])
    if words != total:
        raise ValueError(f"coreference over {words} words, the sentences have {total}")
    return [sorted([a, b + 1] for a, b in cluster) for cluster in output["clusters"]]


def bracketed(tree: Any, tokens: list[str]) -> str:
    """An nltk tree on one line, its leaves replaced by our tokens with brackets
    escaped."""
    for place, token in zip(tree.treepositions("leaves"), tokens, strict=True):
        plain = token.replace("(", "-LRB-").replace(")", "-RRB-")
        tree[place] = ESCAPES.get(token, plain)
    return tree.pformat(margin=sys.maxsize)


def parse(reference: Reference, models: Models) -> tuple[dict[str, Any], int]:
    """One line of the interchange file, and how many verbs were left out."""
    rows = tokens_of(reference, models)
    if not rows:
        raise ValueError("no words in it")
    skipped = 0
    sentences = []

    for tokens in rows:
        sentence: dict[str, Any] = {"tokens": tokens}
        if models.srl is not None:
            found, left_out = models.srl(tokens)
            sentence["frames"] = frames_of(found, tokens)
            skipped += left_out
        if models.tree is not None:
            sentence["tree"] = bracketed(models.tree(tokens), tokens)
        sentences.append(sentence)

    line: dict[str, Any] = {"input": reference.input, "reference": reference.index}
    line["sentences"] = sentences
    if models.coref is not None:
        line["clusters"] = clusters_of(models.coref(rows), sum(map(len, rows)))
    return line, skipped


def load(arguments: argparse.Namespace) -> Models:
    """Loads AllenNLP's predictors; only here is AllenNLP imported."""
    try:
        import allennlp_models.coref
        import allennlp_models.structured_prediction  # noqa: F401
        from allennlp.common.util import get_spacy_model
        from allennlp.data.tokenizers.spacy_tokenizer import SpacyTokenizer
        from allennlp.predictors import Predictor
        from spacy.tokens import Doc
    except ImportError as error:
        raise fail(
            f"{error}. Run this with Python 3.10 and allennlp_requirements.txt installed."
        ) from None

    def predictor(path: str, name: str) -> Any:
        return Predictor.from_path(path, name, cuda_device=DEVICE, language=SPACY)

    nlp = get_spacy_model(SPACY, pos_tags=True, parse=True, ner=False)
    tokenizer = SpacyTokenizer(language=SPACY, pos_tags=True)

    def tagged(tokens: list[str]) -> Any:
        doc = Doc(nlp.vocab, words=tokens)
        for _, pipe in nlp.pipeline:
            doc = pipe(doc)
        return doc

    srl = coref = tree = None
    if arguments.srl != "none":
        srl_model = predictor(arguments.srl, "semantic_role_labeling")

        def srl(tokens: list[str]) -> tuple[list[tuple[int, dict[str, Any]]], int]:
            instances = srl_model.tokens_to_instances(list(tagged(tokens)))
            fit = [i for i in instances if i["tokens"].sequence_length() <= WINDOW]
            outputs = srl_model._model.forward_on_instances(fit) if fit else []
            verbs = [instance["metadata"].metadata["verb_index"] for instance in fit]
            return list(zip(verbs, outputs, strict=False)), len(instances) - len(fit)

    if arguments.coref != "none":
        coref_model = predictor(arguments.coref, "coreference_resolution")

        def coref(rows: list[list[str]]) -> dict[str, Any]:
            return coref_model.predict_instance(
                coref_model._dataset_reader.text_to_instance(rows)
            )

    if arguments.tree != "none":
        tree_model = predictor(arguments.tree, "constituency_parser")

        def tree(tokens: list[str]) -> Any:
            tags = [token.tag_ for token in tagged(tokens)]
            instance = tree_model._dataset_reader.text_to_instance(tokens, tags)
            return tree_model._model.forward_on_instance(instance)["trees"]

    return Models(
        sentences=lambda text: [sentence.text for sentence in nlp(text).sents],
        tokenize=lambda text: [token.text for token in tokenizer.tokenize(text)],
        srl=srl,
        coref=coref,
        tree=tree,
    )


def run(references: list[Reference], models: Models, output: Path) -> tuple[int, int]:
    """Parses all references and writes the file, all or nothing.

    Returns:
        The numbers of references written and of verbs left out.
    """
    lines = []
    left_out = 0
    for reference in references:
        try:
            line, skipped = parse(reference, models)
        except ValueError as error:
            where = f"reference {reference.index + 1} of input '{reference.input}'"
            raise fail(f"{where}: {error}") from None
        left_out += skipped
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")

    output.write_text("".join(lines), "utf-8")
    return len(lines), left_out


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    what = (
        "references (.jsonl), an interchange file (.jsonl; its tokens are kept), or "
        "lines of text with <t> marks"
    )
    parser.add_argument("references", type=Path, help=what)
    parser.add_argument("-o", "--output", type=Path, required=True)
    for model, archive in (("srl", SRL), ("coref", COREF), ("tree", TREE)):
        parser.add_argument(f"--{model}", default=archive, help="an archive, or none")
    arguments = parser.parse_args(argv)
    references = read_references(arguments.references)
    written, left_out = run(references, load(arguments), arguments.output)
    print(f"{written} references written to {arguments.output}", file=sys.stderr)
    if left_out:
        what = f"{left_out} verbs of sentences over {WINDOW} word pieces have no frame"
        print(what, file=sys.stderr)


if __name__ == "__main__":
    main()
