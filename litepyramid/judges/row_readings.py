"""Which row of a text a unit is read against."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from litepyramid.judges.lexical.features import Vocabulary
from litepyramid.judges.lexical.lexical_judge import content_words
from litepyramid.structure import Row, row_of

Stems = frozenset[int]


class RowReading(NamedTuple):
    """A row as a text; whether a unit is read against it alone, not against the whole
    text too."""

    text: str
    alone: bool


class Table:
    """The rows of a text, made ready to be held against units; of prose none."""

    def __init__(self, rows: Sequence[Row], words: Vocabulary) -> None:
        self.rows = rows
        self._words = words
        cells = [[self._stems(cell.value) for cell in row.cells] for row in rows]
        # What stands in every row tells none from another.
        common = frozenset.intersection(*map(_all, cells)) if rows else frozenset()
        self._cells = [[cell - common for cell in row] for row in cells]
        self._heads = [[self._stems(cell.head) for cell in row.cells] for row in rows]

    def row_for(self, unit: str) -> RowReading | None:
        """The row that holds most of a unit's words; None if the text is read as a
        whole.

        A row is read alone if the unit's words stand in several rows and in other
        columns there, as in *Team costs $29*: the name of one, the price of another.
        """
        if not self.rows:
            return None
        stems = self._stems(unit)
        found = [[cell & stems for cell in row] for row in self._cells]
        most = max(range(len(found)), key=lambda n: _held(found[n]))
        best = found[most]
        if not any(best):
            return None

        inside = _all(best)
        mixed = False
        for row in found:
            elsewhere = _columns(row, inside)
            # Two of one column are compared, or told together.
            if elsewhere & _columns(best, _all(row)):
                return None
            mixed = mixed or bool(elsewhere)

        if mixed:
            return RowReading(self.rows[most].text, True)
        return self._narrowed(most, best, stems)

    def _narrowed(
        self, number: int, found: Sequence[Stems], stems: Stems
    ) -> RowReading:
        """A row; only its name and what the unit names, if it says of one column what
        stands in another."""
        row = self.rows[number]
        heads = self._heads[number]
        common = _all([a & b for a, b in combinations(heads, 2)])
        named = {k for k, head in enumerate(heads) if k and (head - common) & stems}
        others = {k for k, cell in enumerate(found) if cell} - {0, *named}
        if named and others and not all(found[k] for k in named):
            cells = [cell for k, cell in enumerate(row.cells) if not k or k in named]
            return RowReading(row_of(cells).text, True)
        return RowReading(row.text, False)

    def _stems(self, text: str) -> Stems:
        return frozenset(content_words(text, self._words))


def _all(cells: Sequence[Stems]) -> Stems:
    return frozenset().union(*cells)


def _columns(cells: Sequence[Stems], but: Stems) -> set[int]:
    """The columns that hold words, but for some."""
    return {column for column, cell in enumerate(cells) if cell - but}


def _held(cells: Sequence[Stems]) -> tuple[int, int]:
    """How many words a row holds; of as many, those in its first columns count more."""
    first = next((k for k, cell in enumerate(cells) if cell), len(cells))
    return len(_all(cells)), -first
