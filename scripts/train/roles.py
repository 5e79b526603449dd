"""Train the embedded role labeller from PropBank's roles on the English Web Treebank.

    python scripts/train/roles.py DATA ENCODER RUN --minutes 70

DATA is the folder of published data (``propbank_ewt`` and ``ud_english_ewt``), ENCODER a
folder of all-MiniLM-L6-v2 (``model.safetensors``, ``tokenizer.json``). The encoder reads
a sentence once; two narrow layers read its words once a predicate, each word with the
predicate and its distance from it, which is half the work of running two layers of the
encoder there. One head finds predicates, one writes BIO tags, and while training one
more finds each word's head in the dependency tree, which costs little and teaches the
encoder where phrases end. Word pieces and the lowest two layers stay as they are.

The learning rate falls to 0 over --minutes of training by the clock, so any machine ends
with a finished model; a run that was stopped goes on when it is called again (not one
that was only paused: its clock runs on). RUN/weights.pt is the moving average of the
weights. None ship yet: a core shared by many gave 185 of the first 500 batches in 21 minutes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

FROZEN_LAYERS = 2
NARROW = (256, 4, 512)
"""Width, attention heads and inner width of the layers that run once a predicate."""
FARTHEST = 40  # words from the predicate; farther ones count as this far
LONGEST = 120  # word pieces of a training sentence
BATCH_PIECES = 512  # word pieces of a batch of sentences
RATE = 3e-4
HEAD_RATE = 1e-3
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
    lower: Tensor | None = None  # what the frozen layers make of the word pieces


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
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """`bias` [rows, 1, 1, pieces] is very negative where a row has no piece."""
        rows, pieces, width = x.shape
        qkv = self.qkv(x).view(
            rows,
            pieces,
            3,
            self.heads,
            width // self.heads,
        )
        q, k, v = qkv.permute(
            2,
            0,
            3,
            1,
            4,
        )

        scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads) + bias
        mixed = scores.softmax(-1) @ v
        mixed = mixed.transpose(1, 2).reshape(rows, pieces, width)

        x = self.norm1(x + self.drop(self.out(mixed)))
        return self.norm2(x + self.drop(self.down(functional.gelu(self.up(x)))))


class Encoder(nn.Module):
    """Word pieces to hidden states, in two parts: what stays as it is, what is trained."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        width = config["hidden_size"]
        sizes = (width, config["num_attention_heads"], config["intermediate_size"])
        self.words = nn.Embedding(config["vocab_size"], width)
        self.places = nn.Embedding(config["max_position_embeddings"], width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        layers = [Layer(*sizes) for _ in range(config["num_hidden_layers"])]
        self.frozen = nn.ModuleList(layers[:FROZEN_LAYERS])
        self.layers = nn.ModuleList(layers[FROZEN_LAYERS:])

    def lower(self, ids: Tensor, mask: Tensor) -> Tensor:
        """What the frozen layers make of word pieces."""
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.words(ids) + self.places(places))
        bias = (mask[:, None, None, :].to(x.dtype) - 1) * 1e4
        for layer in self.frozen:
            x = layer(x, bias)
        return x

    def upper(self, x: Tensor, mask: Tensor) -> Tensor:
        """What the trained layers make of that."""
        bias = (mask[:, None, None, :].to(x.dtype) - 1) * 1e4
        for layer in self.layers:
            x = layer(x, bias)
        return x

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.upper(self.lower(ids, mask), mask)


class Labeller(nn.Module):
    """Words and the place of a predicate to tag scores."""

    def __init__(self, width: int, labels: int) -> None:
        super().__init__()
        narrow = NARROW[0]
        self.word = nn.Linear(width, narrow)
        self.verb = nn.Linear(width, narrow)
        self.distance = nn.Embedding(2 * FARTHEST + 1, narrow)
        self.norm = nn.LayerNorm(narrow)
        self.layers = nn.ModuleList(Layer(*NARROW) for _ in range(2))
        self.tags = nn.Linear(narrow, labels)

    def forward(self, words: Tensor, mask: Tensor, verb: Tensor) -> Tensor:
        """`words` [rows, words, width]; `verb` [rows] is the predicate's index."""
        rows = torch.arange(words.shape[0], device=words.device)
        places = torch.arange(words.shape[1], device=words.device)
        apart = (places[None, :] - verb[:, None]).clamp(-FARTHEST, FARTHEST) + FARTHEST
        predicate = self.verb(words[rows, verb])[:, None, :]
        x = self.norm(self.word(words) + predicate + self.distance(apart))

        bias = (mask[:, None, None, :].to(x.dtype) - 1) * 1e4
        for layer in self.layers:
            x = layer(x, bias)

        return self.tags(x)


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
        self.labeller = Labeller(width, labels)
        self.dependencies = Dependencies(width)


