"""Write the embedded role labeller: two ONNX graphs in whole numbers of 8 bits.

    python scripts/train/roles_onnx.py RUN litepyramid/embedded/roles --threshold 0
    python scripts/train/roles_onnx.py --measure DATA litepyramid/embedded/roles

The second line measures what the first one wrote, on the dev and test parts.

RUN is what ``roles.py`` wrote. ``sentence.onnx`` takes vectors of word pieces (those of
the judge) and gives hidden states and a score for each being a predicate;
``predicate.onnx`` takes such states and distances from a predicate, and gives
log-probabilities of tags for some of them. Linear layers are those of the judge
(`litepyramid.training.packed_onnx`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from roles import JUDGE, SHARED_LAYERS, f1, read_roles, spans

from litepyramid.training.packed_onnx import Graph
from litepyramid.units.parsers.roles import RoleLabeller, word_vectors

PLACES = 512
HEADS = 12


class Part:
    """A graph of some layers, with their weights by name."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights = weights
        self.graph = Graph(onnx)
        self.width = weights["encoder.norm.weight"].shape[0]
        each = self.width // HEADS
        self.graph.constants()
        self.graph.weight("root", np.array(each**-0.5, dtype=np.float32))
        self.graph.weight("flat", np.array([-1, self.width], dtype=np.int64))
        self.graph.weight("by_head", np.array([0, 0, HEADS, each], dtype=np.int64))

    def linear(self, values: str, name: str) -> str:
        """A quantised linear layer."""
        weight = self.weights[f"{name}.weight"].T
        row = self.graph.rows(values)
        return self.graph.linear(row, name, weight, self.weights[f"{name}.bias"])

    def exact(self, values: str, name: str) -> str:
        """A linear layer in float32, for what decides."""
        weight = self.graph.weight(f"{name}.weight.T", self.weights[f"{name}.weight"].T)
        bias = self.graph.weight(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.graph.node("Add", self.graph.node("MatMul", values, weight), bias)

    def norm(self, values: str, name: str) -> str:
        """Layer normalisation."""
        parts = [
            self.graph.weight(f"{name}.{kind}", self.weights[f"{name}.{kind}"])
            for kind in ("weight", "bias")
        ]
        kind = "LayerNormalization"
        return self.graph.node(kind, values, *parts, axis=-1, epsilon=1e-12)

    def added(self, values: str, name: str, index: str) -> str:
        """Values with rows of a table, which is stored in halves."""
        table = self.weights[f"{name}.weight"][:PLACES].astype(np.float16)
        rows = self.graph.weight(f"{name}.weight", table)
        some = self.graph.node("Gather", rows, index)
        some = self.graph.node("Cast", some, to=onnx.TensorProto.FLOAT)
        return self.graph.node("Add", values, some)

    def layer(self, states: str, name: str) -> str:
        """A layer of the encoder; `place` and `back` lead into attention and out."""
        graph = self.graph
        parts = graph.split(self.linear(states, f"{name}.qkv"), [self.width] * 3)
        parts[0] = graph.node("Mul", parts[0], "root")
        orders = ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))
        turned = []

        for part, order in zip(parts, orders, strict=True):
            padded = graph.node("Gather", part, "place", axis=0)
            padded = graph.node("Reshape", padded, "by_head")
            turned.append(graph.node("Transpose", padded, perm=[*order]))

        query, key, value = turned
        scores = graph.node("Add", graph.node("MatMul", query, key), "mask")
        shares = graph.node("Softmax", scores, axis=-1)
        mixed = graph.node("MatMul", shares, value)
        mixed = graph.node("Transpose", mixed, perm=[0, 2, 1, 3])
        mixed = graph.node("Reshape", mixed, "flat")
        mixed = graph.node("Gather", mixed, "back", axis=0)

        mixed = graph.node("Add", states, self.linear(mixed, f"{name}.out"))
        states = self.norm(mixed, f"{name}.norm1")
        wide = graph.node("Gelu", self.linear(states, f"{name}.up"))
        wide = graph.node("Add", states, self.linear(wide, f"{name}.down"))
        return self.norm(wide, f"{name}.norm2")

    def written(
        self, inputs: dict[str, Sequence[Any]], outputs: Sequence[str]
    ) -> bytes:
        """The graph; inputs that begin in capitals are float32."""
        info = onnx.helper.make_tensor_value_info
        kinds = onnx.TensorProto
        shapes = {
            **inputs,
            "place": ["texts", "places"],
            "back": ["pieces"],
            "mask": ["texts", 1, 1, "places"],
        }
        real = ("words", "states", "mask")
        taken = [
            info(name, kinds.FLOAT if name in real else kinds.INT64, shape)
            for name, shape in shapes.items()
        ]
        given = [info(name, kinds.FLOAT, None) for name in outputs]
        return bytes(self.graph.written(taken, given).SerializeToString())


