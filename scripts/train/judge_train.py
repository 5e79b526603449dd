"""Training on packs, with a running mean of the weights, resumable; `judge.py` calls it.

A checkpoint holds weights, their mean, the optimiser and how far the data is read; it
is written beside the last one and then renamed. The learning rate rises over the first
pairs, stays, and falls to nothing over the last share of them.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from litepyramid.judges.evaluate import calibrate
from litepyramid.judges.nli.backends import read_onnx_tokenizer
from litepyramid.judges.nli.encode import Tokenizer
from litepyramid.training.packs import (
    Pack,
    encode_packs,
    packed_classifier,
    padded,
)

Row = dict[str, Any]
HEAD = "three-class"


@dataclass(frozen=True)
class Plan:
    """How a stage trains; `pairs` is where its learning rate has fallen to nothing."""

    pairs: int
    rate: float = 1e-4
    warmup: int = 5_000
    fall: float = 0.4
    tokens: int = 2_048
    freeze: int = 2
    average: float = 0.998
    decay: float = 0.01
    longest: int = 512
    seed: int = 1

    def rate_at(self, pairs: int) -> float:
        """The learning rate after so many pairs."""
        rising = min(1.0, (pairs + 1) / self.warmup)
        left = max(0.0, 1 - pairs / self.pairs)
        return self.rate * min(rising, left / self.fall, 1.0)


def freeze(model: Any, layers: int) -> None:
    """Leaves the embeddings and the lowest layers as they are, and drops nothing."""
    for module in (model.bert.embeddings, *model.bert.encoder.layer[:layers]):
        module.requires_grad_(False)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0


def batches(rows: Sequence[Row], tokens: int, seed: int) -> Iterator[list[Row]]:
    """Rows in a random order, those of like length together, within so many tokens."""
    shuffled = [*rows]
    draw = random.Random(seed)
    draw.shuffle(shuffled)

    for start in range(0, len(shuffled), 800):
        several = sorted(
            shuffled[start : start + 800], key=lambda row: -len(row["input_ids"])
        )
        made: list[list[Row]] = [[]]
        for row in several:
            longest = len(made[-1][0]["input_ids"]) if made[-1] else 0
            if made[-1] and longest * (len(made[-1]) + 1) > tokens:
                made.append([])
            made[-1].append(row)
        draw.shuffle(made)
        yield from made


def loss_of(logits: Any, labels: Any) -> Any:
    """Mean cross-entropy; where only absence is known, against p(n) + p(c)."""
    logs = torch.log_softmax(logits.float(), dim=-1)
    absent = torch.logsumexp(logs[..., 1:], dim=-1, keepdim=True)
    labels = labels.clamp(min=0)
    total = (labels * torch.cat([logs, absent], dim=-1)).sum()
    return -total / labels.sum().clamp(min=1)


class Run:
    """A run of training in a folder: goes on from the checkpoint that is there."""

    def __init__(self, model: Any, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan
        freeze(model, plan.freeze)
        self.packed = packed_classifier(model)
        self.trained = {
            name: values
            for name, values in self.packed.named_parameters()
            if values.requires_grad
        }
        self.optimiser = torch.optim.AdamW(
            self.trained.values(),
            lr=plan.rate,
            weight_decay=plan.decay,
            fused=True,
        )
        self.mean = {n: v.detach().clone() for n, v in self.trained.items()}
        self.pairs = self.step = self.batch = self.epoch = 0
        self.data = ""
        if self.point.exists():
            self._load()

    @property
    def point(self) -> Path:
        return self.folder / "checkpoint.pt"

    def _load(self) -> None:
        state = torch.load(self.point, weights_only=True)
        self.packed.load_state_dict(state["weights"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.mean = state["mean"]
        for name in ("pairs", "step", "batch", "epoch", "data"):
            setattr(self, name, state[name])

    def save(self, name: str = "checkpoint.pt") -> None:
        """Writes a checkpoint beside the last one, then puts it in its place."""
        counts = ("pairs", "step", "batch", "epoch", "data")
        state = {
            "weights": self.packed.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "mean": self.mean,
            **{key: getattr(self, key) for key in counts},
            "plan": asdict(self.plan),
        }
        new = self.folder / f"{name}.new"
        torch.save(state, new)
        new.replace(self.folder / name)

    def exchange(self) -> None:
        """Puts the mean where the weights are, and the weights where the mean was."""
        with torch.no_grad():
            for name, values in self.trained.items():
                weights = values.clone()
                values.copy_(self.mean[name])
                self.mean[name].copy_(weights)

    def train(
        self,
        rows: Sequence[Row],
        name: str,
        every: int = 50_000,
        look: Any = None,
    ) -> None:
        """Trains until the plan's pairs are seen, or its stage's file ``stop`` is there."""
        if self.data != name:
            self.data, self.batch, self.epoch = name, 0, self.epoch + 1
        self.packed.train()
        saved = self.pairs
        start = time.monotonic()
        began = self.pairs
        losses: list[float] = []

        while self.pairs < self.plan.pairs:
            seed = self.plan.seed + self.epoch
            for number, several in enumerate(batches(rows, self.plan.tokens, seed)):
                if number < self.batch:
                    continue
                losses.append(self._update(several))
                self.batch += 1

                if self.step % 100 == 0:
                    rate = (self.pairs - began) / (time.monotonic() - start)
                    print(
                        f"{time.strftime('%H:%M:%S')} step {self.step}, pairs"
                        f" {self.pairs}, loss {np.mean(losses[-200:]):.4f}, lr"
                        f" {self.plan.rate_at(self.pairs):.2e}, {rate:.1f} pairs/s",
                        flush=True,
                    )
                if self.pairs - saved >= every:
                    saved = self.pairs
                    self.save()
                    if look is not None:
                        self._look(look)
                stop = self.folder / "stop"
                if self.pairs >= self.plan.pairs or stop.exists():
                    stop.unlink(missing_ok=True)
                    self.save()
                    return

            self.batch, self.epoch = 0, self.epoch + 1

    def _update(self, several: Sequence[Row]) -> float:
        for group in self.optimiser.param_groups:
            group["lr"] = self.plan.rate_at(self.pairs)
        inputs = padded(several)
        labels = inputs.pop("labels")
        loss = loss_of(self.packed(**inputs)["logits"], labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained.values(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad()

        self.step += 1
        self.pairs += sum(len(row["asked"]) for row in several)
        share = min(self.plan.average, (self.step + 1) / (self.step + 10))
        with torch.no_grad():
            for name, values in self.trained.items():
                self.mean[name].lerp_(values, 1 - share)

        return float(loss.detach())

    def _look(self, look: Mapping[str, Sequence[Row]]) -> None:
        """Evaluates the mean of the weights, one line a set, into ``curve.jsonl``."""
        self.exchange()
        self.packed.eval()
        curve = self.folder / "curve.jsonl"

        with curve.open("a", encoding="utf-8") as file:
            for name, rows in look.items():
                figures = {
                    "pairs": self.pairs,
                    "set": name,
                    **quality(self.packed, rows),
                }
                file.write(json.dumps(figures) + "\n")
                print(figures, flush=True)

        self.packed.train()
        self.exchange()


def logits_of(packed: Any, rows: Sequence[Row], tokens: int = 4_096) -> list[Any]:
    """The logits (units, 3) of every row, in its order."""
    order = sorted(range(len(rows)), key=lambda n: -len(rows[n]["input_ids"]))
    results: list[Any] = [None] * len(rows)
    start = 0

    with torch.inference_mode():
        while start < len(order):
            size = max(1, tokens // len(rows[order[start]]["input_ids"]))
            numbers = order[start : start + size]
            inputs = padded([rows[n] for n in numbers])
            inputs.pop("labels")
            logits = packed(**inputs)["logits"].float().numpy()
            for number, values in zip(numbers, logits, strict=True):
                results[number] = values[: len(rows[number]["asked"])]
            start += size

    return results


def quality(packed: Any, rows: Sequence[Row]) -> dict[str, Any]:
    """AUC, Brier score and accuracy of p(entailment) against the labels."""
    several = np.concatenate(logits_of(packed, rows))
    shares = np.exp(several - several.max(axis=1, keepdims=True))
    presence = shares[:, 0] / shares.sum(axis=1)
    truth = np.concatenate([np.array(row["labels"])[:, 0] for row in rows])
    result = calibrate(presence, (truth >= 0.5).astype(np.float64))
    brier = float(np.mean((presence - truth) ** 2))

    return {
        "n": len(truth),
        "auc": round(float(result.auc), 4),
        "brier": round(brier, 4),
        "accuracy": round(float(np.mean((presence >= 0.5) == (truth >= 0.5))), 4),
    }


def encoded(folder: Path, packs: Sequence[Pack], longest: int) -> list[Row]:
    """Packs as rows of tokens, by the tokenizer of a judge's folder."""
    tokenizer: Tokenizer = read_onnx_tokenizer(folder)
    rows = []
    for start in range(0, len(packs), 5_000):
        some = packs[start : start + 5_000]
        rows += encode_packs(tokenizer, some, longest, HEAD)
    return rows
