"""The one shape in which every result is shown: a table with notes, and a JSON
object."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, ClassVar, Literal

from litepyramid.checked import guarded, json_parts
from litepyramid.errors import InputError, require
from litepyramid.text import cut, latex_escape, legible, printable

Format = Literal["table", "json", "csv", "latex"]
Cell = str | int | float | None
_WIDEST = 200  # characters of a cell that are shown
_NARROWEST = 16  # to which a column of texts is folded before a table is split


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its key in CSV, its header, the decimals shown; `above_zero` as
    p-values are."""

    name: str
    header: str = ""
    digits: int = 3
    signed: bool = False
    above_zero: bool = False

    @property
    def title(self) -> str:
        """The words above the column."""
        return self.header or self.name


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, with notes; parts of a wide one share the first `repeated`
    columns."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    repeated: int = 1

    @classmethod
    def of(
        cls,
        title: str,
        columns: Iterable[Column | str],
        entries: Iterable[Any],
        notes: Iterable[str] = (),
    ) -> Table:
        """A row an entry: its attributes, or a mapping's values, by the columns'
        names."""
        named = tuple(Column(c) if isinstance(c, str) else c for c in columns)
        rows = (
            tuple(
                e[c.name] if isinstance(e, Mapping) else getattr(e, c.name)
                for c in named
            )
            for e in entries
        )
        return cls(title, named, tuple(rows), tuple(notes))

    def without(self, *names: str) -> Table:
        """The table less the columns of these names."""
        kept = [i for i, column in enumerate(self.columns) if column.name not in names]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in kept), rows=rows)

    @property
    def numeric(self) -> list[bool]:
        """Of each column, whether it holds a number: it is then aligned on the
        right."""
        columns = range(len(self.columns))
        return [
            any(isinstance(row[i], int | float) for row in self.rows) for i in columns
        ]


class Result:
    """What every public result can do: a frozen dataclass inherits from it and defines
    `to_tables`.

    Its `repr` is one line, the title of its first table; a notebook shows the tables.
    `save` knows more endings where the class has `to_html(path)` (.html),
    `to_npz(path)` (.npz) or `to_figure()` (.pdf, .png, .svg, a matplotlib figure), and
    those of `forms`.
    """

    __slots__ = ()

    forms: ClassVar[Mapping[str, str]] = {}
    """Further endings, and the methods that write a file of that kind, given its
    path."""

    def __init_subclass__(cls) -> None:
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]  # before a dataclass adds one

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {cut(self.to_tables()[0].title)}>"

    def _repr_html_(self) -> str:
        return "\n".join(_html(table) for table in self.to_tables())

    def to_tables(self) -> Sequence[Table]:
        """The result for people."""
        raise NotImplementedError

    def to_csv_table(self) -> Table:
        """The table for CSV and `to_frame`, one value per row; the first one by
        default."""
        return self.to_tables()[0]

    def to_json(self) -> dict[str, Any]:
        """The fields as plain JSON values, without those marked `hidden`; NaN is
        None."""
        return record(self)

    def json_entries(self) -> Mapping[str, Any]:
        """What `to_json` gives, in which a list may be an iterator: large ones are
        written so."""
        return self.to_json()

    def json_parts(self) -> Iterator[str]:
        """The text of `to_json`, in pieces."""
        return json_parts(self.json_entries(), plain)

    def to_table(self) -> str:
        """The tables as text, as wide as the terminal."""
        return "\n".join(_text(table) for table in self.to_tables())

    def to_frame(self) -> Any:
        """A pandas frame of `to_csv_table`, its columns by their names."""
        pandas = require("pandas", extra="tables", purpose="a data frame")
        table = self.to_csv_table()
        return pandas.DataFrame(
            table.rows, columns=[column.name for column in table.columns]
        )

    @classmethod
    def endings(cls) -> tuple[str, ...]:
        """The endings of files that `save` writes."""
        more = (ending for ending, method in _METHODS.items() if hasattr(cls, method))
        return tuple(dict.fromkeys([*_BASE, *more, *cls.forms]))

    def save(self, path: str | Path) -> None:
        """Writes the result, all or nothing, in the form that the file's ending names.

        These are ``.json``, ``.csv`` (one value per row), ``.tex``, ``.txt``, and what
        `endings` lists besides.
        """
        from litepyramid.files import atomic_write

        ending = Path(path).suffix.lower()
        if ending not in self.endings():
            expected = ", ".join(self.endings())
            raise InputError(f"unknown format '{ending}'", path=path, expected=expected)
        method = {**_METHODS, **self.forms}.get(ending, "")
        if method == "to_figure":
            _save_figure(self, Path(path), ending[1:])
        elif method:
            getattr(self, method)(path)
        else:
            parts = (
                self.json_parts()
                if ending == ".json"
                else [render(self, _BASE[ending])]
            )
            with atomic_write(path) as file:
                file.writelines(parts)


