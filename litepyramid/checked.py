"""Checks of input: JSON text, the shape of its values, numbers, cells."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from litepyramid.errors import InputError, LitepyramidError
from litepyramid.text import cut, whole
from litepyramid.types import Fields

T = TypeVar("T")

DEEPEST = 100
_ENDLESS = re.compile(r"[0-9]{301}")  # a float ends at 309 digits
_MOST = 2**31 - 1
# Python's float() takes more than people write: 1_000, Arabic digits, nan.
_NUMBER = re.compile(
    r"[ \t\r\n]*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
    r"|inf(?:inity)?)[ \t\r\n]*",
    re.IGNORECASE,
)
# What makes a spreadsheet run a cell; quotes before it are those that `guarded` adds.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def parse_json(
    text: str,
    *,
    path: str | Path | None = None,
    line: int | None = None,
    expected: str | None = None,
    error: type[LitepyramidError] = InputError,
    mend: bool = False,
) -> Any:
    """The value of a JSON text: no key twice, no endless number or half character, not
    too deep; `mend`: half characters become � (`text.whole`)."""
    try:
        value = _DECODER.decode(text)
        # Nothing nests deeper than there are brackets: most texts need no walk.
        brackets = text.count("[") + text.count("{")
        if brackets > DEEPEST and any(islice(_levels(value), DEEPEST + 1, None)):
            raise RecursionError

        # A number of many digits costs as much as a large file, and float overflows.
        if _ENDLESS.search(text):
            everything = chain.from_iterable(_levels(value))
            if any(isinstance(one, int) and abs(one) >= 10**300 for one in everything):
                raise ValueError

        # Half of a surrogate pair cannot be written as UTF-8 later.
        if "\\u" in text and re.search(r"\\u[dD][89a-fA-F]", text):
            read = json.dumps(value, ensure_ascii=False)
            if mend:
                value = _DECODER.decode(whole(read))
            else:
                read.encode()
    except json.JSONDecodeError as found:
        reason = f"{found.msg} at column {found.colno}"
        line = line or found.lineno
    except RecursionError:
        reason = "nested too deeply"
    except UnicodeEncodeError as found:
        half = found.object[found.start]
        reason = f"the half character \\u{ord(half):04x}"
    except KeyError as found:
        reason = f'the key "{found.args[0]}" occurs twice'
    except ValueError:  # Python itself stops at 4,300 digits
        reason = "a number of more than 300 digits"
    else:
        return value

    raise error(
        f"not valid JSON ({reason})",
        path=path,
        line=line,
        expected=expected,
    ) from None


def _object(pairs: list[tuple[str, Any]]) -> Fields:
    found = dict(pairs)
    # Readers differ in which of two values counts: neither does here.
    if len(found) < len(pairs):
        counts = Counter([key for key, _ in pairs])
        raise KeyError(counts.most_common(1)[0][0])
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _levels(value: Any) -> Iterator[list[Any]]:
    """The value, all values in it, all values in those, and so on."""
    level = [value]
    while level:
        yield level
        inside: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inside += value.values()
            elif isinstance(value, list):
                inside += value
        level = inside


def number(value: Any) -> float | None:
    """A number as JSON, a cell or Python gives it; None if it is none (True,
    ``1_000``)."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    # float(True) is 1.0, but nobody meant a number by it.
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def as_truth(value: Any) -> Any:
    """1 for true and 0 for false, as Python, JSON and CSV write them; all else as it
    is."""
    # Nearly all are numbers, of which there may be millions.
    if type(value) in (float, int):
        return value
    return {"true": 1, "false": 0}.get(str(value).strip().lower(), value)


def is_missing(value: Any) -> bool:
    """Whether a value is none: None, NaN, and what pandas writes for them."""
    if isinstance(value, float | np.floating | Decimal):
        return bool(value != value)
    # NA equals nothing, and not even that can be asked of it.
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def guarded(cell: str) -> str:
    """A text for a CSV cell that no spreadsheet takes for a formula; `unguarded` gives
    it back."""
    return f"'{cell}" if _FORMULA.match(cell) and number(cell) is None else cell


