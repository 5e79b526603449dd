"""Train a judge like `mini` from an encoder and open data, as `mini` is trained.

    python scripts/train/judge.py DATA OUT --teacher JUDGE

DATA is the folder of published data: ``presence/*.jsonl.gz`` (pairs with "present" and,
in "kind", perhaps an NLI class), ``nli_wiki/*.jsonl`` and ``realsumm/``. Packs, a
premise and the units that people labelled, are made of them, of the highlights and of
the texts in models/written (`judge_packs`). REALSumm's labels are among them, without
its fifth fold. A teacher, any judge with three classes, softens the labels of open
sets. The figures of every set that is kept aside stand in OUT/run/curve.jsonl; OUT/mini
is what may ship. The judge that ships learnt with itself as teacher, and from units
made by rule too, which are left out: see models/README.md.

Training goes on from the judge that ships, or from ``--encoder FOLDER``, a BERT such as
all-MiniLM-L6-v2 with a new head. A run that was stopped goes on where it stood.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from judge_packs import (
    Pair,
    highlight_packs,
    labelled_packs,
    lengthened,
    sampled,
    written_packs,
)
from judge_train import Plan, Run, encoded
from word_pieces import piece_weights

from litepyramid import embedded
from litepyramid.data.data import load
from litepyramid.judges.labelled import LabelledPair
from litepyramid.judges.mini import FOLDER
from litepyramid.judges.registry import judge
from litepyramid.training.onnx_models import (
    load_onnx_classifier,
    widen_types,
)
from litepyramid.training.packed_onnx import export_packed
from litepyramid.training.packs import Pack, as_packs
from litepyramid.training.pairs import labelled_pairs

CLASSES = ("entailment", "neutral", "contradiction")
MODELS = Path(__file__).resolve().parents[2] / "models"
HIGHLIGHTS = MODELS / "highlights"
WRITTEN_TEXTS = MODELS / "written"

SETS = {
    "mnli_dev": 6700, "snli_dev_test": 6700, "cad_nli": 6800, "nli_wiki": 7300,
    "fever_nli": 6900, "conjnli": 12_100, "wikifactcheck_edits": 9000,
    "semeval13_answers": 7000, "argkp": 4500, "entailmentbank": 5000,
    "defacto_xsum": 1500, "defacto_edit": 1800, "fm2": 2300, "folio": 420,
    "bump": 640, "wice_partial": 350, "ambient": 1100, "negation_nli": 1359,
    "syntax_aug": 3000, "hans_gen": 2500, "megaveridicality": 1500,
    "breaking_nli": 1500, "wikisplit": 5000, "rose_acu": 1850, "begin": 900,
}  # fmt: skip
"""By set: at most so many premises."""

OFTEN = {"nli_wiki": 4.0, "conjnli": 2.0, "fever_nli": 2.0, "rose_acu": 2.0,
    "wikifactcheck_edits": 1.5}  # fmt: skip
"""Sets whose packs are drawn so much more often than others."""

WITH = {"rose_acu": ("rose_acu_contrast",)}
"""Sets whose premises are those of another set."""

HIGHLIGHTED = 3600
LONG = 0.12
"""Packs of the highlights, and the share of premises among others."""

MOST_CHARACTERS = 2_600
"""Of a premise."""

MOST_HYPOTHESIS = 300
"""Characters of a hypothesis; a few are longer than most premises."""

DENSE = 12.0
"""Words a unit from which on packs are drawn less often: they cost more."""

OPEN_PACKS = 460
WRITTEN_PACKS = 68
REALSUMM_PACKS = 36
"""Packs of a block. So half of the units are of the open sets, three of eight are written
and an eighth REALSumm's."""


def rows(*paths: Path) -> Iterator[Pair]:
    """The pairs of files, with the NLI class as label where it is known."""
    for path in paths:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = read_row(json.loads(line))
                if row is not None:
                    yield row


def read_row(row: dict[str, Any]) -> Pair | None:
    """One row of a file; None if it is too long or has no label."""
    contrast = "summary" in row  # the contrast set, which has labels 0 and 1
    names = ("summary", "unit") if contrast else ("premise", "hypothesis")
    texts = {"premise": row[names[0]], "hypothesis": row[names[1]]}
    if len(texts["hypothesis"]) > MOST_HYPOTHESIS:
        return None

    kinds = row.get("kind", "").split(":")
    for name in CLASSES:
        if name in kinds and "not_" not in row["kind"]:
            return {**texts, "label": name}

    if row.get("label") in ("e", "n", "c"):
        return {**texts, "label": row["label"]}
    if "present" in row or contrast:
        return {**texts, "present": row.get("present", row.get("label"))}
    return None


def key(row: Pair) -> tuple[str, str]:
    """What makes two pairs the same for an uncased model."""
    first = " ".join(row["premise"].lower().split())
    second = " ".join(row["hypothesis"].lower().split())
    return first.rstrip(" ."), second.rstrip(" .")


def realsumm(folder: Path, away: int = 5) -> tuple[list[Pack], list[Pack]]:
    """REALSumm's packs without a fold, and those of that fold."""
    data = load(folder)
    fold = set(data.example_folds[away - 1])
    others = [name for name in data.inputs if name not in fold]
    return (
        as_packs(labelled_pairs(data, others)),
        as_packs(labelled_pairs(data, [*fold])),
    )


def as_training(several: Iterable[Pair]) -> list[LabelledPair]:
    """Rows as pairs with labels from 0 to 1."""
    pairs = []
    for row in several:
        known = row.get("present", row.get("label", "0"))
        label = float(known == "e" or known == "entailment" or known in (1, 1.0))
        pairs.append(LabelledPair(row["premise"], row["hypothesis"], label))
    return pairs