_METHODS = {".html": "to_html", ".npz": "to_npz"}
_METHODS |= dict.fromkeys((".pdf", ".png", ".svg"), "to_figure")
_BASE: dict[str, Format] = {
    ".json": "json",
    ".csv": "csv",
    ".tex": "latex",
    ".txt": "table",
}

_DOTS, _MOST_DOTS = 160, 60_000  # dots an inch of a bitmap, and across it


def _save_figure(result: Any, path: Path, form: str) -> None:
    """Writes a result's figure (TrueType fonts, no date), the signature in its
    metadata."""
    from litepyramid._version import __version__
    from litepyramid.files import atomic_write

    matplotlib = require("matplotlib", extra="report", purpose="a figure")
    text = require("matplotlib.text", extra="report", purpose="a figure")
    figure = result.to_figure()
    for shown in figure.findobj(text.Text):
        shown.set_parse_math(False)  # people's names may hold dollar signs
    software, signature = f"litepyramid {__version__}", str(result.signature)
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": software, "Description": signature},
        "pdf": {"Creator": software, "Subject": signature, "CreationDate": None},
        "svg": {"Creator": software, "Description": signature, "Date": None},
    }
    dots = min(_DOTS, _MOST_DOTS / max(figure.get_size_inches()))
    options = {"format": form, "dpi": dots, "metadata": metadata[form]}
    fixed = {"pdf.fonttype": 42, "svg.hashsalt": "litepyramid"}
    with atomic_write(path, binary=True) as file, matplotlib.rc_context(fixed):
        figure.savefig(file, **options, bbox_inches="tight", pad_inches=0.06)


HIDDEN = {"hidden": True}
"""The metadata of a dataclass field that `Result.to_json` leaves out."""


def hidden(**options: Any) -> Any:
    """A dataclass field that `Result.to_json` leaves out: too large, or told by other
    fields."""
    return field(metadata=HIDDEN, **options)


def record(value: Any) -> dict[str, Any]:
    """A dataclass as a JSON object: its fields, those marked `hidden` left out."""
    return {
        f.name: plain(getattr(value, f.name))
        for f in fields(value)
        if "hidden" not in f.metadata
    }


def row(entry: Any, **more: Any) -> dict[str, Any]:
    """A dataclass's fields as they are, and more, as an entry of `Table.of`."""
    return {f.name: getattr(entry, f.name) for f in fields(entry)} | more


def render(result: Result, form: Format) -> str:
    """The result as text in one of the forms, ending with a newline."""
    if form == "json":
        return "".join(result.json_parts())
    if form == "csv":
        return _csv(result.to_csv_table())
    if form == "latex":
        return "\n".join(_latex(table) for table in result.to_tables())
    return result.to_table()


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: records opened, arrays as lists, NaN None, paths as text."""
    if hasattr(value, "to_json"):
        value = value.to_json()
    elif is_dataclass(value):
        return record(value)
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def show(cell: Cell, column: Column) -> str:
    """One cell as people read it; None and NaN are a dash."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        if column.above_zero and 0 < cell < 0.5 * 10**-column.digits:
            return f"<{10**-column.digits:.{column.digits}f}"
        return f"{cell:{'+' if column.signed else ''}z.{column.digits}f}"
    return printable(str(cell))


