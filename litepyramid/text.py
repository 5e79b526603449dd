"""Texts as one line, as people can read them safely, and numbers of things."""

import re

_BREAKS = frozenset("\t\n\r")
# Controls, line separators, marks of direction and other marks of no width, halves of
# characters; joiners and soft hyphens belong to words.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_QUOTED = re.compile(r"""(?<!\w)(['"])(.*?)\1(?!\w)""")
_LONGEST = 80

# Of Markdown and of encyclopaedias: **word**, `word`, [word](https://…), word [1].
_EMPHASIS = re.compile(
    r"(?<![\w*`])(\*{1,3}|`)(?=[\w\"“'(])([^*`\n]+)(?<=\S)\1(?![\w*`])"
)
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(https?://[^\s()]*\)")
_CITATION = re.compile(r"(?:^|\s|(?<=[^\W\d_]{2})|(?<=[.,;:!?\"”'’)\]]))\[\d{1,3}\]")


def one_line(text: str) -> str:
    r"""The text with every white space that holds a tab or a line break as one
    space."""
    if _BREAKS.isdisjoint(text):
        return text
    return re.sub(
        r"\s+", lambda run: run[0] if _BREAKS.isdisjoint(run[0]) else " ", text
    )


def whole(text: str) -> str:
    r"""The text with � for each half of a character, which no file can hold: models
    that stop in the middle of one leave it.

    Example:
        >>> whole("It rained \ud83d")
        'It rained �'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def without_markup(text: str) -> str:
    """The text without marks of emphasis, addresses of links and numbers of notes.

    Example:
        >>> without_markup("**Ann** left [Rome](https://rome.example) in `2019` [1].")
        'Ann left Rome in 2019.'
    """
    if "*" in text or "`" in text:
        text = _EMPHASIS.sub(r"\2", text)
    # Most texts have no mark, and a search costs more than a look.
    if "[" in text:
        text = _CITATION.sub("", _LINK.sub(r"\1", text))
    return text


def printable(text: str) -> str:
    r"""The text with everything that is not seen, or moves what is, as Python writes
    it."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def cut(value: object, longest: int = _LONGEST) -> str:
    """A value as messages and tables show it: printable, at most `longest`
    characters."""
    # Cut first: a value may have millions of characters.
    text = printable(str(value)[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def legible(message: str, longest: int = 2000) -> str:
    """A message that may quote anything: printable, quoted values cut, the middle of it
    too."""
    if len(message) > longest:
        message = f"{message[: longest * 3 // 4]} … {message[-longest // 4 :]}"
    return _QUOTED.sub(
        lambda found: found[1] + cut(found[2]) + found[1], printable(message)
    )


def place(input_: str, reference: int, sentence: int | None = None) -> str:
    """Where something stands, as people are told: counted from 1 (files count from
    0)."""
    where = f"reference {reference + 1} of input '{input_}'"
    return where if sentence is None else f"sentence {sentence + 1} of {where}"


def written(value: float, digits: int = 3) -> str:
    """A number as papers write it.

    Example:
        >>> written(-0.0432), written(1)
        ('−.043', '1.000')
    """
    text = f"{value:z.{digits}f}".replace("-", "−")
    return re.sub(r"^(−?)0\.", r"\1.", text)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with what it counts, in the singular or the plural."""
    return f"{number} {one if number == 1 else many or one + 's'}"


_LATEX = {
    # A bracket or a star behind \\ would be an option of it.
    "\\": r"\textbackslash{}", "[": "{[}", "*": "{*}",
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}", "ρ": r"$\rho$", "τ": r"$\tau$", "±": r"$\pm$",
    "<": "$<$", "≥": r"$\geq$", "≤": r"$\leq$", "–": "--",
}  # fmt: skip


def latex_escape(text: str) -> str:
    """`text` safe inside a LaTeX table cell."""
    return "".join(_LATEX.get(char, char) for char in printable(text))


def fill(text: str, **values: object) -> str:
    """A text with its places filled; braces of the values stay what they are."""
    return re.sub(
        rf"{{({'|'.join(values)})}}", lambda found: str(values[found[1]]), text
    )


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())
