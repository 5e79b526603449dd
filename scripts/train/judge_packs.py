"""Packs for training `mini`: premises with the units that people labelled or wrote.

Some premises are put beside texts that have nothing to do with them, up to 350 words.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from litepyramid.judges.labelled import CONTRADICTION, NEUTRAL, LabelledPair
from litepyramid.sentences import split_sentences
from litepyramid.training.packs import Pack, as_packs

Pair = dict[str, Any]
ABSENT = 0.0
PRESENT = 1.0
LABELS = {
    "e": PRESENT,
    "n": NEUTRAL,
    "c": CONTRADICTION,
    "0": ABSENT,
    "1": PRESENT,
}

TRUST = 0.3
"""How far a teacher is believed against the labels of open sets."""

OWN_SENTENCES = 2
"""Of a written text, asked beside its facts: they are present, so that many shared
words do not come to mean absence."""


@dataclass(frozen=True)
class TaughtPack(Pack):
    """A pack, and how far a teacher is believed against its labels."""

    trust: float = 0.0


def label_of(row: Pair) -> float:
    """A row's label as `LabelledPair` has it."""
    return LABELS[row["label"][0]] if "label" in row else float(row["present"])


def labelled_packs(rows: Iterable[Pair]) -> list[Pack]:
    """The packs of rows, a pair that stands there twice once."""
    labels: dict[tuple[str, str], float] = {}
    for row in rows:
        labels.setdefault((row["premise"], row["hypothesis"]), label_of(row))
    pairs = [LabelledPair(*texts, label) for texts, label in labels.items()]
    return [taught(pack) for pack in as_packs(pairs)]


def taught(pack: Pack) -> TaughtPack:
    """A pack whose labels a teacher softens."""
    return TaughtPack(pack.premise, pack.units, pack.labels, TRUST)


def lengthened(
    packs: Sequence[Pack], share: float, most: int = 350, seed: int = 3
) -> Iterator[Pack]:
    """The packs, a share of them with other premises before and behind."""
    draw = random.Random(seed)
    for pack in packs:
        if draw.random() >= share:
            yield pack
            continue

        texts = [pack.premise]
        goal = draw.randint(60, most)
        while sum(len(text.split()) for text in texts) < goal:
            other = draw.choice(packs).premise
            if len(other.split()) > 200 or other in texts:
                goal -= 10
                continue
            texts.insert(draw.randint(0, len(texts)), other)

        premise = " ".join(t if t.rstrip()[-1:] in ".!?'\"" else f"{t}." for t in texts)
        yield replace(pack, premise=premise)


def highlight_packs(folder: Path, seed: int = 5) -> list[Pack]:
    """References that were invented for litepyramid, with their SCUs, and each again
    without a sentence, whose SCUs are absent then."""
    draw = random.Random(seed)
    texts = {}
    packs: list[Pack] = []
    for line in (folder / "references.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        texts[row["input"]] = row["references"][0]

    for line in (folder / "scus.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        sentences = texts[row["input"]]
        units = row["units"]
        whole = [unit["text"] for unit in draw.sample(units, min(5, len(units)))]
        labels = (PRESENT,) * len(whole)
        packs.append(taught(Pack(" ".join(sentences), tuple(whole), labels)))

        out = draw.randrange(len(sentences))
        rest = " ".join(s for k, s in enumerate(sentences) if k != out)
        absent = [unit["text"] for unit in units if unit["sentence"] == out][:5]
        present = [unit["text"] for unit in units if unit["sentence"] != out]
        draw.shuffle(present)
        asked = (*absent, *present[:4])
        labels = tuple([NEUTRAL if text in absent else PRESENT for text in asked])
        packs.append(taught(Pack(rest, asked, labels)))

    return packs


def written_packs(
    paths: Iterable[Path], sentences: int = OWN_SENTENCES
) -> Iterator[Pack]:
    """Texts and facts that were written for litepyramid, a pack each, with so many of
    the text's own sentences.

    A block is a line ``P: text`` and lines of facts: ``+`` present, ``-`` contradicted,
    ``?`` not said.
    """
    labels = {
        "+": PRESENT,
        "-": CONTRADICTION,
        "?": NEUTRAL,
    }
    for path in sorted(paths):
        for block in path.read_text("utf-8").split("\n\n"):
            first, *facts = block.strip().splitlines()
            premise = first.removeprefix("P:").strip()
            known = {fact[1:].strip(): labels[fact[0]] for fact in facts}

            own = [s for s in split_sentences(premise) if 3 < len(s.split()) < 28]
            for sentence in own[:sentences]:
                known.setdefault(sentence, PRESENT)

            yield Pack(premise, tuple(known), tuple(known.values()))


def sampled(several: Sequence[Any], number: int, draw: random.Random) -> list[Any]:
    """So many of them, or all."""
    return draw.sample([*several], min(number, len(several)))
