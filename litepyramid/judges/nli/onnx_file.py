"""Whether an ONNX file holds all of its weights: read field by field, without loading
it.

A tensor may say that its numbers lie in another file, which could be any of the
user's. Such a file is refused, and so is whatever ``onnx.proto`` does not name: in it
a tensor could be overlooked.
"""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from litepyramid.errors import ModelError

Content = mmap.mmap | memoryview
"""The bytes of a file, which need not be in memory."""

_MOST_BYTES = 2**31
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5  # wire types of protobuf
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14  # of a tensor


@dataclass(frozen=True)
class Message:
    """The fields of one message of ``onnx.proto``, by number.

    Attributes:
        plain: Numbers, texts, and messages in which no tensor can stand.
        inner: Messages in which one can, by the name of the message.
    """

    plain: frozenset[int]
    inner: dict[int, str] = field(default_factory=dict)


def _message(plain: str, **inner: list[int]) -> Message:
    """A message of its plain fields, as text, and the fields of each inner message."""
    numbers = {number: name for name, all_ in inner.items() for number in all_}
    return Message(frozenset(map(int, plain.split())), numbers)


MESSAGES = {
    "ModelProto": _message(
        "1 2 3 4 5 6 8 14 26",
        GraphProto=[7],
        TrainingInfoProto=[20],
        FunctionProto=[25],
    ),
    "GraphProto": _message(
        "2 10 11 12 13 14 16", NodeProto=[1], TensorProto=[5], SparseTensorProto=[15]
    ),
    "NodeProto": _message("1 2 3 4 6 7 8 9 10", AttributeProto=[5]),
    "AttributeProto": _message(
        "1 2 3 4 7 8 9 13 14 15 20 21",
        TensorProto=[5, 10],
        GraphProto=[6, 11],
        SparseTensorProto=[22, 23],
    ),
    "FunctionProto": _message(
        "1 4 5 6 8 9 10 12 13 14", NodeProto=[7], AttributeProto=[11]
    ),
    "TrainingInfoProto": _message("3 4", GraphProto=[1, 2]),
    "SparseTensorProto": _message("3", TensorProto=[1, 2]),
    "TensorProto": _message("1 2 3 4 5 6 7 8 9 10 11 12 13 14 16"),
}
"""The messages in which a tensor can stand."""


def check_one_file(path: Path) -> None:
    """Sees that an ONNX model is whole in one file of at most 2 GB.

    Time grows with the number of fields; the file is not read into memory.

    Raises:
        ModelError: A tensor lies in another file, or the file is no ONNX model that
            can be understood.
    """
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise ModelError("the model is not in one file of at most 2 GB", path=path)
    if not size:
        raise ModelError("the file is empty", path=path, expected="an ONNX model")

    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        open_messages = [("ModelProto", 0, size)]
        while open_messages:
            name, start, end = open_messages.pop()
            message = MESSAGES[name]

            for number, begin, stop in fields(content, start, end, path):
                if inner := message.inner.get(number):
                    open_messages.append((inner, begin, stop))
                elif number not in message.plain:
                    raise _unknown(f"field {number} of a {name}", path)
                elif name == "TensorProto":
                    _check_within(content, number, begin, path)


def _check_within(content: mmap.mmap, number: int, begin: int, path: Path) -> None:
    """Refuses the two fields by which a tensor says that it lies elsewhere."""
    external = number == _EXTERNAL_DATA
    # 0 is the default: the numbers are here.
    if external or (number == _DATA_LOCATION and content[begin] != 0):
        raise ModelError(
            "the model is not in one file: a tensor lies in another one",
            path=path,
            expected="an ONNX model with its weights in it",
        )


def fields(
    content: Content, start: int, end: int, path: Path
) -> Iterator[tuple[int, int, int]]:
    """Number, begin and end of each field of a message; a number's value is its
    bytes."""
    position = start
    while position < end:
        key, position = _varint(content, position, end, path)
        number, kind = key >> 3, key & 7
        if not 0 < number < 2**29:
            raise _unknown(f"field {number}", path)

        begin = position
        if kind == _VARINT:
            _, position = _varint(content, position, end, path)
        elif kind == _LENGTH:
            length, begin = _varint(content, position, end, path)
            position = begin + length
        elif kind in (_FIXED32, _FIXED64):
            position += 4 if kind == _FIXED32 else 8
        else:
            raise _unknown(f"wire type {kind}", path)

        if position > end:
            raise _unknown("a field that is longer than the file", path)
        yield number, begin, position


def _varint(content: Content, position: int, end: int, path: Path) -> tuple[int, int]:
    """A number of protobuf, seven bits a byte, and where it ends."""
    value = 0
    for place in range(10):
        if position >= end:
            break
        byte = content[position]
        position += 1
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, position

    raise _unknown("a number that does not end", path)


def _unknown(what: str, path: Path) -> ModelError:
    return ModelError(
        f"is no ONNX model that is understood here: {what}",
        path=path,
        expected="an ONNX classifier",
    )
