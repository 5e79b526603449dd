"""Train a judge like `mini` from an encoder and open data, as `mini` is trained.

    python scripts/train/judge.py DATA OUT --wordnet FOLDER --teacher JUDGE

DATA is the folder of published data: ``presence/*.jsonl.gz`` (pairs with "present" and,
in "kind", perhaps an NLI class), ``nli_wiki/*.jsonl`` and ``realsumm/``. Packs of eight
to ten units a premise are made of them (`judge_packs`), those with one word for another
only with WordNet (Debian's package wordnet-base), and of the texts in models/written.
REALSumm's labels are among them, without its fifth fold. A teacher, any judge with
three classes, softens the labels: rules most, people's least. The figures of every set
that is kept aside stand in OUT/run/curve.jsonl; OUT/mini is what may ship. The judge
that ships learnt with itself as teacher: so it keeps what rules cannot teach it better.

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
    DERIVED,
    MixedPack,
    PackMaker,
    Pair,
    highlight_facts,
    lengthened,
    read_facts,
    sampled,
    template_packs,
    written_packs,
)
from judge_train import Plan, Run, encoded, origins_of
from judge_words import WordNet

from litepyramid import embedded
from litepyramid.io.loading import load
from litepyramid.judges.mini import FOLDER
from litepyramid.judges.registry import judge
from litepyramid.training.onnx_models import (
    export_onnx,
    load_onnx_classifier,
    widen_types,
)
from litepyramid.training.packs import Pack, as_packs
from litepyramid.training.pairs import TrainingPairs, labelled_pairs

CLASSES = ("entailment", "neutral", "contradiction")
MODELS = Path(__file__).resolve().parents[2] / "models"
HIGHLIGHTS = MODELS / "highlights"
WRITTEN_TEXTS = MODELS / "written"

SETS: dict[str, tuple[int, float]] = {
    "mnli_dev": (6700, 0.35), "snli_dev_test": (6700, 0.2), "cad_nli": (6800, 0.1),
    "nli_wiki": (7300, 0.5), "fever_nli": (6900, 0.5), "conjnli": (12100, 0.3),
    "wikifactcheck_edits": (9000, 0.4), "semeval13_answers": (7000, 0.1),
    "argkp": (4500, 0.0), "entailmentbank": (5000, 0.2), "defacto_xsum": (1500, 0.0),
    "defacto_edit": (1800, 0.4), "fm2": (2300, 0.3), "folio": (420, 0.0),
    "bump": (640, 0.6), "wice_partial": (350, 0.6), "ambient": (1100, 0.2),
    "negation_nli": (1359, 0.0), "syntax_aug": (3000, 0.1), "hans_gen": (2500, 0.0),
    "megaveridicality": (1500, 0.0), "breaking_nli": (1500, 0.2), "wikisplit": (5000, 0.5),
    "rose_acu": (1850, 1.0), "begin": (900, 0.3),
}  # fmt: skip
"""By set: at most so many premises, and how many of them get an altered one beside."""

OFTEN = {"nli_wiki": 4.0, "conjnli": 2.0, "fever_nli": 2.0, "rose_acu": 2.0,
    "wikifactcheck_edits": 1.5}  # fmt: skip
"""Sets whose packs are drawn so much more often than others."""

WITH = {"rose_acu": ("rose_acu_contrast",)}
"""Sets whose premises are those of another set."""

HIGHLIGHTED = 3600
TEMPLATES = 4500
LONG = 0.12
"""References of the highlights, scenes from templates, the share of long premises."""

MOST_CHARACTERS = 2_600
"""Of a premise."""

MOST_HYPOTHESIS = 300
"""Characters of a hypothesis; a few are longer than most premises."""

DENSE = 12.0
"""Words a unit from which on packs are drawn less often: they cost more."""

DERIVED_SHARE = 0.45
"""Of the units made by rule, so many are asked each time."""

OPEN_PACKS = 380
WRITTEN_PACKS = 70
REALSUMM_PACKS = 55
"""Packs of a block. So a fourth of the units are written and a sixth REALSumm's."""


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


