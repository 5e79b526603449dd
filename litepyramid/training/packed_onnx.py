"""A packed classifier as one ONNX graph, in whole numbers of 8 bits, and back.

The graph reads a summary once (its own keys and values out) and is asked about units
(keys and values of the summary in, logits out). Tokens are not padded in linear layers,
only in attention, to the shapes that `place` has: see `litepyramid.judges.nli.asking`,
which runs it.

Linear layers: one scale a row of the activations, one a column of the weights,

    y = (round(x / s_x) · round(W / s_W)) s_x s_W + b

with the product in integers, exact on every processor: weights are within ±63, so that
two products of a byte and a weight fit into 16 bits where a processor adds them there.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.disk import write
from litepyramid.errors import loading, require
from litepyramid.judges.nli.asking import IDF, LENGTH, NEAR, PAST_KEY, PAST_VALUE
from litepyramid.types import Fields, FloatArray

_OPSET = 20
_FARTHEST = 63  # of a weight from 0: 7 bits
_ZERO = 128  # of activations, which are stored as bytes
_NEAR_LAYERS = 2  # from below, behind which the words of two texts are compared


def quantised(weights: Any) -> tuple[Any, Any]:
    """Weights (inputs, outputs) as int8 within ±63, and the scale of each column."""
    scale = np.abs(weights).max(axis=0) / _FARTHEST
    # A column of zeros alone: 0 / 0 would be no number.
    scale = np.maximum(scale, 1e-12).astype(np.float32)
    whole = np.clip(np.rint(weights / scale), -_FARTHEST, _FARTHEST)
    return whole.astype(np.int8), scale


class Graph:
    """Nodes and weights of a graph that is being written."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.weights: Fields = {}
        self.count = 0

    def weight(self, name: str, values: Any) -> str:
        """The name of a constant."""
        self.weights[name] = np.asarray(values)
        return name

    def node(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """The name of what an operator gives."""
        self.count += 1
        output = name or f"{kind}_{self.count}"
        node = self.onnx.helper.make_node(kind, [*inputs], [output], **attributes)
        self.nodes.append(node)
        return output

    def split(self, values: str, sizes: Sequence[int]) -> list[str]:
        """Parts of the last axis."""
        self.count += 1
        outputs = [f"split_{self.count}_{n}" for n in range(len(sizes))]
        several = self.weight(f"sizes_{self.count}", np.array(sizes, dtype=int))
        node = self.onnx.helper.make_node("Split", [values, several], outputs, axis=-1)
        self.nodes.append(node)
        return outputs

    def rows(self, values: str) -> tuple[str, str]:
        """Activations as bytes, with the scale of each row."""
        size = self.node("Abs", values)
        size = self.node("ReduceMax", size, "last_axis", keepdims=1)
        size = self.node("Max", size, "least")
        scale = self.node("Mul", size, "one_127th")

        # The operator divides, rounds half to even and adds the zero in one go.
        each = self.node("Squeeze", scale, "last_axis")
        zeros = self.node("Expand", "zero", self.node("Shape", each))
        whole = self.node("QuantizeLinear", values, each, zeros, axis=0)
        return whole, scale

    def constants(self) -> None:
        """What `rows` and `linear` compute with."""
        self.weight("zero", np.array(_ZERO, dtype=np.uint8))
        self.weight("one_127th", np.array(1 / 127, dtype=np.float32))
        self.weight("least", np.array(1e-10, dtype=np.float32))
        self.weight("last_axis", np.array([-1], dtype=int))

    def written(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """The model of all nodes and weights."""
        helper = self.onnx.helper
        weights = []
        for name, values in self.weights.items():
            weights.append(self.onnx.numpy_helper.from_array(values, name))
        built = helper.make_graph(self.nodes, "packed", inputs, outputs, weights)
        opset = [helper.make_opsetid("", _OPSET)]
        return helper.make_model(built, opset_imports=opset, ir_version=9)

    def dense(self, row: tuple[str, str], name: str, module: Any) -> str:
        """A linear layer of torch, whose weights are (outputs, inputs)."""
        return self.linear(row, name, _array(module.weight).T, _array(module.bias))

    def linear(self, row: tuple[str, str], name: str, weights: Any, bias: Any) -> str:
        """A linear layer of quantised rows; its weights are (inputs, outputs)."""
        whole, scale = quantised(weights)
        factor = self.weight(f"{name}.weight.int8", whole)
        product = self.node("MatMulInteger", row[0], factor, "zero")
        product = self.node("Cast", product, to=self.onnx.TensorProto.FLOAT)
        product = self.node("Mul", product, row[1])
        product = self.node("Mul", product, self.weight(f"{name}.weight.scale", scale))
        return self.node("Add", product, self.weight(f"{name}.bias", bias))

    def norm(self, values: str, name: str, module: Any) -> str:
        """Layer normalisation."""
        return self.node(
            "LayerNormalization",
            values,
            self.weight(f"{name}.weight", _array(module.weight)),
            self.weight(f"{name}.bias", _array(module.bias)),
            axis=-1,
            epsilon=module.eps,
        )


def _array(values: Any) -> Any:
    return values.detach().cpu().float().numpy()


def export_packed(model: Any, path: Path, idf: FloatArray | None = None) -> None:
    """Writes ``model.onnx`` of a BERT classifier that reads packs; with the weights of
    the word pieces, the words of texts are outputs too."""
    onnx = require("onnx", extra="train", purpose="exporting a model")
    graph = Graph(onnx)
    config = model.config
    heads = config.num_attention_heads
    width = config.hidden_size // heads

    graph.constants()
    # Scores of attention are divided by the root of their width, in the query.
    graph.weight("root", np.array(width**-0.5, dtype=np.float32))
    graph.weight("flat", np.array([-1, config.hidden_size], dtype=int))
    graph.weight("one_axis", np.array([1], dtype=int))

    states = _embeddings(graph, model.bert.embeddings)
    seen = graph.node("Concat", "past_mask", "mask", axis=-1)
    *layers, top = range(config.num_hidden_layers)
    shape = heads, width
    for number in layers:
        states = _layer(graph, model, number, states, seen, shape)
        if number == _NEAR_LAYERS - 1 and idf is not None:
            _near(graph, states, idf)
    # Of the top layer only the [CLS] of each unit is needed.
    states = _layer(graph, model, top, states, seen, shape, asked=True)

    row = graph.rows(states)
    pooled = graph.dense(row, "bert.pooler.dense", model.bert.pooler.dense)
    pooled = graph.node("Tanh", pooled)
    head = graph.weight("classifier.weight.T", _array(model.classifier.weight).T)
    logits = graph.node("MatMul", pooled, head)
    bias = graph.weight("classifier.bias", _array(model.classifier.bias))
    graph.node("Add", logits, bias, name="logits")

    written = _finished(graph, len(layers) + 1, (heads, width), idf is not None)
    with loading("the model cannot be exported to ONNX"):
        write(path, [written.SerializeToString()])


def _embeddings(graph: Graph, module: Any) -> str:
    """The sum of word piece, position and type, normalised; word pieces are int8."""
    whole, scale = quantised(_array(module.word_embeddings.weight).T)
    table = graph.weight("bert.embeddings.word_embeddings.weight.int8", whole.T.copy())
    scales = graph.weight("bert.embeddings.word_embeddings.weight.scale", scale)
    words = graph.node("Gather", table, "input_ids")
    words = graph.node("Cast", words, to=graph.onnx.TensorProto.FLOAT)
    scaled = graph.node("Gather", scales, "input_ids")
    words = graph.node("Mul", words, graph.node("Unsqueeze", scaled, "last_axis"))

    name = "bert.embeddings"
    for kind, index in (("token_type", "types"), ("position", "positions")):
        values = _array(getattr(module, f"{kind}_embeddings").weight)
        halves = graph.weight(
            f"{name}.{kind}_embeddings.weight", values.astype(np.float16)
        )
        some = graph.node("Gather", halves, index)
        some = graph.node("Cast", some, to=graph.onnx.TensorProto.FLOAT)
        words = graph.node("Add", words, some)

    return graph.norm(words, f"{name}.LayerNorm", module.LayerNorm)


def _layer(
    graph: Graph,
    model: Any,
    number: int,
    states: str,
    seen: str,
    shape: tuple[int, int],
    *,
    asked: bool = False,
) -> str:
    """A layer of the encoder; of the top one, only what is `asked`."""
    name = f"bert.encoder.layer.{number}"
    layer = model.bert.encoder.layer[number]
    own, (heads, width) = layer.attention.self, shape
    size = heads * width

    # Keys and values of all tokens, queries of those that go on.
    row = graph.rows(states)
    keys = np.concatenate([_array(own.key.weight), _array(own.value.weight)]).T
    bias = np.concatenate([_array(own.key.bias), _array(own.value.bias)])
    both = graph.linear(row, f"{name}.attention.self.key_value", keys, bias)
    key, value = graph.split(both, [size, size])
    if asked:
        states = graph.node("Gather", states, "asked", axis=0)
        whole, scale = row
        whole = graph.node("Gather", whole, "asked", axis=0)
        row = whole, graph.node("Gather", scale, "asked", axis=0)

    query = graph.dense(row, f"{name}.attention.self.query", own.query)
    query = graph.node("Mul", query, "root")

    def split(values: str, index: str, order: Sequence[int], name: str = "") -> str:
        """(tokens, size) as (units, heads, places, width), or with the last two
        turned."""
        if index:
            values = graph.node("Gather", values, index, axis=0)
        else:
            values = graph.node("Unsqueeze", values, "one_axis")
        shape_of = graph.weight("by_head", np.array([0, 0, heads, width], dtype=int))
        values = graph.node("Reshape", values, shape_of)
        return graph.node(
            "Transpose",
            values,
            perm=[*order],
            name=name,
        )

    key = split(key, "place", (0, 2, 3, 1), f"key_{number}")
    value = split(value, "place", (0, 2, 1, 3), f"value_{number}")
    query = split(query, "" if asked else "place", (0, 2, 1, 3))

    # The summary's part and the unit's own part of the scores, in one softmax.
    far = graph.node("MatMul", query, PAST_KEY.format(number))
    near = graph.node("MatMul", query, key)
    scores = graph.node("Concat", far, near, axis=-1)
    scores = graph.node("Softmax", graph.node("Add", scores, seen), axis=-1)
    cut = graph.node(
        "Shape",
        "past_mask",
        start=3,
        end=4,
    )
    rest = graph.node(
        "Shape",
        "mask",
        start=3,
        end=4,
    )
    graph.count += 1
    shares = [f"far_{graph.count}", f"near_{graph.count}"]
    sizes = graph.node("Concat", cut, rest, axis=0)
    graph.nodes.append(
        graph.onnx.helper.make_node("Split", [scores, sizes], shares, axis=-1)
    )
    mixed = graph.node(
        "Add",
        graph.node("MatMul", shares[0], PAST_VALUE.format(number)),
        graph.node("MatMul", shares[1], value),
    )

    mixed = graph.node("Transpose", mixed, perm=[0, 2, 1, 3])
    mixed = graph.node("Reshape", mixed, "flat")
    if not asked:
        mixed = graph.node("Gather", mixed, "back", axis=0)

    # What attention gives, and the two layers behind it.
    part = layer.attention.output
    mixed = graph.dense(graph.rows(mixed), f"{name}.attention.output.dense", part.dense)
    states = graph.node("Add", mixed, states)
    states = graph.norm(states, f"{name}.attention.output.LayerNorm", part.LayerNorm)

    row = graph.rows(states)
    wide = graph.dense(row, f"{name}.intermediate.dense", layer.intermediate.dense)
    row = graph.rows(graph.node("Gelu", wide))
    wide = graph.dense(row, f"{name}.output.dense", layer.output.dense)
    states = graph.node("Add", wide, states)

    return graph.norm(states, f"{name}.output.LayerNorm", layer.output.LayerNorm)


def _near(graph: Graph, states: str, idf: FloatArray) -> None:
    """The direction of each token's state in whole numbers, and its weight."""
    length = graph.node("ReduceL2", states, "last_axis", keepdims=1)
    unit = graph.node("Div", states, length)
    whole = graph.node("Mul", unit, graph.weight("length", np.float32(LENGTH)))
    graph.node("Round", whole, name=NEAR)

    table = graph.weight("idf.halves", idf.astype(np.float16))
    weight = graph.node("Gather", table, "input_ids")
    graph.node("Cast", weight, to=graph.onnx.TensorProto.FLOAT, name=IDF)


def _finished(graph: Graph, layers: int, shape: tuple[int, int], words: bool) -> Any:
    """The model of a graph's nodes and weights, with its inputs and outputs."""
    onnx = graph.onnx
    heads, width = shape
    kinds = onnx.TensorProto
    info = onnx.helper.make_tensor_value_info

    inputs = [
        info(name, kinds.INT64, ["tokens"])
        for name in ("input_ids", "positions", "types", "back")
    ]
    inputs += [
        info("asked", kinds.INT64, ["units"]),
        info("place", kinds.INT64, ["units", "places"]),
        info("mask", kinds.FLOAT, ["units", 1, 1, "places"]),
        info("past_mask", kinds.FLOAT, ["units", 1, 1, "past"]),
    ]
    outputs = [info("logits", kinds.FLOAT, ["units", 3])]
    if words:
        outputs.append(info(NEAR, kinds.FLOAT, ["tokens", heads * width]))
        outputs.append(info(IDF, kinds.FLOAT, ["tokens"]))

    for number in range(layers):
        far = [1, heads, width, "past"], [1, heads, "past", width]
        near = ["units", heads, width, "places"], ["units", heads, "places", width]
        for k, name in enumerate(("key", "value")):
            past = (PAST_KEY, PAST_VALUE)[k].format(number)
            inputs.append(info(past, kinds.FLOAT, far[k]))
            outputs.append(info(f"{name}_{number}", kinds.FLOAT, near[k]))

    return graph.written(inputs, outputs)


def read_packed(path: Path, hidden: int) -> Fields:
    """The weights in a graph that `export_packed` wrote, by transformers' names, in
    float32."""
    onnx = require("onnx", extra="train", purpose="fine-tuning an ONNX model")
    stored = {}
    for weight in onnx.load(str(path), load_external_data=False).graph.initializer:
        stored[weight.name] = onnx.numpy_helper.to_array(weight)

    weights = {}
    for name, values in stored.items():
        if name.endswith(".weight.int8"):
            name = name.removesuffix(".int8")
            scale = stored[f"{name}.scale"]
            if name.startswith("bert.embeddings."):
                weights[name] = values * scale[:, None]
            else:
                weights[name] = (values * scale).T
        elif name == "classifier.weight.T":
            weights["classifier.weight"] = values.T
        elif name.endswith((".weight", ".bias")):
            weights[name] = values

    for name in [*weights]:
        if ".key_value." in name:
            both = weights.pop(name)
            weights[name.replace("key_value", "key")] = both[:hidden]
            weights[name.replace("key_value", "value")] = both[hidden:]

    return {n: np.array(v, dtype=np.float32) for n, v in weights.items()}
