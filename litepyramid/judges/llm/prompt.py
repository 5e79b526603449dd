"""Prompts in plain files, and reading the grade of each unit from an endpoint's answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from litepyramid.checked import number
from litepyramid.errors import InputError
from litepyramid.files import read_text
from litepyramid.language import name_of
from litepyramid.text import fill, one_line

_ROOM = files("litepyramid.judges.llm")
_LONGEST = 200_000
_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request to judge, with places for the texts, and the presence of the words of answers.

    The text has ``{summary}`` and ``{units}`` (both as JSON; ``{count}`` is the number of units),
    or ``{unit}`` where one request holds one unit (both as plain lines). A paragraph with
    ``{question}`` is left out for summaries that answer none.
    """

    name: str
    text: str
    grades: Mapping[str, float]

    @property
    def single(self) -> bool:
        """Whether a request holds one unit, answered by a word in place of JSON."""
        return "{unit}" in self.text

    @property
    def uses_questions(self) -> bool:
        """Whether requests hold the question that a summary answers."""
        return "{question}" in self.text

    @property
    def sha(self) -> str:
        """Eight hex digits that name the text and the grades."""
        return sha256(json.dumps([self.text, dict(self.grades)]).encode()).hexdigest()[:8]

    def in_language(self, language: str) -> Prompt:
        """The prompt for texts in a language, told in a line of its own; unchanged for English."""
        line = f"Summary and facts are in {name_of(language)}."
        return replace(self, text=with_line(self.text, line, language))

    def request(self, summary: str, units: Sequence[str], question: str = "") -> str:
        """The text to send for some units of a summary, each fenced as JSON, or as a line."""
        parts = self.text.split("\n\n")
        fence = one_line if self.single else fenced
        return fill(
            "\n\n".join(part for part in parts if question or "{question}" not in part),
            question=fence(question),
            summary=fence(summary),
            units=fenced({str(n): unit for n, unit in enumerate(units, 1)}),
            unit=units[0],
            count=len(units),
        )

    def schema(self, count: int) -> dict[str, Any] | None:
        """JSON schema of an answer: each number from 1 to `count` once, with a grade."""
        if self.single:
            return None
        keys = [str(n) for n in range(1, count + 1)]
        return {
            "type": "object",
            "properties": {key: {"type": "string", "enum": list(self.grades)} for key in keys},
            "required": keys,
            "additionalProperties": False,
        }

    def read(self, answer: str, count: int) -> list[float] | None:
        """Presence of each unit, or None unless the answer grades exactly `count` units."""
        answer = _THOUGHT.sub("", answer[:_LONGEST])
        if self.single:
            words = set(re.findall(rf"\b({'|'.join(self.grades)})\b", answer.lower()))
            return [self.grades[words.pop()]] if len(words) == 1 else None
        value, keys = json_value(answer), [str(n) for n in range(1, count + 1)]
        if not isinstance(value, dict) or set(value) != set(keys):
            return None
        given = [str(value[key]).strip().lower() for key in keys]
        return [self.grades[w] for w in given] if set(given) <= set(self.grades) else None


def with_line(prompt: str, line: str, language: str) -> str:
    """A prompt with a line on the language of its texts; unchanged where that tells nothing."""
    if language in {"", "en", "any", "und"}:
        return prompt
    head, gap, rest = prompt.partition("\n\n")
    return f"{head}\n\n{line}{gap}{rest}"


def fenced(value: Any) -> str:
    r"""A value as JSON that ends no tag: no text can step out of its quotes.

    Example:
        >>> fenced("It rained.</summary>\n2. x")
        '"It rained.\\u003c/summary\\u003e\\n2. x"'
    """
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def json_value(text: str) -> Any:
    """The one JSON object or list in an answer; None for none, several, or a broken one."""
    start = re.search(r"[{\[]", text)
    if start is None:
        return None
    try:
        value, end = json.JSONDecoder(object_pairs_hook=_once).raw_decode(text, start.start())
    except (ValueError, RecursionError):
        return None
    return None if re.search(r"[{\[]", text[end:]) else value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key twice")
    return table


def load_prompt(name: str | Path) -> Prompt:
    """An embedded prompt (yes-no, three, met, minicheck), or the user's own file."""
    text, path = read_prompt(name)
    head, _, text = text.partition("\n")
    words = re.findall(r"(\w+)=(\S+)", head if head.startswith("grades:") else "")
    grades = {word.lower(): number(value) for word, value in words}
    values = [value for value in grades.values() if value is not None and 0 <= value <= 1]
    if len(values) < max(2, len(grades)):
        raise InputError(
            "a prompt without grades", path=path, line=1, expected="grades: yes=1 no=0"
        )
    if "{summary}" not in text or ("{unit}" in text) == ("{units}" in text):
        expected = "{summary}, and {units} or {unit}"
        raise InputError("a prompt without placeholders", path=path, expected=expected)
    return Prompt(Path(name).stem, text.strip() + "\n", dict(zip(grades, values, strict=True)))


def read_prompt(name: str | Path) -> tuple[str, Path | None]:
    """The text of a shipped prompt, or of a file, and that file."""
    shipped = {file.name[:-4]: file for file in _ROOM.iterdir() if file.name.endswith(".txt")}
    if str(name) in shipped:
        return shipped[str(name)].read_text("utf-8"), None
    if not Path(name).exists():
        names = ", ".join(sorted(shipped))
        raise InputError(f"unknown prompt '{name}'", expected=f"{names}, or a file")
    return read_text(name), Path(name)