def as_training(several: Iterable[Pair]) -> TrainingPairs:
    """Rows as pairs with labels from 0 to 1."""
    pairs = []
    labels = []
    for row in several:
        pairs.append((row["premise"], row["hypothesis"]))
        known = row.get("present", row.get("label", "0"))
        labels.append(float(known == "e" or known == "entailment" or known in (1, 1.0)))
    return TrainingPairs(tuple(pairs), tuple(labels))


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
    data: Path, wordnet: Path | None = None, share: float = 1.0, seed: int = 7
) -> tuple[list[Pack], list[float]]:
    """Packs of the open sets, and how often each is drawn; every labelled pair once,
    none that is kept aside."""
    draw = random.Random(seed)
    maker = PackMaker(WordNet(wordnet) if wordnet else None, seed)
    seen = {key(row) for several in sets_kept_aside(data).values() for row in several}

    by_set: dict[str, list[Pack]] = {}
    for name, (premises, altered) in SETS.items():
        paths = [*data.glob(f"{name}/*.train.jsonl")]
        for one in (name, *WITH.get(name, ())):
            paths += data.glob(f"presence/{one}.jsonl.gz")

        new = []
        for row in rows(*paths):
            if key(row) not in seen:
                seen.add(key(row))
                new.append(row)

        facts = sampled(read_facts(new), round(premises * share), draw)
        facts = [one for one in facts if len(one.premise) < MOST_CHARACTERS]
        by_set[name] = [*maker.packs(facts, altered)]

    if HIGHLIGHTS.exists():
        facts = sampled(
            highlight_facts(HIGHLIGHTS, seed), round(HIGHLIGHTED * share), draw
        )
        by_set["highlights"] = [*maker.packs(facts, 0.7)]
    by_set["templates"] = [*template_packs(round(TEMPLATES * share), seed)]

    packs: list[Pack] = []
    often: list[float] = []
    for name, made in by_set.items():
        asked = [pack for pack in made if pack.units]
        packs += asked
        often += [OFTEN.get(name, 1.0)] * len(asked)

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
        chosen = draw.choices(self.packs, cum_weights=self.often, k=OPEN_PACKS)

        packs: list[Pack] = []
        for pack in chosen:
            packs.append(with_fewer_derived(pack, draw))
        packs += draw.choices(self.written, k=WRITTEN_PACKS)
        packs += draw.choices(self.labelled, k=REALSUMM_PACKS)
        return packs


def with_fewer_derived(pack: Pack, draw: random.Random) -> MixedPack:
    """A pack with a share of its units made by rule; its first unit if none is left."""
    numbers = []
    origins = origins_of(pack)
    for number, origin in enumerate(origins):
        if origin != DERIVED or draw.random() < DERIVED_SHARE:
            numbers.append(number)
    numbers = numbers or [0]

    return MixedPack(
        pack.premise,
        units=tuple([pack.units[number] for number in numbers]),
        labels=tuple([pack.labels[number] for number in numbers]),
        origins=tuple([origins[number] for number in numbers]),
    )


def load_base(encoder: Path | None) -> Any:
    """The weights that ship, or an encoder with a new head and token types."""
    if encoder is None:
        return load_onnx_classifier(FOLDER)
    import transformers

    names = dict(enumerate(CLASSES))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        str(encoder), id2label=names, label2id={n: k for k, n in names.items()}
    )
    widen_types(model, "once")
    return model


def ship(run: Run, goal: Path) -> None:
    """What the package holds: the mean of the weights, how they are read and joined."""
    goal.mkdir(exist_ok=True)
    export_onnx(run.finished(), None, goal / "model.onnx")
    for name in ("tokenizer.json", "config.json", "litepyramid.json", "stack.json"):
        shutil.copyfile(FOLDER / name, goal / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("data", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--wordnet", type=Path, help="folder with data.noun and others")
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

    packs, often = make_packs(options.data, options.wordnet, options.share)
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
    ship(run, options.out / "mini")


if __name__ == "__main__":
    main()
