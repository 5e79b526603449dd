"""Trains the embedded lexical judge: document frequencies, then weights, into one JSON file.

Weights: REALSumm's presence labels (CC BY 4.0). Document frequencies: the sentences of the UD
English EWT training part (CC BY-SA 4.0) and the distinct premises of the nli_wiki training parts
(Wikipedia, CC BY-SA 3.0); only counts of stems are kept.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from litepyramid.io.files import read_jsonl, read_lines
from litepyramid.io.labels import read_labels
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
from litepyramid.presence.lexical import RIDGE, Frequencies, fit_lexical, save_lexical

ROOT = Path(__file__).resolve().parents[1]


def sentences(data: Path) -> Iterator[str]:
    for line in read_lines(data / "ud_english_ewt" / "en_ewt-ud-train.conllu"):
        if line.startswith("# text = "):
            yield line.removeprefix("# text = ")
    premises: set[str] = set()
    for path in sorted((data / "nli_wiki").glob("*.train.jsonl")):
        premises.update(row["premise"] for _, row in read_jsonl(path))
    yield from sorted(premises)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("LITEPYRAMID_DATA", ROOT.parent / "shared" / "data")),
    )
    parser.add_argument("--ridge", type=float, default=RIDGE)
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "litepyramid" / "embedded" / "lexical.json"
    )
    options = parser.parse_args()

    realsumm = options.data / "realsumm"
    units = read_units(realsumm / "SCUs.txt")
    systems = read_summaries([realsumm / "summaries"], [entry.input for entry in units])
    labels = read_labels([realsumm / "labels"], units)
    by_name = {given.system: given for given in labels}
    items = [
        (text, entry.texts)
        for system in systems
        for text, entry in zip(system.texts, units, strict=True)
    ]
    present = [row for system in systems for row in by_name[system.system].labels]
    model = fit_lexical(
        items,
        present,
        frequencies=Frequencies.count(sentences(options.data)),
        ridge=options.ridge,
        about={
            "labels": "REALSumm, 100 inputs x 25 systems (CC BY 4.0)",
            "frequencies": "UD English EWT train sentences (CC BY-SA 4.0) and nli_wiki train "
            "premises (Wikipedia, CC BY-SA 3.0)",
        },
    )
    save_lexical(model, options.output)
    print(f"{options.output}: {model.about['pairs']} pairs, revision {model.revision}")


if __name__ == "__main__":
    main()