def load_encoder(encoder: Encoder, folder: Path) -> None:
    """Copies the pretrained weights."""
    state = load_file(folder / "model.safetensors")
    state = {name.removeprefix("bert."): value for name, value in state.items()}

    encoder.words.weight.data.copy_(state["embeddings.word_embeddings.weight"])
    encoder.places.weight.data.copy_(state["embeddings.position_embeddings.weight"])
    # A sentence is all of the first token type: its vector is part of every place's.
    encoder.places.weight.data += state["embeddings.token_type_embeddings.weight"][0]
    copy_part(encoder.norm, state, "embeddings.LayerNorm")

    for number, layer in enumerate([*encoder.frozen, *encoder.layers]):
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


def batches(sentences: Sequence[Sentence], seed: int) -> list[list[Sentence]]:
    """Sentences of like length together, about `BATCH_PIECES` word pieces each."""
    draws = random.Random(seed)
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


def read_words(model: Model, batch: Sequence[Sentence]) -> Tensor:
    """Hidden states [sentences, words, width] of each word's first piece."""
    mask = padded([[1] * len(s.pieces) for s in batch], 0)

    if any(s.lower is None for s in batch):
        with torch.no_grad():
            lower = model.encoder.lower(padded([s.pieces for s in batch], 0), mask)
        for sentence, states in zip(batch, lower, strict=True):
            sentence.lower = states[: len(sentence.pieces)].half()

    states = [s.lower.float() for s in batch if s.lower is not None]
    hidden = model.encoder.upper(nn.utils.rnn.pad_sequence(states, True), mask)
    firsts = padded([s.firsts for s in batch], 0)
    rows = torch.arange(len(batch))[:, None]
    return hidden[rows, firsts]


def predicate_targets(sentence: Sentence) -> list[int]:
    """1 at verbs with a frame, 0 at other words."""
    verbs = {verb for verb, _ in sentence.frames}
    return [int(i in verbs) for i in range(len(sentence.words))]


def head_targets(sentence: Sentence) -> list[int]:
    """The index of every word's head, of a root its own; -100 where it is not known."""
    if not sentence.heads:
        return [-100] * len(sentence.words)
    return [head - 1 if head else i for i, head in enumerate(sentence.heads)]


def batch_loss(
    model: Model, batch: Sequence[Sentence], labels: dict[str, int]
) -> Tensor:
    """The sum of the three losses of a batch."""
    words = read_words(model, batch)
    mask = padded([[1] * len(s.words) for s in batch], 0)

    scores = model.predicate(words).squeeze(-1)
    targets = padded([predicate_targets(s) for s in batch], -100)
    chosen = targets >= 0
    loss = PREDICATE_WEIGHT * functional.binary_cross_entropy_with_logits(
        scores[chosen], targets[chosen].float()
    )

    arcs = model.dependencies(words)
    arcs = arcs + (mask[:, None, :].to(arcs.dtype) - 1) * 1e4
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
            verbs.append(verb)
            tags.append([labels.get(name, 0) for name in names])

    if rows:
        index = torch.tensor(rows)
        scored = model.labeller(words[index], mask[index], torch.tensor(verbs))
        wanted = padded(tags, -100)
        missing = scored.shape[1] - wanted.shape[1]
        wanted = functional.pad(wanted, (0, missing), value=-100)
        loss = loss + functional.cross_entropy(
            scored.flatten(0, 1), wanted.flatten(), ignore_index=-100
        )

    return loss


def forbidden(names: Sequence[str]) -> Tensor:
    """[from, to]: 0, or very negative where BIO allows no such step; last: the start."""
    steps = torch.zeros(len(names) + 1, len(names))
    for after, name in enumerate(names):
        if name.startswith("I-"):
            steps[:, after] = -1e4
            for before, other in enumerate(names):
                if other[2:] == name[2:]:
                    steps[before, after] = 0
    return steps