def sets_kept_aside(data: Path) -> dict[str, list[Pair]]:
    """Development sets and the contrast set that ships, by name."""
    aside = {
        "contrast": [*rows(Path(embedded.__file__).parent / "contrast.jsonl")],
        "nli_wiki": [*rows(*sorted((data / "nli_wiki").glob("*.test.jsonl")))],
    }
    for path in sorted((data / "presence").glob("*.dev.jsonl.gz")):
        aside[path.name.split(".")[0]] = [*rows(path)]
    return aside


def make_packs(
    data: Path, share: float = 1.0, seed: int = 7
) -> tuple[list[Pack], list[float]]:
    """Packs of the open sets, and how often each is drawn; none that is kept aside."""
    draw = random.Random(seed)
    seen = {key(row) for several in sets_kept_aside(data).values() for row in several}

    by_set: dict[str, list[Pack]] = {"highlights": []}
    for name, premises in SETS.items():
        paths = [*data.glob(f"{name}/*.train.jsonl")]
        for one in (name, *WITH.get(name, ())):
            paths += data.glob(f"presence/{one}.jsonl.gz")

        new = []
        for row in rows(*paths):
            if key(row) not in seen:
                seen.add(key(row))
                new.append(row)

        some = sampled(labelled_packs(new), round(premises * share), draw)
        by_set[name] = [one for one in some if len(one.premise) < MOST_CHARACTERS]

    if HIGHLIGHTS.exists():
        some = highlight_packs(HIGHLIGHTS, seed)
        by_set["highlights"] = sampled(some, round(HIGHLIGHTED * share), draw)

    packs: list[Pack] = []
    often: list[float] = []
    for name, several in by_set.items():
        packs += several
        often += [OFTEN.get(name, 1.0)] * len(several)

    packs = [*lengthened(packs, LONG, seed=seed)]
    for number, pack in enumerate(packs):
        often[number] *= cheapness(pack)
    return packs, often


def cheapness(pack: Pack) -> float:
    """How often a pack is drawn for its length: 1 up to `DENSE` words a unit."""
    words = len(pack.premise.split()) + sum(len(u.split()) for u in pack.units)
    return min(1.0, (DENSE * len(pack.units) / words) ** 1.5)


class Mixture:
    """The packs that a judge learns from, drawn by kind."""

    def __init__(
        self,
        packs: Sequence[Pack],
        often: Sequence[float],
        written: Sequence[Pack],
        labelled: Sequence[Pack],
    ) -> None:
        self.packs = packs
        self.often = [*accumulate(often)]
        self.written = written
        self.labelled = labelled

    def block(self, number: int) -> list[Pack]:
        """The packs of a block, the same at every call."""
        draw = random.Random(number)
        packs = draw.choices(self.packs, cum_weights=self.often, k=OPEN_PACKS)
        packs += draw.choices(self.written, k=WRITTEN_PACKS)
        packs += draw.choices(self.labelled, k=REALSUMM_PACKS)
        return packs


def load_base(encoder: Path | None) -> Any:
    """The weights that ship, or an encoder with a new head and token types."""
    if encoder is None:
        return load_onnx_classifier(FOLDER)
    import transformers

    names = dict(enumerate(CLASSES))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        str(encoder), id2label=names, label2id={n: k for k, n in names.items()}
    )
    widen_types(model)
    return model


def ship(run: Run, goal: Path, data: Path) -> None:
    """What the package holds: the mean of the weights, how they are read and joined."""
    goal.mkdir(exist_ok=True)
    weights = piece_weights(data, FOLDER / "tokenizer.json")
    export_packed(run.finished(), goal / "model.onnx", weights)
    for name in ("tokenizer.json", "config.json", "litepyramid.json", "join.json"):
        shutil.copyfile(FOLDER / name, goal / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("data", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--encoder", type=Path, help="a BERT to begin with")
    parser.add_argument("--teacher", help="a judge of three classes; see --judge")
    parser.add_argument("--pairs", type=int, default=400_000)
    parser.add_argument("--share", type=float, default=1.0, help="for a trial")
    parser.add_argument("--fold", type=int, default=5, help="of REALSumm, kept aside")
    parser.add_argument(
        "--float32", action="store_true", help="where the CPU has no AMX"
    )
    options = parser.parse_args()
    torch.manual_seed(1)

    packs, often = make_packs(options.data, options.share)
    labelled, fold = realsumm(options.data / "realsumm", options.fold)
    kept = sorted(WRITTEN_TEXTS.glob("*-14.txt"))
    learnt = sorted({*WRITTEN_TEXTS.glob("*.txt")} - {*kept})
    mixture = Mixture(packs, often, [*written_packs(learnt)], labelled)

    look = {"realsumm": encoded(FOLDER, fold, Plan.longest)}
    look["written"] = encoded(FOLDER, [*written_packs(kept, sentences=0)], Plan.longest)
    for name, several in sets_kept_aside(options.data).items():
        some = as_packs(as_training(several[:1000]))
        look[name] = encoded(FOLDER, some, Plan.longest)

    folder = options.out / "run"
    folder.mkdir(parents=True, exist_ok=True)
    plan = Plan(pairs=options.pairs, bf16=not options.float32)
    run = Run(load_base(options.encoder), folder, plan)
    teacher = judge(options.teacher, cache=None) if options.teacher else None
    encode = partial(encoded, FOLDER, longest=Plan.longest, teacher=teacher)
    run.train(mixture.block, encode, look=look)
    ship(run, options.out / "mini", options.data)


if __name__ == "__main__":
    main()
