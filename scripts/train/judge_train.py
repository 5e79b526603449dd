"""Training on packs, with a running mean of the weights, resumable; `judge.py` calls
it.

A checkpoint holds weights, their mean, the optimiser and how far the data is read; it
is written beside the last one and then renamed. The learning rate rises over the first
pairs, stays, and falls to nothing over the last share of them.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from judge_packs import TaughtPack

from litepyramid.judges.base import Judge
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
COUNTS = ("pairs", "step", "block")


@dataclass(frozen=True)
class Plan:
    """How a stage trains; `pairs` is where its learning rate has fallen to nothing."""

    pairs: int
    rate: float = 1e-4
    warmup: int = 15_000
    fall: float = 0.6
    tokens: int = 4_096
    freeze: int = 0
    average: float = 0.998
    decay: float = 0.01
    bf16: bool = True
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


def batches(rows: Sequence[Row], tokens: int, seed: int) -> list[list[Row]]:
    """Rows of like length together, within so many tokens, in a random order."""
    ordered = sorted(rows, key=lambda row: -len(row["input_ids"]))
    made: list[list[Row]] = [[]]

    for row in ordered:
        longest = len(made[-1][0]["input_ids"]) if made[-1] else 0
        if made[-1] and longest * (len(made[-1]) + 1) > tokens:
            made.append([])
        made[-1].append(row)

    random.Random(seed).shuffle(made)
    return made


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
        trained = {
            name: values
            for name, values in self.packed.named_parameters()
            if values.requires_grad
        }
        # The optimiser moves float32 weights, whose steps bfloat16 would round away.
        self.weights = {n: v.detach().float().clone() for n, v in trained.items()}
        self.mean = {n: v.clone() for n, v in self.weights.items()}
        self.packed.to(torch.bfloat16 if plan.bf16 else torch.float32)
        self.trained = trained
        self.optimiser = torch.optim.AdamW(
            self.weights.values(),
            lr=plan.rate,
            weight_decay=plan.decay,
            fused=True,
        )
        self.pairs = self.step = self.block = 0
        if self.point.exists():
            self._load()

    @property
    def point(self) -> Path:
        return self.folder / "checkpoint.pt"

    def _load(self) -> None:
        state = torch.load(self.point, weights_only=True)
        self.optimiser.load_state_dict(state["optimiser"])
        for name, values in self.weights.items():
            values.copy_(state["weights"][name])
        self.mean = state["mean"]
        self.put(self.weights)
        for name in COUNTS:
            setattr(self, name, state[name])

    def save(self, name: str = "checkpoint.pt") -> None:
        """Writes a checkpoint beside the last one, then puts it in its place."""
        state = {
            "weights": self.weights,
            "optimiser": self.optimiser.state_dict(),
            "mean": self.mean,
            **{key: getattr(self, key) for key in COUNTS},
            "plan": asdict(self.plan),
        }
        new = self.folder / f"{name}.new"
        torch.save(state, new)
        new.replace(self.folder / name)

    def put(self, values: Mapping[str, Any]) -> None:
        """Puts these weights into the model."""
        with torch.no_grad():
            for name, goal in self.trained.items():
                goal.copy_(values[name])

    def finished(self) -> Any:
        """The model in float32, with the mean of its weights."""
        self.packed.float()
        self.put(self.mean)
        return self.packed.model

    def train(
        self,
        packs_of: Callable[[int], Sequence[Pack]],
        encode: Callable[[Sequence[Pack]], Sequence[Row]],
        every: int = 40_000,
        look: Any = None,
    ) -> None:
        """Trains until the plan's pairs are seen.

        `packs_of` gives the packs of a block, by its number: they are encoded and
        sorted together, and a run that was stopped begins with the block it stood in.
        """
        while self.pairs < self.plan.pairs:
            before = self.pairs
            rows = encode(packs_of(self.block))
            seed = self.plan.seed + self.block
            self._train_block(batches(rows, self.plan.tokens, seed))
            self.block += 1

            self.save()
            over = self.pairs >= self.plan.pairs
            if look is not None and (over or self.pairs // every > before // every):
                self._look(look)

    def _train_block(self, several: Sequence[Sequence[Row]]) -> None:
        began = self.pairs
        start = time.monotonic()
        losses = [self._update(batch) for batch in several]

        rate = (self.pairs - began) / (time.monotonic() - start)
        print(
            f"{time.strftime('%H:%M:%S')} step {self.step}, pairs {self.pairs}, loss"
            f" {np.mean(losses):.4f}, lr {self.plan.rate_at(self.pairs):.2e},"
            f" {rate:.0f} pairs/s",
            flush=True,
        )

    def _update(self, several: Sequence[Row]) -> float:
        for group in self.optimiser.param_groups:
            group["lr"] = self.plan.rate_at(self.pairs)
        inputs = padded(several)
        labels = inputs.pop("labels")
        loss = loss_of(self.packed(**inputs)["logits"], labels)
        loss.backward()
        for name, values in self.trained.items():
            self.weights[name].grad = values.grad.float()
            values.grad = None
        torch.nn.utils.clip_grad_norm_(self.weights.values(), 1.0)
        self.optimiser.step()
        self.put(self.weights)

        self.step += 1
        self.pairs += sum(len(row["asked"]) for row in several)
        share = min(self.plan.average, (self.step + 1) / (self.step + 10))
        with torch.no_grad():
            for name, values in self.weights.items():
                self.mean[name].lerp_(values, 1 - share)

        return float(loss.detach())

    def _look(self, look: Mapping[str, Sequence[Row]]) -> None:
        """Evaluates the mean of the weights, one line a set, into ``curve.jsonl``."""
        self.put(self.mean)
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
        self.put(self.weights)


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


def encoded(
    folder: Path,
    packs: Sequence[Pack],
    longest: int,
    teacher: Judge | None = None,
) -> list[Row]:
    """Packs as rows of tokens, by the tokenizer of a judge's folder.

    With a teacher, each label is mixed with its shares of the three classes.
    """
    tokenizer: Tokenizer = read_onnx_tokenizer(folder)
    rows = [*encode_packs(tokenizer, packs, longest, HEAD)]

    if teacher is not None:
        soften(packs, rows, teacher)
    return rows


def soften(packs: Sequence[Pack], rows: Sequence[Row], teacher: Judge) -> None:
    """Mixes the labels of packs that a teacher is believed about with its shares."""
    heard = []
    for pack, row in zip(packs, rows, strict=True):
        if isinstance(pack, TaughtPack):
            heard.append((pack, row))

    logits = teacher.judge([(pack.premise, pack.units) for pack, _ in heard]).logits
    if logits is None:
        raise SystemExit("the teacher gives no three classes; expected an NLI model")

    for (pack, row), values in zip(heard, logits, strict=True):
        shares = np.exp(values - values.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)

        # The fourth column is absence of a kind that is not known: no teacher says it.
        soft = pack.trust * np.pad(shares, ((0, 0), (0, 1)))
        hard = (1 - pack.trust) * np.array(row["labels"])
        row["labels"] = (hard + soft).tolist()
