"""Trains the embedded lexical judge on REALSumm (CC BY 4.0) and writes it as one JSON file.

Weights from the presence labels of its 25 systems; document frequencies, as counts of stems alone,
from its 100 news documents.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from litepyramid.files import read_lines
from litepyramid.io.labels import read_labels
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
from litepyramid.judges.lexical.judge import fit_lexical, save_lexical
from litepyramid.judges.lexical.model import RIDGE, Frequencies

ROOT = Path(__file__).resolve().parents[1]


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
        frequencies=Frequencies.count(read_lines(realsumm / "documents.txt")),
        ridge=options.ridge,
        about={
            "labels": "REALSumm, 100 inputs x 25 systems (CC BY 4.0)",
            "frequencies": "REALSumm, 100 documents (CC BY 4.0)",
        },
    )
    save_lexical(model, options.output)
    print(f"{options.output}: {model.about['pairs']} pairs, revision {model.revision}")


if __name__ == "__main__":
    main()
