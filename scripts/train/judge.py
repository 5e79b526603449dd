"""Train a judge like `mini` from a pretrained encoder and open data.

    python scripts/train/judge.py DATA ENCODER OUT --wordnet FOLDER

DATA is the folder of published data: ``presence/*.jsonl.gz`` (pairs with "present" and,
in "kind", perhaps an NLI class), ``nli_wiki/*.jsonl`` and ``realsumm/``. ENCODER is a
folder of all-MiniLM-L6-v2. Pairs by rule are made from these sentences (`judge_pairs`),
those with one word for another only with WordNet (`judge_words`; ``data.noun`` and the
like). Then come two stages of `litepyramid.finetune`, with the figures of every set
that is kept aside after each pass: one pass over short pairs (about 165,000; 240,000
with WordNet), then 6,000 pairs of which half are REALSumm's, without its fifth fold. At
20 to 35 pairs a second on one core that takes two or three hours; a run that was
stopped goes on when it is called again. OUT/mini is what may ship.

The weights that ship are a mean of several checkpoints of 417,000 pairs
(models/README.md): their first stage came to the weights of sets below in five steps,
without WordNet, and its contrasts and parts were also made from models/highlights (MIT;
written with a language model), left out here.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from judge_pairs import Pair, made_pairs, read_texts
from judge_words import word_pairs

import litepyramid as lp
from litepyramid import embedded
from litepyramid.io.dataset import load
from litepyramid.judges.mini import FOLDER
from litepyramid.training.pairs import labelled_pairs

CLASSES = ("entailment", "neutral", "contradiction")
BASE = {
    "ambient": 1.0, "rose_acu_contrast": 0.5, "bump": 0.7, "wice_partial": 1.0, "nli_wiki": 1.2,
    "mnli_dev": 1.3, "snli_dev_test": 0.7, "cad_nli": 1.0, "breaking_nli": 0.6,
    "negation_nli": 1.5, "syntax_aug": 1.0, "hans_gen": 0.5, "megaveridicality": 0.25,
    "conjnli": 0.5, "wikisplit": 0.12, "fever_nli": 0.25, "rose_acu": 0.15, "begin": 0.25,
    "templates": 0.5, "contrasts": 0.2, "parts": 0.4, "words": 0.8,
}  # fmt: skip
"""How often each set goes into one pass; a pair in two sets counts in the first."""
FINAL = BASE | {
    "realsumm": 8.0, "ambient": 2.0, "nli_wiki": 0.9, "mnli_dev": 1.0, "negation_nli": 1.0,
    "fever_nli": 0.5, "rose_acu": 0.3, "templates": 0.2, "contrasts": 0.12, "parts": 0.6,
}  # fmt: skip
COMMON = {
    "head": "three-class", "match": True, "freeze": 2, "weight_decay": 0.01, "batch_size": 24,
    "batches": "length", "held_out": 0, "device": "cpu",
}  # fmt: skip
STAGES: dict[str, tuple[dict[str, float], int | None, dict[str, Any]]] = {
    "base": (BASE, None, {"learning_rate": 2.5e-4, "max_length": 180, "average": 0.998,
                          "warmup": 0.035, "schedule": "constant", "seed": 1}),
    "final": (FINAL, 6000, {"learning_rate": 1.5e-4, "max_length": 210, "average": 0.99,
                            "warmup": 0.05, "seed": 2}),
}  # fmt: skip
"""By name: weights of sets, pairs (None: one pass), settings of
`litepyramid.finetune`."""
LONGEST = 300  # characters of a hypothesis; a few are longer than most premises


def rows(*paths: Path) -> Iterator[Pair]:
    """The pairs of files, with the NLI class as label where it is known."""
    for path in paths:
        with (gzip.open if path.suffix == ".gz" else open)(
            path, "rt", encoding="utf-8"
        ) as lines:
            for row in map(json.loads, lines):
                names = (
                    ("summary", "unit")
                    if "summary" in row
                    else ("premise", "hypothesis")
                )
                texts = {"premise": row[names[0]], "hypothesis": row[names[1]]}
                if len(texts["hypothesis"]) > LONGEST:
                    continue
                kinds = row.get("kind", "").split(":")
                known = [
                    name
                    for name in CLASSES
                    if name in kinds and "not_" not in row["kind"]
                ]
                if row.get("label") in ("e", "n", "c") or known:
                    yield {**texts, "label": known[0] if known else row["label"]}
                elif (
                    "present" in row or "summary" in row
                ):  # the contrast set has labels 0 and 1
                    yield {**texts, "present": row.get("present", row.get("label"))}


def key(row: Pair) -> tuple[str, str]:
    """What makes two pairs the same for an uncased model."""
    first, second = (
        " ".join(row[k].lower().split()) for k in ("premise", "hypothesis")
    )
    return first.rstrip(" ."), second.rstrip(" .")


def presence(row: Pair) -> float:
    return float(row["label"][0] == "e" if "label" in row else row["present"])


def realsumm(folder: Path) -> tuple[list[Pair], list[Pair]]:
    """The labelled pairs of REALSumm's folds 1 to 4, and of its fifth."""
    data = load(folder)
    fifth = set(data.example_folds[4])
    parts = []
    for inputs in ([x for x in data.inputs if x not in fifth], [*fifth]):
        pairs = labelled_pairs(data, inputs)
        texts = ({"premise": p, "hypothesis": h} for p, h in pairs.pairs)
        parts.append(
            [{**t, "present": x} for t, x in zip(texts, pairs.labels, strict=True)]
        )
    return parts[0], parts[1]