def unguarded(cell: str) -> str:
    """The text that `guarded` was given."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell


def as_type(
    kind: type[T],
    value: Any,
    *,
    what: str = "",
    path: str | Path | None = None,
    line: int | None = None,
    error: type[LitepyramidError] = InputError,
) -> T:
    """The value of a type that a JSON value holds, such as a dataclass with dataclasses
    in it.

    Strict: ``"1"`` is no number and true no integer. Whole numbers are from 0 to 2³¹ −
    1 where the type names no other bounds, floats finite. What has a default may be
    missing or null; other keys of an object do not matter. `what` is what the whole is
    if it does not fit: "a broken plan".
    """
    from pydantic_core import ValidationError

    shape: Any = kind
    try:
        built: T = _validator(shape).validate_python(value)
    except ValidationError as misfit:
        problem, expected = _misfit(value, misfit.errors(include_url=False))
    else:
        return built

    problem = f"{what} ({problem})" if what else problem
    raise error(
        problem,
        path=path,
        line=line,
        expected=expected,
    )


@cache
def _validator(kind: Any) -> Any:
    """pydantic's validator of a type, made strict."""
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    return SchemaValidator(_strict(TypeAdapter(kind).core_schema))


def _strict(schema: Any) -> Any:
    """A core schema in which each number and text is strict and null stands for a
    default."""
    if isinstance(schema, list):
        return [_strict(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    # pydantic takes "1" for 1 and true for 1 unless each type is strict.
    schema = {key: _strict(inner) for key, inner in schema.items()}
    kind = schema.get("type")
    if kind in _STRICT:
        return _STRICT[kind] | schema

    # Many writers put null for what they leave out; where the type itself knows null,
    # it means something.
    if kind == "default" and schema["schema"]["type"] != "nullable":
        function = {"type": "no-info", "function": _not_null}
        inner = {
            "type": "function-before",
            "function": function,
            "schema": schema["schema"],
        }
        return schema | {"schema": inner}

    return schema


_STRICT: dict[Any, Fields] = {
    "str": {"strict": True},
    "bool": {"strict": True},
    "int": {
        "strict": True,
        "ge": 0,
        "le": _MOST,
    },
    "float": {"strict": True, "allow_inf_nan": False},
    "list": {"fail_fast": True},
    "tuple": {"fail_fast": True},
}


def _not_null(value: Any) -> Any:
    if value is None:
        from pydantic_core import PydanticUseDefault

        raise PydanticUseDefault
    return value


def _misfit(value: Any, errors: list[Any]) -> tuple[str, str]:
    """The first place that does not fit with what is there, and what should be."""
    places = [_place(value, entry) for entry in errors]
    # Inside the one alternative that is of the right kind, the place is more exact.
    place = max((p for p in places if p[: len(places[0])] == places[0]), key=len)
    # One place may miss several alternatives: all that it could be is told.
    those = [entry for entry, at in zip(errors, places, strict=True) if at == place]
    name = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(
        "."
    )
    expected = dict.fromkeys(_expected(entry) for entry in those)
    if those[0]["type"] == "missing":
        return f"no {name}", ""
    quoted = json.dumps(those[0]["input"], ensure_ascii=False, default=str)

    return f"{name or 'the value'} is {cut(quoted)}", " or ".join(expected)


def _place(value: Any, entry: Mapping[str, Any]) -> tuple[int | str, ...]:
    """The keys that lead to an error, without the names of alternatives among them."""
    keys: list[int | str] = []
    for key in entry["loc"]:
        nth = (
            isinstance(value, list | tuple)
            and isinstance(key, int)
            and key < len(value)
        )
        if nth or (isinstance(value, Mapping) and key in value):
            value = value[key]
        elif entry["type"] != "missing" or len(keys) < len(entry["loc"]) - 1:
            continue
        keys.append(key)

    return tuple(keys)


_WORDS = {
    "string_type": "text",
    "bool_type": "true or false",
    "none_required": "null",
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    **dict.fromkeys(("dict_type", "dataclass_type", "mapping_type"), "an object"),
    **dict.fromkeys(("float_type", "finite_number"), "a finite number"),
    **dict.fromkeys(
        ("int_type", "greater_than_equal", "less_than_equal", "int_parsing_size"),
        f"a whole number from 0 to {_MOST}",
    ),
}


def _expected(entry: Mapping[str, Any]) -> str:
    """What should have been there, in words."""
    kind = entry["type"]
    about = entry.get("ctx", {})
    if kind == "literal_error":
        return f"one of {about['expected']}".replace("'", "").replace(" or ", ", ")
    if kind in ("too_long", "missing_positional_only_argument"):
        return f"a list of {about.get('max_length')}"
    return _WORDS.get(kind, str(entry["msg"]))
