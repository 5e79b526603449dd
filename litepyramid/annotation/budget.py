"""How many sentences a budget pays for."""

from __future__ import annotations

import math
from decimal import Decimal

from litepyramid.easiness.mix import human_count
from litepyramid.errors import InputError
from litepyramid.text import counted


def sentence_budget(
    total: int,
    *,
    sentences: int | None = None,
    human_share: float | None = None,
    cost: float | None = None,
    per_sentence: float | None = None,
    earlier: int = 0,
) -> int:
    """How many of `total` sentences the budget pays for; exactly one kind of budget must be given.

    Args:
        total: Number of sentences there are.
        sentences: Number of sentences.
        human_share: This share of them; the rest, which carry STUs, is rounded down as in a mix.
        cost: As many as this buys at `per_sentence`, rounded down.
        per_sentence: The price of one sentence.
        earlier: How many of them are in earlier plans, so that they are not paid for again.

    Raises:
        InputError: None or several ways, a negative number, more than there are, no price.

    Example:
        >>> sentence_budget(7, human_share=0.5), sentence_budget(40, cost=2.5, per_sentence=0.2)
        (4, 12)
    """
    check_price(per_sentence)
    given = [value for value in (sentences, human_share, cost) if value is not None]
    if len(given) != 1:
        raise InputError(
            f"the budget is given in {len(given)} ways",
            expected="one of --sentences N, --human-share X, --cost C with --per-sentence c",
        )
    if sentences is not None:
        return check_count(sentences, total - earlier)
    if human_share is not None:
        return check_count(human_count(human_share, total), total - earlier)
    if cost is None or not (math.isfinite(cost) and cost >= 0):
        raise InputError(f"a cost of {cost}", expected="0 or more")
    if per_sentence is None:
        raise InputError("a cost without a price", expected="--per-sentence with a number above 0")
    return min(total - earlier, int(Decimal(str(cost)) / Decimal(str(per_sentence))))


def check_price(per_sentence: float | None) -> None:
    """Raises InputError if there is a price and it is not a finite number above 0."""
    if per_sentence is not None and not (math.isfinite(per_sentence) and per_sentence > 0):
        raise InputError(
            f"a price of {per_sentence} per sentence",
            expected="--per-sentence with a number above 0",
        )


def check_count(sentences: int, left: int) -> int:
    """The same number, if there are that many sentences.

    Raises:
        InputError: It is negative, or more than are left.
    """
    if not 0 <= sentences <= left:
        raise InputError(
            f"a budget of {counted(sentences, 'sentence')}", expected=f"from 0 to {left}"
        )
    return sentences