def sentence_graph(weights: dict[str, Any]) -> bytes:
    """Vectors of word pieces to states, and the score of a predicate."""
    part = Part(weights)
    states = part.added("words", "encoder.places", "positions")
    states = part.norm(states, "encoder.norm")
    for number in range(SHARED_LAYERS):
        states = part.layer(states, f"encoder.lower.{number}")

    part.graph.node("Identity", states, name="states")
    scores = part.exact(states, "predicate")
    part.graph.node("Identity", scores, name="scores")
    shapes = {"words": ["pieces", part.width], "positions": ["pieces"]}
    return part.written(shapes, ["states", "scores"])


def predicate_graph(weights: dict[str, Any]) -> bytes:
    """States and distances from a predicate to log-probabilities of tags."""
    part = Part(weights)
    states = part.added("states", "encoder.distance", "apart")
    layers = {name.split(".")[2] for name in weights if ".upper." in name}
    for number in range(len(layers)):
        states = part.layer(states, f"encoder.upper.{number}")

    states = part.graph.node("Gather", states, "firsts", axis=0)
    tags = part.exact(states, "tags")
    part.graph.node("LogSoftmax", tags, axis=-1, name="scores")
    shapes = {
        "states": ["pieces", part.width],
        "apart": ["pieces"],
        "firsts": ["words"],
    }
    return part.written(shapes, ["scores"])


def export(run: Path, folder: Path, threshold: float) -> None:
    """Writes the two graphs and ``roles.json``."""
    saved = torch.load(run / "weights.pt", weights_only=True)
    weights = {name: value.float().numpy() for name, value in saved["model"].items()}
    graphs = {
        "sentence.onnx": sentence_graph(weights),
        "predicate.onnx": predicate_graph(weights),
    }

    folder.mkdir(parents=True, exist_ok=True)
    for name, graph in graphs.items():
        (folder / name).write_bytes(graph)

    revision = hashlib.sha256(b"".join(graphs.values())).hexdigest()[:8]
    table, _ = word_vectors(JUDGE)
    settings = {
        "revision": revision,
        "words": zlib.crc32(table.tobytes()),
        "threshold": threshold,
        "labels": saved["labels"],
    }
    text = json.dumps(settings, ensure_ascii=False)
    (folder / "roles.json").write_text(text + "\n", encoding="utf-8")


def measure(data: Path, split: str, labeller: RoleLabeller) -> None:
    """Prints F1 of predicates, and of spans by role where predicates are told."""
    path = data / f"propbank_ewt/{split}.jsonl.gz"
    sentences = [sentence for _, sentence in read_roles(path)]
    words = [sentence.words for sentence in sentences]
    gold = [dict(sentence.frames) for sentence in sentences]

    verbs = Counter[str]()
    for right, frames in zip(gold, labeller.frames(words), strict=True):
        found = {frame.verb for frame in frames}
        verbs.update(right=len(found & {*right}), found=len(found), true=len(right))

    right, found, true = Counter[str](), Counter[str](), Counter[str]()
    told = labeller.frames(words, [sorted(verbs_of) for verbs_of in gold])
    for frames, tags in zip(told, gold, strict=True):
        for frame in frames:
            ours, wanted = spans(frame.tags), spans(tags[frame.verb])
            right.update(role for *_, role in ours & wanted)
            found.update(role for *_, role in ours)
            true.update(role for *_, role in wanted)

    precision = 100 * right.total() / found.total()
    recall = 100 * right.total() / true.total()
    whole = f1(right.total(), found.total(), true.total())
    print(
        f"{split}: predicates {f1(verbs['right'], verbs['found'], verbs['true']):.1f}"
    )
    print(f"  spans {whole:.1f} (precision {precision:.1f}, recall {recall:.1f})")
    for role, count in true.most_common(16):
        print(f"  {role} {f1(right[role], found[role], count):.1f} of {count}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="with --measure the data")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threshold", type=float, default=0.0)
    parser.add_argument("--measure", action="store_true")
    arguments = parser.parse_args()

    if arguments.measure:
        labeller = RoleLabeller(arguments.folder)
        for split in ("dev", "test"):
            measure(arguments.run, split, labeller)
    else:
        export(arguments.run, arguments.folder, arguments.threshold)


if __name__ == "__main__":
    main()