def prepare(
    data: Path, out: Path, share: float = 1.0, wordnet: Path | None = None
) -> tuple[dict[str, int], list[Path]]:
    """Every set as one file, each pair once, none of a development set; their sizes."""
    out.mkdir(parents=True, exist_ok=True)
    tests: dict[str, Iterable[Pair]] = {
        "nli_wiki": rows(*sorted((data / "nli_wiki").glob("*.test.jsonl"))),
        "contrast": rows(Path(embedded.__file__).parent / "contrast.jsonl"),
    }
    for path in sorted((data / "presence").glob("*.dev.jsonl.gz")):
        tests[path.name.split(".")[0]] = rows(path)
    sets = {
        name: [
            *rows(
                *data.glob(f"presence/{name}.jsonl.gz"),
                *data.glob(f"{name}/*.train.jsonl"),
            )
        ]
        for name in BASE
    }
    texts = read_texts(sets)[:: max(1, round(1 / share))]
    sets |= made_pairs(texts, share)
    if wordnet is not None:
        sets["words"] = [*word_pairs(texts, wordnet)]
    if (data / "realsumm").exists():
        sets["realsumm"], tests["realsumm5"] = realsumm(data / "realsumm")
    seen: dict[tuple[str, str], float] = {}
    conflicts: set[tuple[str, str]] = set()
    developed = []
    for name, test in tests.items():
        several = [*test]
        developed.append(write(out / f"{name}.dev.jsonl", several))
        conflicts |= {key(row) for row in several}
    for name, several in sets.items():
        sets[name] = []
        for row in several:
            if key(row) not in seen:
                sets[name].append(row)
            if seen.setdefault(key(row), presence(row)) != presence(row):
                conflicts.add(key(row))
    for name, several in sets.items():
        sets[name] = [row for row in several if key(row) not in conflicts]
        write(out / f"{name}.jsonl", sets[name])
    return {name: len(several) for name, several in sets.items() if several}, developed


def write(path: Path, several: list[Pair]) -> Path:
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in several), encoding="utf-8"
    )
    return path


def ship(tuned: Path, goal: Path) -> None:
    """What the package holds of a tuned encoder."""
    goal.mkdir(exist_ok=True)
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        shutil.copyfile(tuned / name, goal / name)
    for name in (
        "litepyramid.json",
        "stack.json",
    ):  # how it is read and joined with words
        shutil.copyfile(FOLDER / name, goal / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("data", "encoder", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the pairs, for a trial"
    )
    parser.add_argument(
        "--wordnet", type=Path, help="folder with data.noun and the like"
    )
    options = parser.parse_args()
    out, base = options.out, options.out / "encoder"
    sizes, developed = prepare(
        options.data, out / "pairs", options.share, options.wordnet
    )
    shutil.copytree(options.encoder, base, dirs_exist_ok=True)
    config = json.loads((base / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (base / "config.json").write_text(json.dumps(config))
    for name, (sets, count, settings) in STAGES.items():
        start, goal = time.monotonic(), out / name
        weights = {s: weight for s, weight in sets.items() if s in sizes}
        total = sum(weight * sizes[s] for s, weight in weights.items())
        part = options.share * (count or total) / total
        pairs = [
            (out / "pairs" / f"{s}.jsonl", weight * part)
            for s, weight in weights.items()
        ]
        if not goal.exists():
            chosen = {**COMMON, **settings, "epochs": 1}
            result = lp.finetune(
                str(base), output=goal, pairs=pairs, evaluate=developed, settings=chosen
            )
            print(result.to_table())
            print(f"{name}: {(time.monotonic() - start) / 3600:.1f} hours")
        base = goal
    ship(base, out / "mini")


if __name__ == "__main__":
    main()
