"""Train the embedded role labeller from PropBank's roles on the English Web Treebank.

    python scripts/train/roles.py DATA ENCODER RUN --minutes 45

DATA is the folder of published data (``propbank_ewt`` and ``ud_english_ewt``), ENCODER
a folder of all-MiniLM-L6-v2 (``model.safetensors``, ``tokenizer.json``). The encoder's
lower layers read a sentence once; its upper layers read it once a predicate, every word
piece with its distance from the predicate. One head finds predicates, one writes BIO
tags, and while training one more finds each word's head in the dependency tree, which
costs little and teaches the encoder where phrases end. Word pieces are those of the
embedded judge, as they are stored, and are not trained: the package holds them once.

Weights, activations and gradients are bfloat16, which a processor with AMX multiplies
ten times as fast; the optimiser keeps its own weights in float32. ``--float32`` does
without bfloat16.

The learning rate falls to 0 over --minutes of training by the clock, so any machine
ends with a finished model; a run that was stopped goes on when it is called again (not
one that was only paused: its clock runs on). RUN/weights.pt is the moving average of
the weights."""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

import litepyramid
from litepyramid.training.packed_onnx import read_packed
from litepyramid.units.parsers.roles import best_paths

JUDGE = Path(litepyramid.__file__).parent / "embedded/mini/model.onnx"
SHARED_LAYERS = 3
"""Layers that read a sentence once; those above read it once a predicate."""
FARTHEST = 40  # word pieces from the predicate; farther ones count as this far
LONGEST = 120  # word pieces of a training sentence
BATCH_PIECES = 2048  # word pieces of a batch of sentences
RATE = 2e-4
HEAD_RATE = 1e-3
DROPOUT = 0.1
AVERAGE = 0.998
DEPENDENCY_WEIGHT = 0.3
PREDICATE_WEIGHT = 0.5


@dataclass
class Sentence:
    """A sentence with the frames of its verbs; `heads` are 1-based, 0 is the root."""

    words: list[str]
    frames: list[tuple[int, list[str]]]
    heads: list[int] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)


def read_roles(path: Path) -> Iterator[tuple[str, Sentence]]:
    """The sentences by id, with the frames of verbs that have an argument."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            frames = []

            for frame in row["frames"]:
                roles = {tag[2:] for tag in frame["tags"] if tag != "O"}
                if frame["pos"].startswith("VB") and roles - {"V"}:
                    frames.append((frame["verb"], frame["tags"]))

            yield row["id"], Sentence(row["words"], frames)


def read_heads(path: Path) -> dict[str, tuple[list[str], list[int]]]:
    """Words and heads of every sentence of a CoNLL-U file, by the sentence's id."""
    heads: dict[str, tuple[list[str], list[int]]] = {}
    name = ""

    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# sent_id = "):
            name = line.removeprefix("# sent_id = ")
            heads[name] = ([], [])

        columns = line.split("\t")
        if columns[0].isdecimal():
            heads[name][0].append(columns[1])
            heads[name][1].append(int(columns[6]))

    return heads


def read_split(data: Path, split: str, tokenizer: Tokenizer) -> list[Sentence]:
    """A split's sentences, cut into word pieces."""
    trees = read_heads(data / f"ud_english_ewt/en_ewt-ud-{split}.conllu")
    sentences = []

    for name, sentence in read_roles(data / f"propbank_ewt/{split}.jsonl.gz"):
        words, heads = trees.get(name, ([], []))
        if words == sentence.words:
            sentence.heads = heads

        encoding = tokenizer.encode(sentence.words, is_pretokenized=True)
        sentence.pieces = encoding.ids
        firsts: dict[int, int] = {}
        for piece, word in enumerate(encoding.word_ids):
            if word is not None:
                firsts.setdefault(word, piece)

        # A word of signs that the tokenizer takes away has no piece: it reads [CLS].
        sentence.firsts = [firsts.get(i, 0) for i in range(len(sentence.words))]
        sentences.append(sentence)

    return sentences


class Drop(nn.Module):
    """Dropout whose masks are cut from one long row of draws.

    Fresh random numbers for every mask took a tenth of the time of training.
    """

    draws: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x

        if Drop.draws is None or Drop.draws.dtype != x.dtype:
            kept = torch.rand(1 << 23) >= DROPOUT
            Drop.draws = kept.to(x.dtype) / (1 - DROPOUT)

        start = random.randrange(len(Drop.draws) - x.numel())
        return x * Drop.draws[start : start + x.numel()].view_as(x)


