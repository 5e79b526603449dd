"""Train the judge `mini`, as it ships, from a pretrained encoder and open data.

    python scripts/train/judge.py DATA ENCODER OUT

DATA holds ``presence/*.jsonl.gz`` (pairs with "present" and, in "kind", perhaps an NLI class),
``nli_wiki/*.jsonl``, ``realsumm/`` and, if they were made, pairs by rule in ``made/*.jsonl.gz``.
ENCODER is a folder of all-MiniLM-L6-v2. Two stages of `litepyramid.finetune`, a night in all, with
figures after every epoch; a stopped run goes on. OUT/final holds what ships.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import litepyramid as lp
from litepyramid import embedded
from litepyramid.io.dataset import load_dataset

CLASSES = ("entailment", "neutral", "contradiction")
SETS = {
    "ambient": 2.0, "rose_acu_contrast": 0.5, "bump": 0.7, "wice_partial": 1.0, "nli_wiki": 0.9,
    "mnli_dev": 1.0, "snli_dev_test": 0.7, "cad_nli": 1.0, "breaking_nli": 0.6,
    "negation_nli": 1.0, "syntax_aug": 1.0, "hans_gen": 0.5, "megaveridicality": 0.25,
    "conjnli": 0.5, "wikisplit": 0.12, "fever_nli": 0.3, "rose_acu": 0.15, "begin": 0.25,
    "templates": 0.25, "contrasts": 0.15, "parts": 0.4,
}  # fmt: skip
"""How often each set goes into one pass; a pair in two sets counts in the first."""

COMMON = {
    "head": "three-class", "match": True, "freeze": 2, "weight_decay": 0.01, "batch_size": 24,
    "batches": "length", "held_out": 0, "seed": 1, "device": "cpu",
}  # fmt: skip
STAGES: dict[str, dict[str, Any]] = {
    "base": {
        "sets": SETS,
        "pairs": 500_000,
        "settings": {"learning_rate": 2.5e-4, "max_length": 230, "average": 0.998, "warmup": 0.02},
    },
    "final": {
        "sets": SETS | {"fever_nli": 0.5, "rose_acu": 0.3, "parts": 0.6},
        "realsumm": 8.0,
        "pairs": 6_000,
        "settings": {"learning_rate": 1.5e-4, "max_length": 260, "average": 0.99, "warmup": 0.05},
    },
}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The pairs of a file, with the NLI class as label where it is known."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if "summary" in row:  # the contrast set
                row = {
                    "premise": row["summary"],
                    "hypothesis": row["unit"],
                    "present": row["label"],
                }
            texts = {key: row[key] for key in ("premise", "hypothesis")}
            kinds = row.get("kind", "").split(":")
            known = [name for name in CLASSES if name in kinds and "not_" not in row["kind"]]
            if row.get("label") in ("e", "n", "c"):
                yield {**texts, "label": row["label"]}
            elif known:
                yield {**texts, "label": known[0]}
            elif "present" in row:
                yield {**texts, "present": row["present"]}


def key(row: dict[str, Any]) -> tuple[str, str]:
    """What makes two pairs the same for an uncased model."""
    first, second = (" ".join(row[k].lower().split()) for k in ("premise", "hypothesis"))
    return first.rstrip(" ."), second.rstrip(" .")


def presence(row: dict[str, Any]) -> float:
    return float(row["label"][0] == "e" if "label" in row else row["present"])


def prepare(data: Path, out: Path) -> tuple[dict[str, int], list[Path]]:
    """Every set as one file, each pair once, none of a development set; their sizes."""
    out.mkdir(parents=True, exist_ok=True)
    tests = {
        "nli_wiki": sorted((data / "nli_wiki").glob("*.test.jsonl")),
        "contrast": [Path(embedded.__file__).parent / "contrast.jsonl"],
        **{p.name.split(".")[0]: [p] for p in sorted((data / "presence").glob("*.dev.jsonl.gz"))},
    }
    seen: dict[tuple[str, str], float] = {}
    conflicts: set[tuple[str, str]] = set()
    developed = []
    for name, paths in tests.items():
        several = [row for path in paths for row in rows(path)]
        developed.append(write(out / f"{name}.dev.jsonl", several))
        conflicts |= {key(row) for row in several}
    sets: dict[str, list[dict[str, Any]]] = {name: [] for name in SETS}
    for name, first in sets.items():
        paths = sorted(data.glob(f"*/{name}.jsonl.gz")) + sorted(data.glob(f"{name}/*.train.jsonl"))
        for row in (row for path in paths for row in rows(path)):
            if key(row) not in seen:
                first.append(row)
            if seen.setdefault(key(row), presence(row)) != presence(row):
                conflicts.add(key(row))
    for name in sets:
        sets[name] = [row for row in sets[name] if key(row) not in conflicts]
        write(out / f"{name}.jsonl", sets[name])
    return {name: len(several) for name, several in sets.items() if several}, developed


def write(path: Path, several: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in several), encoding="utf-8")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("data", "encoder", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the pairs, for a trial")
    options = parser.parse_args()
    out, base = options.out, options.out / "encoder"
    sizes, developed = prepare(options.data, out / "pairs")
    shutil.copytree(options.encoder, base, dirs_exist_ok=True)
    config = json.loads((base / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (base / "config.json").write_text(json.dumps(config))
    for name, stage in STAGES.items():
        start, goal = time.monotonic(), out / name
        weights = {s: w for s, w in stage["sets"].items() if s in sizes}
        total = sum(weight * sizes[s] for s, weight in weights.items())
        people = []
        if (weight := stage.get("realsumm")) and (options.data / "realsumm").exists():
            people = [(load_dataset("realsumm", options.data / "realsumm"), weight)]
            total += weight * sum(len(row) for e in people[0][0].labels for row in e.labels)
        settings = {**COMMON, **stage["settings"], "epochs": options.share * stage["pairs"] / total}
        pairs = [(out / "pairs" / f"{s}.jsonl", weight) for s, weight in weights.items()]
        if not goal.exists():
            arguments = {"pairs": pairs, "evaluate": developed, "settings": settings}
            print(lp.finetune(str(base), people or None, output=goal, **arguments).to_table())
            print(f"{name}: {(time.monotonic() - start) / 3600:.1f} hours")
        base = goal


if __name__ == "__main__":
    main()