def best_path(scores: Tensor, steps: Tensor) -> list[int]:
    """Viterbi over the log-probabilities [words, labels]."""
    total = scores[0] + steps[-1]
    back = []

    for row in scores[1:]:
        candidates = total[:, None] + steps[:-1]
        total, best = candidates.max(0)
        total = total + row
        back.append(best)

    path = [int(total.argmax())]
    for best in reversed(back):
        path.append(int(best[path[-1]]))
    return path[::-1]


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
    steps = forbidden(names)
    counts = [0] * 8

    for sentence in sentences:
        words = read_words(model, [sentence])
        mask = torch.ones(1, len(sentence.words))

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
            scored = model.labeller(words, mask, torch.tensor([verb]))
            path = best_path(scored[0].log_softmax(-1), steps)
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


def train(data: Path, encoder: Path, run: Path, minutes: float) -> None:
    """Trains until the time is over; writes RUN/state.pt as it goes."""
    run.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    sentences = read_split(data, "train", tokenizer)
    names = label_names(sentences)
    labels = {name: i for i, name in enumerate(names)}
    sentences = [s for s in sentences if len(s.pieces) <= LONGEST]
    dev = read_split(data, "dev", tokenizer)[::4]

    torch.manual_seed(1)
    config = json.loads((encoder / "config.json").read_text())
    model = Model(config, len(names))
    load_encoder(model.encoder, encoder)

    heads = [model.predicate, model.labeller, model.dependencies]
    groups = [
        {"params": [*model.encoder.layers.parameters()], "peak": RATE},
        {"params": [p for head in heads for p in head.parameters()], "peak": HEAD_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE, weight_decay=0.01)

    average = {k: v.clone() for k, v in model.state_dict().items()}
    step = 0
    passes = 0
    seconds = 0.0
    state = run / "state.pt"

    if state.exists():
        saved = torch.load(state)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        average = saved["average"]
        step = saved["step"]
        passes = saved["passes"]
        seconds = saved["seconds"]

    model.train()
    limit = minutes * 60
    started = time.monotonic() - seconds
    shown = saved_at = time.monotonic()

    while seconds < limit:
        for number, batch in enumerate(batches(sentences, seed=passes)):
            seconds = time.monotonic() - started
            if seconds >= limit:
                break

            rate = min(1.0, (step + 1) / 150) * (1 - seconds / limit)
            for group in optimizer.param_groups:
                group["lr"] = group["peak"] * rate

            optimizer.zero_grad()
            loss = batch_loss(model, batch, labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1

            # Early weights are far from where training goes: a short memory for them.
            keep = min(AVERAGE, (step + 1) / (step + 10))
            with torch.no_grad():
                for name, value in model.state_dict().items():
                    if not name.startswith(("encoder.words", "encoder.frozen")):
                        average[name].lerp_(value, 1 - keep)

            now = time.monotonic()
            if now - shown > 30:
                shown = now
                text = f"{seconds:.0f} s, pass {passes}, batch {number}, step {step}"
                print(f"{text}, loss {loss.item():.3f}", flush=True)
            if now - saved_at > 180:
                saved_at = now
                save(
                    run,
                    model,
                    optimizer,
                    average,
                    (step, passes, seconds),
                    names,
                )
        else:
            passes += 1
            figures = averaged_figures(config, average, dev, names)
            print(f"pass {passes}: {figures}", flush=True)

    save(
        run,
        model,
        optimizer,
        average,
        (step, passes, seconds),
        names,
    )
    print(averaged_figures(config, average, dev, names), flush=True)


def averaged_figures(
    config: dict[str, Any],
    average: dict[str, Tensor],
    sentences: Sequence[Sentence],
    names: Sequence[str],
) -> dict[str, float]:
    model = Model(config, len(names))
    model.load_state_dict(average)
    return evaluate(model, sentences, names)


def save(
    run: Path,
    model: Model,
    optimizer: torch.optim.Optimizer,
    average: dict[str, Tensor],
    counts: tuple[int, int, float],
    names: Sequence[str],
) -> None:
    """Writes all that goes on from here, and the weights to export, each whole."""
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "average": average,
        "step": counts[0],
        "passes": counts[1],
        "seconds": counts[2],
    }
    for name, value in {
        "state.pt": state,
        "weights.pt": {"model": average, "labels": list(names)},
    }.items():
        torch.save(value, run / f"{name}.new")
        (run / f"{name}.new").replace(run / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--minutes", type=float, default=70)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    train(arguments.data, arguments.encoder, arguments.run, arguments.minutes)


if __name__ == "__main__":
    main()