class Layer(nn.Module):
    """One transformer layer of BERT."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width, eps=1e-12)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-12)
        self.drop = Drop()

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """`bias` [rows, 1, 1, pieces] is very negative where a row has no piece."""
        rows, pieces, width = x.shape
        shape = (rows, pieces, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(x).view(shape).permute(2, 0, 3, 1, 4)

        # Written out: torch's own attention takes three times as long backwards.
        scores = q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5 + bias
        mixed = scores.softmax(-1) @ v
        mixed = mixed.transpose(1, 2).reshape(rows, pieces, width)

        x = self.norm1(x + self.drop(self.out(mixed)))
        return self.norm2(x + self.drop(self.down(functional.gelu(self.up(x)))))


def mask_bias(mask: Tensor, kind: torch.dtype) -> Tensor:
    """0 where a row has a piece, very negative elsewhere."""
    return (mask[:, None, None, :].to(kind) - 1) * 1e4


class Encoder(nn.Module):
    """Word pieces to hidden states, once a sentence and then once a predicate."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        width = config["hidden_size"]
        sizes = (width, config["num_attention_heads"], config["intermediate_size"])
        self.words = nn.Embedding(config["vocab_size"], width)
        self.words.weight.requires_grad = False
        self.places = nn.Embedding(config["max_position_embeddings"], width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        layers = [Layer(*sizes) for _ in range(config["num_hidden_layers"])]
        self.lower = nn.ModuleList(layers[:SHARED_LAYERS])
        self.upper = nn.ModuleList(layers[SHARED_LAYERS:])
        self.distance = nn.Embedding(2 * FARTHEST + 1, width)
        nn.init.zeros_(self.distance.weight)
        self.drop = Drop()

    def read(self, ids: Tensor, mask: Tensor) -> Tensor:
        """What the lower layers make of word pieces."""
        places = torch.arange(ids.shape[1])
        x = self.drop(self.norm(self.words(ids) + self.places(places)))
        bias = mask_bias(mask, x.dtype)
        for layer in self.lower:
            x = layer(x, bias)
        return x

    def read_again(self, x: Tensor, mask: Tensor, verb: Tensor) -> Tensor:
        """What the upper layers make of that; `verb` [rows] is a piece's index."""
        places = torch.arange(x.shape[1])
        apart = (places[None, :] - verb[:, None]).clamp(-FARTHEST, FARTHEST) + FARTHEST
        x = x + self.distance(apart)
        bias = mask_bias(mask, x.dtype)
        for layer in self.upper:
            x = layer(x, bias)
        return x


class Dependencies(nn.Module):
    """For every word the scores of every word as its head; used in training alone."""

    def __init__(self, width: int, inner: int = 192) -> None:
        super().__init__()
        self.child = nn.Linear(width, inner)
        self.head = nn.Linear(width, inner)
        self.pair = nn.Parameter(torch.randn(inner, inner) * 0.02)
        self.prior = nn.Linear(inner, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        child = functional.gelu(self.child(hidden))
        head = functional.gelu(self.head(hidden))
        scores: Tensor = child @ self.pair @ head.transpose(-1, -2)
        return scores + self.prior(head).transpose(-1, -2)


class Model(nn.Module):
    """All parts of the labeller."""

    def __init__(self, config: dict[str, Any], labels: int) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.encoder = Encoder(config)
        self.predicate = nn.Linear(width, 1)
        self.tags = nn.Linear(width, labels)
        self.dependencies = Dependencies(width)
        self.drop = Drop()


def load_encoder(encoder: Encoder, folder: Path) -> None:
    """Copies the pretrained weights, with the word pieces of the embedded judge."""
    state = load_file(folder / "model.safetensors")
    state = {name.removeprefix("bert."): value for name, value in state.items()}
    width = encoder.words.weight.shape[1]
    judge = read_packed(JUDGE, width)

    words = torch.from_numpy(judge["bert.embeddings.word_embeddings.weight"])
    encoder.words.weight.data.copy_(words)
    encoder.places.weight.data.copy_(state["embeddings.position_embeddings.weight"])
    # A sentence is all of the first token type: its vector is part of every place's.
    encoder.places.weight.data += state["embeddings.token_type_embeddings.weight"][0]
    copy_part(encoder.norm, state, "embeddings.LayerNorm")

    for number, layer in enumerate([*encoder.lower, *encoder.upper]):
        name = f"encoder.layer.{number}"
        for part in ("weight", "bias"):
            attention = f"{name}.attention.self"
            both = [state[f"{attention}.{x}.{part}"] for x in ("query", "key", "value")]
            getattr(layer.qkv, part).data.copy_(torch.cat(both))
        copy_part(layer.out, state, f"{name}.attention.output.dense")
        copy_part(layer.norm1, state, f"{name}.attention.output.LayerNorm")
        copy_part(layer.up, state, f"{name}.intermediate.dense")
        copy_part(layer.down, state, f"{name}.output.dense")
        copy_part(layer.norm2, state, f"{name}.output.LayerNorm")


def copy_part(module: nn.Module, state: dict[str, Tensor], name: str) -> None:
    """Copies a weight and a bias of that name."""
    module.weight.data.copy_(state[f"{name}.weight"])
    module.bias.data.copy_(state[f"{name}.bias"])


class Weights:
    """The trained weights of a model, as one row of numbers a learning rate.

    The model's own parameters are views into rows of its own kind of number; the
    optimiser steps float32 copies of them, which are written back after each step.
    """

    def __init__(
        self, groups: Sequence[tuple[list[nn.Parameter], float]], kind: torch.dtype
    ) -> None:
        self.rows: list[Tensor] = []
        self.slopes: list[Tensor] = []
        self.exact: list[nn.Parameter] = []
        made = []

        for parameters, rate in groups:
            exact = nn.Parameter(torch.cat([p.data.flatten() for p in parameters]))
            exact.grad = torch.zeros_like(exact)
            row = exact.detach().to(kind, copy=True)
            slope = torch.zeros_like(row)
            start = 0

            for parameter in parameters:
                end = start + parameter.numel()
                parameter.data = row[start:end].view(parameter.shape)
                parameter.grad = slope[start:end].view(parameter.shape)
                start = end

            made.append({"params": [exact], "peak": rate})
            self.rows.append(row)
            self.slopes.append(slope)
            self.exact.append(exact)

        self.optimizer = torch.optim.AdamW(made, lr=0.0, weight_decay=0.01, fused=True)
        self.average = [exact.detach().clone() for exact in self.exact]

    def step(self, share: float, number: int) -> None:
        """One step with a share of the peak rates; empties the gradients."""
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * share

        for exact, slope in zip(self.exact, self.slopes, strict=True):
            assert exact.grad is not None
            exact.grad.copy_(slope)
            slope.zero_()

        nn.utils.clip_grad_norm_(self.exact, 1.0)
        self.optimizer.step()

        # Early weights are far from where training goes: a short memory for them.
        keep = min(AVERAGE, (number + 1) / (number + 10))
        with torch.no_grad():
            for i, exact in enumerate(self.exact):
                self.rows[i].copy_(exact)
                self.average[i].lerp_(exact, 1 - keep)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """The model has the averaged weights for so long."""
        before = [row.clone() for row in self.rows]
        for row, average in zip(self.rows, self.average, strict=True):
            row.copy_(average)

        yield

        for row, values in zip(self.rows, before, strict=True):
            row.copy_(values)


def label_names(sentences: Sequence[Sentence]) -> list[str]:
    """O, and B- and I- of every role, the most frequent first."""
    counts: dict[str, int] = {}
    for sentence in sentences:
        for _, tags in sentence.frames:
            for tag in tags:
                if tag.startswith("B-"):
                    counts[tag[2:]] = counts.get(tag[2:], 0) + 1

    roles = sorted(counts, key=lambda role: (-counts[role], role))
    return ["O"] + [f"{prefix}-{role}" for role in roles for prefix in "BI"]


def batches(
    sentences: Sequence[Sentence], draws: random.Random
) -> list[list[Sentence]]:
    """Sentences of like length together, about `BATCH_PIECES` word pieces each."""
    noise = {id(s): draws.uniform(0, 2) for s in sentences}
    ordered = sorted(sentences, key=lambda s: len(s.pieces) + noise[id(s)])
    made: list[list[Sentence]] = [[]]

    for sentence in ordered:
        if (len(made[-1]) + 1) * len(sentence.pieces) > BATCH_PIECES:
            made.append([])
        made[-1].append(sentence)

    draws.shuffle(made)
    return [batch for batch in made if batch]


def padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """Rows of numbers as one tensor."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])


def predicate_targets(sentence: Sentence) -> list[int]:
    """1 at verbs with a frame, 0 at other words."""
    verbs = {verb for verb, _ in sentence.frames}
    return [int(i in verbs) for i in range(len(sentence.words))]


def head_targets(sentence: Sentence) -> list[int]:
    """The index of every word's head, of a root its own; -100 where it is not known."""
    if not sentence.heads:
        return [-100] * len(sentence.words)
    return [head - 1 if head else i for i, head in enumerate(sentence.heads)]


def of_words(states: Tensor, batch: Sequence[Sentence], index: Tensor) -> Tensor:
    """The states of every word's first piece."""
    firsts = padded([s.firsts for s in batch], 0)[index]
    return states[torch.arange(len(states))[:, None], firsts]


def batch_loss(
    model: Model, batch: Sequence[Sentence], labels: dict[str, int]
) -> Tensor:
    """The sum of the three losses of a batch."""
    mask = padded([[1] * len(s.pieces) for s in batch], 0)
    states = model.encoder.read(padded([s.pieces for s in batch], 0), mask)
    words = model.drop(of_words(states, batch, torch.arange(len(batch))))

    scores = model.predicate(words).squeeze(-1).float()
    targets = padded([predicate_targets(s) for s in batch], -100)
    chosen = targets >= 0
    loss = PREDICATE_WEIGHT * functional.binary_cross_entropy_with_logits(
        scores[chosen], targets[chosen].float()
    )

    arcs = model.dependencies(words).float()
    inside = padded([[1] * len(s.words) for s in batch], 0)
    arcs = arcs + (inside[:, None, :].float() - 1) * 1e4
    heads = padded([head_targets(s) for s in batch], -100)

    if bool((heads >= 0).any()):
        loss = loss + DEPENDENCY_WEIGHT * functional.cross_entropy(
            arcs.flatten(0, 1), heads.flatten(), ignore_index=-100
        )

    rows = []
    verbs = []
    tags = []

    for number, sentence in enumerate(batch):
        for verb, names in sentence.frames:
            rows.append(number)
            verbs.append(sentence.firsts[verb])
            tags.append([labels.get(name, 0) for name in names])

    if rows:
        index = torch.tensor(rows)
        again = model.encoder.read_again(
            states[index], mask[index], torch.tensor(verbs)
        )
        scored = model.tags(model.drop(of_words(again, batch, index))).float()
        wanted = padded(tags, -100)
        missing = scored.shape[1] - wanted.shape[1]
        wanted = functional.pad(wanted, (0, missing), value=-100)
        loss = loss + functional.cross_entropy(
            scored.flatten(0, 1), wanted.flatten(), ignore_index=-100
        )

    return loss


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """The arguments of a frame as (start, end, role), without the verb's own span."""
    found = set()
    start = 0
    for end, tag in enumerate([*tags[1:], "O"], start=1):
        before = tags[end - 1]
        ends = before != "O" and tag != f"I-{before[2:]}"
        if ends and before[2:] != "V":
            found.add((start, end, before[2:]))
        if not tag.startswith("I-"):
            start = end
    return found


def f1(right: int, guessed: int, true: int) -> float:
    return 200 * right / max(1, guessed + true)


@torch.no_grad()
def evaluate(
    model: Model, sentences: Sequence[Sentence], names: Sequence[str]
) -> dict[str, float]:
    """F1 of argument spans with gold predicates, F1 of predicates, heads right."""
    model.eval()
    counts = [0] * 8
    alone = torch.tensor([0])

    for sentence in sentences:
        ids = torch.tensor([sentence.pieces])
        mask = torch.ones_like(ids)
        states = model.encoder.read(ids, mask)
        words = of_words(states, [sentence], alone)

        scores = model.predicate(words)[0, :, 0]
        guessed = {w for w, score in enumerate(scores.tolist()) if score > 0}
        verbs = {verb for verb, _ in sentence.frames}
        counts[3] += len(guessed & verbs)
        counts[4] += len(guessed)
        counts[5] += len(verbs)

        if sentence.heads:
            heads = model.dependencies(words)[0].argmax(-1).tolist()
            pairs = zip(heads, head_targets(sentence), strict=True)
            counts[6] += sum(head == gold for head, gold in pairs)
            counts[7] += len(heads)

        for verb, tags in sentence.frames:
            place = torch.tensor([sentence.firsts[verb]])
            again = model.encoder.read_again(states, mask, place)
            scored = model.tags(of_words(again, [sentence], alone)).float()
            [path] = best_paths([scored[0].log_softmax(-1).numpy()], names)
            right = spans(tags)
            ours = spans([names[label] for label in path])
            counts[0] += len(right & ours)
            counts[1] += len(ours)
            counts[2] += len(right)

    model.train()
    return {
        "spans": f1(*counts[:3]),
        "predicates": f1(*counts[3:6]),
        "heads": 100 * counts[6] / max(1, counts[7]),
    }


@dataclass
class Run:
    """A training run: its folder, model and weights, and how far it has come."""

    folder: Path
    model: Model
    weights: Weights
    names: list[str]
    step: int = 0
    passes: int = 0
    seconds: float = 0.0

    def resume(self) -> None:
        """Goes on from what was saved."""
        path = self.folder / "state.pt"
        if path.exists():
            saved = torch.load(path, weights_only=True)
            with torch.no_grad():
                for i, exact in enumerate(saved["exact"]):
                    self.weights.exact[i].copy_(exact)
                    self.weights.rows[i].copy_(exact)
            self.weights.optimizer.load_state_dict(saved["optimizer"])
            self.weights.average = saved["average"]
            self.step, self.passes, self.seconds = saved["counts"]

    def save(self) -> None:
        """Writes all that goes on from here, and the weights to export, each whole."""
        state = {
            "exact": [exact.detach() for exact in self.weights.exact],
            "optimizer": self.weights.optimizer.state_dict(),
            "average": self.weights.average,
            "counts": (self.step, self.passes, self.seconds),
        }
        with self.weights.averaged():
            model = {k: v.clone() for k, v in self.model.state_dict().items()}
        weights = {"model": model, "labels": self.names}

        for name, value in {"state.pt": state, "weights.pt": weights}.items():
            torch.save(value, self.folder / f"{name}.new")
            (self.folder / f"{name}.new").replace(self.folder / name)


def started(
    data: Path, encoder: Path, folder: Path, kind: torch.dtype
) -> tuple[Run, list[Sentence], list[Sentence]]:
    """A run at its beginning or where it stopped; training sentences; some of dev."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    sentences = read_split(data, "train", tokenizer)
    names = label_names(sentences)

    torch.manual_seed(1)
    model = Model(json.loads((encoder / "config.json").read_text()), len(names))
    load_encoder(model.encoder, encoder)
    pretrained = [p for p in model.encoder.parameters() if p.requires_grad]
    modules = (model.predicate, model.tags, model.dependencies)
    heads = [p for module in modules for p in module.parameters()]
    weights = Weights([(pretrained, RATE), (heads, HEAD_RATE)], kind)
    model.to(kind)  # the word pieces, which are not trained

    run = Run(folder, model, weights, names)
    run.resume()
    short = [s for s in sentences if len(s.pieces) <= LONGEST]
    return run, short, read_split(data, "dev", tokenizer)[::4]


def train(
    run: Run, sentences: list[Sentence], dev: list[Sentence], limit: float
) -> None:
    """Trains until `limit` seconds are over, saving as it goes."""
    labels = {name: i for i, name in enumerate(run.names)}
    run.model.train()
    begun = time.monotonic() - run.seconds
    shown = saved_at = time.monotonic()
    pieces = 0

    while run.seconds < limit:
        for batch in batches(sentences, random.Random(run.passes)):
            run.seconds = time.monotonic() - begun
            if run.seconds >= limit:
                break

            loss = batch_loss(run.model, batch, labels)
            loss.backward()
            warm = min(1.0, (run.step + 1) / 150)
            run.weights.step(warm * (1 - run.seconds / limit), run.step)
            run.step += 1

            pieces += sum(len(s.pieces) for s in batch)
            now = time.monotonic()
            if now - shown > 30:
                rate = pieces / (now - shown)
                text = f"{run.seconds:.0f} s, pass {run.passes}, step {run.step}"
                print(f"{text}, loss {loss.item():.3f}, {rate:.0f}/s", flush=True)
                shown, pieces = now, 0
            if now - saved_at > 180:
                run.save()
                saved_at = time.monotonic()
        else:
            run.passes += 1
            if run.passes % 5 == 0:
                print(f"pass {run.passes}: {figures(run, dev)}", flush=True)

    run.save()
    print(figures(run, dev), flush=True)


def figures(run: Run, sentences: Sequence[Sentence]) -> dict[str, float]:
    """How well the averaged weights do."""
    with run.weights.averaged():
        return evaluate(run.model, sentences, run.names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--float32", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    kind = torch.float32 if arguments.float32 else torch.bfloat16
    parts = started(arguments.data, arguments.encoder, arguments.run, kind)
    train(*parts, arguments.minutes * 60)


if __name__ == "__main__":
    main()
