"""The one shape in which every result is shown: a table with notes, and a JSON
object."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from decimal import Decimal
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from litepyramid._version import __version__
from litepyramid.checked import guarded, is_missing
from litepyramid.disk import write
from litepyramid.errors import InputError, require
from litepyramid.files import whole_ending
from litepyramid.terminal import folded, table_lines, terminal_width, wrap_note
from litepyramid.text import cut, latex_escape, legible, printable
from litepyramid.types import Fields, Names, Texts

Cell = str | int | float | None
_WIDEST = 200  # characters of a cell that are shown


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: Its key in CSV.
        header: The words above it; its name by default.
        digits: Decimals that are shown.
        signed: Whether numbers above 0 have a plus.
        above_zero: Whether small numbers are shown as "<0.001", as p-values are.
    """

    name: str
    header: str = ""
    digits: int = 3
    signed: bool = False
    above_zero: bool = False

    @property
    def title(self) -> str:
        """The words above the column."""
        return self.header or self.name


@dataclass(frozen=True)
class Table:
    """Rows under columns, with notes; parts of a wide one share the first `repeated`
    columns."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: Texts = ()
    repeated: int = 1

    @classmethod
    def of(
        cls,
        title: str,
        columns: Iterable[Column | str],
        entries: Iterable[Any],
        notes: Iterable[str] = (),
        repeated: int = 1,
    ) -> Table:
        """A row an entry: a tuple as it is, a mapping's values or else attributes by
        the columns' names."""
        named = [Column(c) if isinstance(c, str) else c for c in columns]

        rows = []
        for entry in entries:
            cells = entry
            if isinstance(entry, Mapping):
                cells = [entry[column.name] for column in named]
            elif not isinstance(entry, tuple):
                cells = [getattr(entry, column.name) for column in named]
            rows.append(tuple(cells))

        return cls(title, tuple(named), tuple(rows), tuple(notes), repeated)

    def without(self, *names: str) -> Table:
        """The table less the columns of these names."""
        shown = [i for i, column in enumerate(self.columns) if column.name not in names]
        columns = tuple(self.columns[i] for i in shown)
        rows = []
        for row in self.rows:
            rows.append(tuple([row[i] for i in shown]))
        return replace(self, columns=columns, rows=tuple(rows))

    def to_frame(self) -> Any:
        """A pandas frame, its columns by their names."""
        return frame(self.rows, [column.name for column in self.columns])

    @property
    def numeric(self) -> list[bool]:
        """Of each column, whether it holds a number: it is then aligned on the
        right."""
        numeric = [False] * len(self.columns)
        for row in self.rows:
            for i, cell in enumerate(row):
                numeric[i] |= isinstance(cell, int | float)
        return numeric


def frame(rows: Sequence[Any], columns: Sequence[str] | None = None) -> Any:
    """A pandas frame of rows; of mappings the columns are their keys."""
    pandas = require("pandas", extra="tables", purpose="a data frame")
    return pandas.DataFrame(rows, columns=columns)


