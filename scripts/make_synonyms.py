"""Makes the reading judge's table of synonyms from WordNet 3.0's files (Debian: wordnet-base).

A group is the stems of the words that have a synset among their first two senses.
"""

from __future__ import annotations

import argparse
import gzip
import re
from pathlib import Path

import Stemmer

ROOT = Path(__file__).resolve().parents[1]
SENSES = 2


def groups(folder: Path) -> list[str]:
    """The groups, stems by spaces, in order."""
    stem = Stemmer.Stemmer("english").stemWord
    found: dict[tuple[str, str], set[str]] = {}
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"index.{part}").read_text(encoding="latin-1").splitlines():
            fields = line.split()
            if line.startswith(" ") or not re.fullmatch(r"[a-z][a-z\-']*", fields[0]):
                continue
            for synset in fields[-int(fields[2]) :][:SENSES]:
                found.setdefault((part, synset), set()).add(stem(fields[0]))
    return sorted({" ".join(sorted(stems)) for stems in found.values() if len(stems) > 1})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="WordNet's dict folder: index.noun …")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=ROOT / "litepyramid" / "judges" / "reading" / "synonyms.txt.gz",
    )
    options = parser.parse_args()
    text = "\n".join(groups(options.folder)) + "\n"
    options.output.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{options.output}: {text.count(chr(10))} groups, {options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
