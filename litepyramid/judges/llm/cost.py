"""What requests will cost, and requests and answers in the files of batch endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.files import read_json, read_jsonl
from litepyramid.tables import Column, Result, Table


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens read and written, in any currency."""

    read: float
    written: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """The price of some tokens.

        Example:
            >>> Price(2.0, 8.0).of(500_000, 100_000)
            1.8
        """
        return (self.read * tokens_in + self.written * tokens_out) / 1e6


@dataclass(frozen=True, slots=True)
class Estimate(Result):
    """What would be sent to an endpoint.

    Attributes:
        model: The model.
        pairs: Distinct pairs of a summary and a unit; or references to make units of.
        from_cache: Those that the cache holds.
        requests: Requests for the others, if each is answered at once.
        tokens_in: Tokens that the model reads, about.
        tokens_out: Tokens that it writes, about; what it thinks before is not counted.
        price: The price of both, by the prices given; None without.
    """

    model: str
    pairs: int
    from_cache: int
    requests: int
    tokens_in: int
    tokens_out: int
    price: float | None

    def to_tables(self) -> Sequence[Table]:
        """One row."""
        columns = (
            "pairs",
            Column("from_cache", "in the cache"),
            "requests",
            Column("tokens_in", "tokens in"),
            Column("tokens_out", "tokens out"),
            Column("price", digits=2),
        )
        note = "Tokens are estimated, one per four bytes."
        return [Table.of(f"Requests to {self.model}", columns, [self], [note])]


def read_prices(path: str | Path, model: str) -> Price:
    """The price of a model in ``{"MODEL": {"in": PRICE, "out": PRICE}}``, per million tokens.

    Raises:
        InputError: The file reads otherwise, or has no price of the model.
    """
    expected = '{"MODEL": {"in": PRICE, "out": PRICE}}, per million tokens'
    table = read_json(path, expected)
    shape = {model: {"in": float, "out": float}}
    check_shape(table, shape, what=f"no price for '{model}'", path=path)
    price = Price(table[model]["in"], table[model]["out"])
    if min(price.read, price.written) < 0:
        raise InputError(f"a price for '{model}' is below 0", path=path, expected=expected)
    return price


def read_answers(path: str | Path) -> Iterator[tuple[str, Any]]:
    """The answers of a batch endpoint: ids with chat completions, those that failed left out.

    Raises:
        InputError: A line is not an answer.
    """
    for number, line in read_jsonl(path):
        shape = {"custom_id": str, "response?": {"status_code?": int, "body?": object}}
        check_shape(line, shape, what="not an answer of a batch endpoint", path=path, line=number)
        response = line.get("response") or {}
        if response.get("status_code", 200) == 200 and not line.get("error"):
            yield line["custom_id"], response.get("body")