class Result:
    """What every public result can do: a frozen dataclass inherits from it and defines
    `to_tables`.

    Its `repr` is one line, the title of its first table; a notebook shows the tables.
    `save` knows more endings where the class has `to_html()` (.html)
    or `to_figure()` (.pdf, .png, .svg, a matplotlib figure), and those of `forms`.
    """

    forms: ClassVar[Mapping[str, str]] = {}
    """Further endings, and the methods that write a file of that kind, given its
    path."""

    brief: ClassVar[int | None] = None
    """Which of its tables is printed although it is saved."""

    def __init_subclass__(cls) -> None:
        # A dataclass adds one of its own only where there is none.
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]
        cls.__eq__ = Result.__eq__  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        for value in vars(self).values():
            # Results share their arrays; numpy would change all of them at once.
            if hasattr(value, "setflags"):
                value.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same; NaN is equal to NaN."""
        return isinstance(other, type(self)) and self.to_json() == other.to_json()

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

    def to_json(self) -> Fields:
        """Everything as plain JSON values; NaN is None."""
        values = {}
        for key, value in self.json_entries().items():
            values[key] = plain([*value] if isinstance(value, Iterator) else value)
        return values

    def json_entries(self) -> Fields:
        """What `to_json` makes plain: the fields, without those marked `hidden`; a
        large list may be an iterator."""
        return record(self)

    def json_parts(self) -> Iterator[str]:
        """The text of `to_json`, in pieces: a line for each key, and for each entry of
        a list.

        The lines are as `json` writes them fastest: without indentation, in C.
        """

        def text(value: Any) -> str:
            return json.dumps(plain(value), ensure_ascii=False)

        made = {"made_by": f"litepyramid {__version__}"}
        before = "{"
        for key, value in (made | self.json_entries()).items():
            yield f"{before}\n {text(str(key))}: "
            before = ","

            if not isinstance(value, list | Iterator):
                yield text(value)
                continue

            start = "["
            end = "[]"
            for entry in value:
                yield f"{start}\n  {text(entry)}"
                start = ","
                end = "\n ]"

            yield end

        yield "{}\n" if before == "{" else "\n}\n"

    def to_csv(self) -> str:
        """The text of `to_csv_table`; an empty cell is NaN."""
        table = self.to_csv_table()
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow([column.name for column in table.columns])
        for row in table.rows:
            cells: list[Cell] = []
            for cell in row:
                if isinstance(cell, str):
                    cells.append(guarded(cell))
                else:
                    cells.append(None if cell != cell else cell)
            writer.writerow(cells)
        return buffer.getvalue()

    def to_table(self, *, colour: bool = False, brief: bool = False) -> str:
        """The tables as text, as wide as the terminal; `colour` with its
        codes; `brief` the one that is printed though the result is saved."""
        tables = self.to_tables()
        if brief:
            tables = [replace(tables[self.brief or 0], notes=())]
        return "\n".join(_text(table, colour) for table in tables)

    def to_latex(self) -> str:
        """The tables for a paper (booktabs), each with a caption and a label."""
        return "\n".join(_latex(table) for table in self.to_tables())

    def to_frame(self) -> Any:
        """A pandas frame of `to_csv_table`, its columns by their names."""
        return self.to_csv_table().to_frame()

    @classmethod
    def endings(cls) -> Names:
        """The endings of files that `save` writes."""
        known = (ending for ending, method in _METHODS.items() if hasattr(cls, method))
        return tuple(dict.fromkeys([*known, *cls.forms]))

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the result, all or nothing, in the form that the file's ending names.

        These are ``.json``, ``.json.gz`` (compressed), ``.csv`` (one value per row),
        ``.tex``, ``.txt``, and what `endings` lists besides. A file that is there is
        replaced if it says of itself that litepyramid made it, or with `force`.

        Raises:
            InputError: The ending is another one, or the file cannot be written.
        """
        ending = whole_ending(path)
        if ending not in self.endings():
            expected = ", ".join(self.endings())
            raise InputError(f"unknown format '{ending}'", path=path, expected=expected)
        method = {**_METHODS, **self.forms}[ending]
        if method == "to_figure":
            content: Any = _drawn(self, Path(path), ending[1:])
        else:
            content = getattr(self, method)()
        pieces = [content] if isinstance(content, str | bytes) else content
        write(path, pieces, force=force)


_METHODS = {
    ".json": "json_parts",
    ".json.gz": "json_parts",
    ".csv": "to_csv",
    ".tex": "to_latex",
    ".txt": "to_table",
    ".html": "to_html",
    **dict.fromkeys((".pdf", ".png", ".svg"), "to_figure"),
}

_FONTS = (
    *("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP"),
    *("PingFang SC", "Microsoft YaHei", "Arial Unicode MS"),
    *("Noto Sans Arabic", "Noto Sans Devanagari", "Noto Sans"),
)
"""Fonts for figures, in order: each letter is taken from the first that has it."""

_DOTS, _MOST_DOTS = 160, 60_000  # dots an inch of a bitmap, and across it


def _drawn(result: Any, path: Path, form: str) -> bytes:
    """A result's figure as a file (TrueType fonts, no date), the signature in its
    metadata."""
    matplotlib = require("matplotlib", extra="report", purpose="a figure")
    from matplotlib.font_manager import fontManager
    from matplotlib.text import Text

    figure = result.to_figure()
    # Matplotlib warns of each font that is named and not there.
    installed = {font.name for font in fontManager.ttflist}
    fonts = [name for name in _FONTS if name in installed]
    for shown in figure.findobj(Text):
        shown.set_parse_math(False)  # people's names may hold dollar signs
        shown.set_fontfamily(fonts)
    software = f"litepyramid {__version__}"
    signature = str(result.signature)
    metadata = {
        "png": {"Software": software, "Description": signature},
        "pdf": {
            "Creator": software,
            "Subject": signature,
            "CreationDate": None,
        },
        "svg": {
            "Creator": software,
            "Description": signature,
            "Date": None,
        },
    }

    # A bitmap of more dots across than 65,535 cannot be written.
    dots = min(_DOTS, _MOST_DOTS / max(figure.get_size_inches()))
    options = {
        "format": form,
        "dpi": dots,
        "metadata": metadata[form],
    }
    fixed = {
        "pdf.fonttype": 42,
        # Ids and dates would make each file of one figure another one.
        "svg.hashsalt": "litepyramid",
        "font.family": fonts,
    }

    file = io.BytesIO()
    with (
        matplotlib.rc_context(fixed),
        warnings.catch_warnings(record=True) as missing,
    ):
        figure.savefig(
            file,
            **options,
            bbox_inches="tight",
            pad_inches=0.06,
        )

    if any("Glyph" in str(one.message) for one in missing):
        warnings.warn(
            f"{path}: no installed font has some letters of the names; install one, "
            "such as Noto Sans CJK",
            stacklevel=3,
        )
    return file.getvalue()