def _text(table: Table) -> str:
    """A rich table, as wide as COLUMNS or the terminal say, else 80."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    buffer, width = io.StringIO(), max(40, shutil.get_terminal_size((80, 24)).columns)
    console = Console(file=buffer, width=width, color_system=None, highlight=False)
    if table.title:
        console.print(Text(legible(table.title)), overflow="fold")
    rows = [
        [cut(show(*c), _WIDEST) for c in zip(r, table.columns, strict=True)]
        for r in table.rows
    ]
    numeric, needed = table.numeric, []
    for i, column in enumerate(table.columns):
        longest = max((len(row[i]) for row in rows), default=0)
        shown = min(longest, 99 if numeric[i] else _NARROWEST)
        needed.append(max([shown, *map(len, column.title.split())]))
    parts = _parts(needed, table.repeated, width)
    for number, part in enumerate(parts):
        grid = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
        for i in part:
            grid.add_column(
                Text(table.columns[i].title),
                justify="right" if numeric[i] else "left",
                overflow="fold",
                min_width=needed[i],
            )
        for row in rows:
            if part is parts[-1] or any(row[i] for i in part[table.repeated :]):
                grid.add_row(*(Text(row[i]) for i in part))
        console.print(*[""] * bool(number), grid, sep="\n")
    for note in table.notes:
        for line in wrap_note(legible(note), width):
            console.print(Text(line), overflow="fold")
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def _parts(needed: Sequence[int], repeated: int, width: int) -> list[list[int]]:
    """The columns of each part of a table: the repeated ones, and those that fit next
    to them."""
    first = list(range(min(repeated, len(needed))))
    parts = [[*first]]
    for column in range(len(first), len(needed)):
        if (
            sum(needed[i] + 3 for i in (*parts[-1], column)) > width + 1
            and parts[-1] != first
        ):
            parts.append([*first])
        parts[-1].append(column)
    return parts


def wrap_note(note: str, width: int) -> list[str]:
    """A note in lines of at most `width`, broken at spaces and after the bars of a
    signature."""
    indent = " " * (len(note) - len(note.lstrip(" ")))
    lines = [indent]
    for piece in re.findall(r"[^ |]*[ |]|[^ |]+", note.lstrip(" ")):
        if len(lines[-1] + piece.rstrip()) > width and lines[-1].strip():
            lines.append(indent)
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _csv(table: Table) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.rows:
        known = (None if cell != cell else cell for cell in row)  # NaN is an empty cell
        writer.writerow(
            guarded(cell) if isinstance(cell, str) else cell for cell in known
        )
    return buffer.getvalue()


def _html(table: Table) -> str:
    def row(tag: str, cells: Sequence[str]) -> str:
        return (
            "<tr>"
            + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
            + "</tr>"
        )

    rows = [row("th", [column.title for column in table.columns])]
    rows += [row("td", list(map(show, cells, table.columns))) for cells in table.rows]
    notes = "".join(
        f"<p><small>{escape(printable(note))}</small></p>" for note in table.notes
    )
    return f"<p><b>{escape(printable(table.title))}</b></p><table>{''.join(rows)}</table>{notes}"


def _latex(table: Table) -> str:
    lines = [f"% {printable(note)}" for note in (table.title, *table.notes) if note]
    lines.append(
        r"\begin{tabular}{" + "".join("r" if n else "l" for n in table.numeric) + "}"
    )
    lines.append(r"\toprule")
    lines.append(" & ".join(latex_escape(c.title) for c in table.columns) + r" \\")
    lines.append(r"\midrule")
    for row in table.rows:
        cells = (
            show(cell, column) for cell, column in zip(row, table.columns, strict=True)
        )
        lines.append(" & ".join(latex_escape(cell) for cell in cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"
