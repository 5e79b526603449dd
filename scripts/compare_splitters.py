"""Compares sentence splitters that need no download, where the sentence ends are known.

    python scripts/compare_splitters.py [--data ../shared/data]

REALSumm references, whose marks are the truth: as they are (spaces around punctuation) and put back
into ordinary writing; and the raw text of UD English EWT's test part, paragraph by paragraph. pysbd
takes part if it is installed, Punkt if its data is.
"""

from __future__ import annotations

import argparse
import re
import warnings
from pathlib import Path

from litepyramid.errors import LitepyramidError
from litepyramid.io.references import read_references
from litepyramid.tables import Column, Table, render
from litepyramid.units.sentences import make_splitter


def splitters():
    yield "spaCy rules", make_splitter("rules")
    try:
        warnings.simplefilter("ignore", SyntaxWarning)
        import pysbd

        yield "pysbd", pysbd.Segmenter(language="en", clean=False).segment
    except ImportError:
        print("pysbd is not installed: left out")
    try:
        yield "Punkt", make_splitter("punkt")
    except LitepyramidError as error:
        print(f"Punkt left out: {error}")


def ordinary(text: str) -> str:
    """Tokenised text with most of its spaces before punctuation taken out."""
    text = re.sub(r" ([.,;:!?%)\]])", r"\1", text)
    text = re.sub(r"([(\[£$]) ", r"\1", text)
    text = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text)
    return re.sub(r" - ", "-", text)


def paragraphs(path: Path) -> list[list[str]]:
    found: list[list[str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(("# newpar", "# newdoc")):
            found.append([])
        elif line.startswith("# text ="):
            found[-1].append(line.removeprefix("# text =").strip())
    return [sentences for sentences in found if sentences]


def ends(sentences) -> set[int]:
    """Sentence ends as counts of characters that are no space; the last one says nothing."""
    places, count = [], 0
    for sentence in sentences:
        count += len("".join(sentence.split()))
        places.append(count)
    return set(places[:-1])


class Report:
    """One table, as `render` wants it."""

    def __init__(self, rows):
        self.rows = rows

    def to_tables(self):
        columns = [Column("text"), Column("splitter")]
        columns += [Column(name) for name in ("precision", "recall", "f1")]
        columns.append(Column("exact", "all right"))
        return [Table("Sentence ends found", tuple(columns), tuple(self.rows))]

    def to_json(self):
        return {"rows": self.rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments = parser.parse_args()
    marked = [
        [" ".join(sentence.split()) for sentence in entry.references[0]]
        for entry in read_references(arguments.data / "realsumm" / "references.txt")
    ]
    texts = {
        "REALSumm": marked,
        "REALSumm, ordinary": [[ordinary(s) for s in sentences] for sentences in marked],
        "UD EWT test": paragraphs(arguments.data / "ud_english_ewt" / "en_ewt-ud-test.conllu"),
    }
    rows = []
    for name, truth in texts.items():
        for splitter, split in splitters():
            right = found = there = exact = 0
            for sentences in truth:
                gold, guess = ends(sentences), ends(split(" ".join(sentences)))
                right, found, there = (
                    right + len(gold & guess),
                    found + len(guess),
                    there + len(gold),
                )
                exact += gold == guess
            precision, recall = right / found, right / there
            f1 = 2 * precision * recall / (precision + recall)
            rows.append((name, splitter, precision, recall, f1, f"{exact}/{len(truth)}"))
    print(render(Report(rows), "table"), end="")


if __name__ == "__main__":
    main()