HIDDEN = {"hidden": True}
"""The metadata of a dataclass field that `record` leaves out."""


def hidden(**options: Any) -> Any:
    """A dataclass field that `Result.to_json` leaves out: too large, or told by other
    fields."""
    return field(metadata=HIDDEN, **options)


def record(value: Any) -> Fields:
    """A dataclass as a JSON object: its fields, those marked `hidden` left out."""
    values = {}
    for f in fields(value):
        if "hidden" not in f.metadata:
            values[f.name] = plain(getattr(value, f.name))
    return values


def row(entry: Any, **more: Any) -> Fields:
    """A dataclass's fields as they are, and more, as an entry of `Table.of`."""
    return {f.name: getattr(entry, f.name) for f in fields(entry)} | more


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: records opened, arrays as lists, what is missing or
    infinite None, paths as text."""
    if hasattr(value, "tolist"):  # before `to_json`: a pandas Series has both
        value = value.tolist()
    elif hasattr(value, "to_json"):
        value = value.to_json()
    elif is_dataclass(value):
        return record(value)

    if is_missing(value):
        return None
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def show(cell: Cell, column: Column) -> str:
    """One cell as people read it; None and NaN are a dash."""
    if is_missing(cell):
        return "–"
    if isinstance(cell, float):
        if column.above_zero and 0 < cell < 0.5 * 10**-column.digits:
            return f"<{10**-column.digits:.{column.digits}f}"
        return f"{cell:{'+' if column.signed else ''}z.{column.digits}f}"
    return printable(str(cell))


def _text(table: Table, colour: bool) -> str:
    """A table as wide as the terminal."""
    width = terminal_width()
    titles = [column.title for column in table.columns]
    rows = []
    for cells in table.rows:
        shown = map(show, cells, table.columns)
        rows.append([cut(text, _WIDEST) for text in shown])

    lines = []
    for line in folded(legible(table.title), width) if table.title else ():
        lines.append(f"\x1b[1m{line}\x1b[0m" if colour else line)
    lines += table_lines(
        titles, rows, table.numeric, table.repeated, width, colour=colour
    )
    for note in table.notes:
        lines += wrap_note(legible(note), width)
    return "\n".join(lines) + "\n"


def _html(table: Table) -> str:
    def row(tag: str, cells: Iterable[str]) -> str:
        inside = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    rows = [row("th", [column.title for column in table.columns])]
    rows += [row("td", map(show, cells, table.columns)) for cells in table.rows]

    title = f"<p><b>{escape(printable(table.title))}</b></p>"
    notes = [f"<p><small>{escape(printable(note))}</small></p>" for note in table.notes]
    return f"{title}<table>{''.join(rows)}</table>{''.join(notes)}"


def _latex(table: Table) -> str:
    """A table of booktabs; an interval stands in one column, as [low, high]."""
    titles: list[str] = []
    aligned: list[str] = []
    columns: list[list[str]] = []

    for i, column in enumerate(table.columns):
        cells = [latex_escape(show(row[i], column)) for row in table.rows]
        if i and column.name == "high" and table.columns[i - 1].name == "low":
            level = table.columns[i - 1].title.removesuffix("low")
            titles[-1] = latex_escape(f"{level}interval")
            aligned[-1] = "c"
            ends = zip(columns[-1], cells, strict=True)
            # Braces: a bracket at the start of a row would be an option of \\.
            columns[-1] = [f"{{[}}{low}, {high}]" for low, high in ends]
        else:
            titles.append(latex_escape(column.title))
            aligned.append("r" if table.numeric[i] else "l")
            columns.append(cells)

    words = re.findall(r"[a-z0-9]+", table.title.lower().replace("²", "2"))
    lines = ["% Made by litepyramid"]
    lines += [f"% {printable(note)}" for note in table.notes]
    lines += [r"\begin{table}", r"\centering"]
    lines.append(rf"\caption{{{latex_escape(table.title)}}}")
    lines.append(rf"\label{{tab:{'-'.join(words[:4])}}}")
    lines.append(rf"\begin{{tabular}}{{{''.join(aligned)}}}")
    lines += [r"\toprule", " & ".join(titles) + r" \\", r"\midrule"]
    lines += [" & ".join(cells) + r" \\" for cells in zip(*columns, strict=True)]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]

    return "\n".join(lines) + "\n"
