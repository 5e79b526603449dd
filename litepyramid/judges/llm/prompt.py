"""Prompts in plain files, and reading the grade of each unit from an endpoint's answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from litepyramid.checked import number
from litepyramid.errors import InputError
from litepyramid.files import read_text
from litepyramid.text import fill

_ROOM = files("litepyramid.judges.llm")
_LONGEST = 200_000
_STARTS = 50
_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request to judge, with places for the texts.

    Attributes:
        name: Name of the shipped prompt, or the file's stem.
        text: With ``{summary}`` and ``{units}`` (a numbered list; ``{count}`` is their number),
            or ``{unit}`` where one request holds one unit.
        grades: The words that answers are made of, with their presence.
    """

    name: str
    text: str
    grades: Mapping[str, float]

    @property
    def single(self) -> bool:
        """Whether a request holds one unit, answered by a word in place of JSON."""
        return "{unit}" in self.text

    @property
    def sha(self) -> str:
        """Eight hex digits that name the text and the grades."""
        return sha256(json.dumps([self.text, dict(self.grades)]).encode()).hexdigest()[:8]

    def request(self, summary: str, units: Sequence[str]) -> str:
        """The text to send for some units of a summary."""
        numbered = "\n".join(f"{n}. {unit}" for n, unit in enumerate(units, 1))
        return fill(self.text, summary=summary, units=numbered, unit=units[0], count=len(units))

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

    def read(self, answer: str, count: int, tokens: Any = None) -> list[float] | None:
        """Presence of each unit, or None unless the answer grades exactly `count` units.

        Args:
            answer: What the model wrote; prose and code fences around the JSON are passed over.
            count: How many units the request held.
            tokens: The endpoint's log-probabilities, one entry per token with its likeliest
                alternatives. The presence is then the mean of the grades under the
                probabilities of their words: P(yes) with the grades yes and no.

        Example:
            >>> prompt = Prompt("p", "", {"yes": 1.0, "no": 0.0})
            >>> prompt.read('Here it is: {"1": "no", "2": "Yes"}', 2)
            [0.0, 1.0]
            >>> prompt.read('{"1": "no"}', 2) is None
            True
        """
        answer = answer[:_LONGEST]
        found = self._words(answer, count)
        if found is None:
            return None
        starts = self._places(answer, found)
        shares = None if starts is None else _shares(answer, starts, tokens, tuple(self.grades))
        if shares is None:
            return [self.grades[word] for word in found]
        return [
            sum(share * self.grades[word] for word, share in own.items())
            if own
            else self.grades[graded]
            for own, graded in zip(shares, found, strict=True)
        ]

    def _words(self, answer: str, count: int) -> list[str] | None:
        answer = _THOUGHT.sub("", answer).lower()
        read = [words for value in json_values(answer) if (words := self._graded(value, count))]
        if read:
            return read[-1]
        lines = re.findall(rf"(?m)^\W*(\d+)\W+({'|'.join(self.grades)})\b", answer)
        if len(lines) == count and (words := self._graded(dict(lines), count)):
            return words
        said = set(self._pattern().findall(answer))
        return [said.pop()] if count == len(said) == 1 else None

    def _graded(self, value: Any, count: int) -> list[str] | None:
        if isinstance(value, dict) and len(value) == 1 and count != 1:
            (value,) = value.values()
        if isinstance(value, dict):
            if set(value) != {str(n) for n in range(1, count + 1)}:
                return None
            value = [value[str(n)] for n in range(1, count + 1)]
        if not isinstance(value, list) or len(value) != count:
            return None
        names = {True: "yes", False: "no"}
        words = [names[one] if isinstance(one, bool) else str(one).strip().lower() for one in value]
        return words if all(word in self.grades for word in words) else None

    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"\b({'|'.join(self.grades)})\b")

    def _places(self, answer: str, words: list[str]) -> list[int] | None:
        """Where each unit's grade stands in the answer, if that is plain to see."""
        if len(words) == 1:
            found = [(one[0], one.start()) for one in self._pattern().finditer(answer.lower())]
        else:
            pairs = rf'"?(\d+)"?\s*[:.)]\s*"?({"|".join(self.grades)})\b'
            found = [
                (one[2], one.start(2))
                for n, one in enumerate(re.finditer(pairs, answer.lower()), 1)
                if one[1] == str(n)
            ]
        return [start for _, start in found] if [word for word, _ in found] == words else None


def load_prompt(name: str | Path) -> Prompt:
    """An embedded prompt (``yes-no``, ``three``, ``minicheck``), or the user's own file.

    Raises:
        InputError: There is neither, or a file lacks its places or its grades.

    Example:
        >>> load_prompt("three").grades
        {'yes': 1.0, 'partly': 0.5, 'no': 0.0}
    """
    text, path = read_prompt(name)
    head, _, text = text.partition("\n")
    grades = {}
    for part in head.removeprefix("grades:").split():
        word, _, value = part.partition("=")
        grades[word.lower()] = number(value)
    values = [value for value in grades.values() if value is not None and 0 <= value <= 1]
    plain = all(word.isidentifier() for word in grades) and len(values) == len(grades)
    if not head.startswith("grades:") or len(grades) < 2 or not plain:
        raise InputError(
            "a prompt without grades", path=path, line=1, expected="grades: yes=1 no=0"
        )
    if "{summary}" not in text or ("{unit}" in text) == ("{units}" in text):
        raise InputError(
            "a prompt without placeholders",
            path=path,
            expected="{summary}, and {units} or {unit}",
        )
    return Prompt(Path(name).stem, text.strip() + "\n", dict(zip(grades, values, strict=True)))


def read_prompt(name: str | Path) -> tuple[str, Path | None]:
    """The text of a shipped prompt, or of a file, and that file.

    Raises:
        InputError: There is neither.
    """
    shipped = {file.name[:-4]: file for file in _ROOM.iterdir() if file.name.endswith(".txt")}
    if str(name) in shipped:
        return shipped[str(name)].read_text("utf-8"), None
    if not Path(name).exists():
        known = ", ".join(sorted(shipped))
        raise InputError(f"unknown prompt '{name}'", expected=f"{known}, or a file")
    return read_text(name), Path(name)


def json_values(text: str) -> Iterator[Any]:
    """The JSON objects and lists in a text, in order; what is inside one is not another."""
    decoder, end = json.JSONDecoder(object_pairs_hook=_once), 0
    for found in list(re.finditer(r"[{\[]", text))[:_STARTS]:
        if found.start() >= end:
            try:
                value, end = decoder.raw_decode(text, found.start())
            except (ValueError, RecursionError):
                continue
            yield value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _shares(
    answer: str, starts: Sequence[int], tokens: Any, words: Sequence[str]
) -> list[dict[str, float]] | None:
    """Per start the probabilities of the words, of the token there; None without any tokens."""
    try:
        texts = [
            bytes(token["bytes"]) if token.get("bytes") else token["token"].encode()
            for token in tokens
        ]
        shift = b"".join(texts).find(answer.encode())
        if shift < 0:
            return None
        place = at = 0
        shares = []
        for start in starts:
            goal = shift + len(answer[:start].encode())
            while at + len(texts[place]) <= goal:
                at += len(texts[place])
                place += 1
            shares.append(_share(tokens[place], texts[place][goal - at :], words))
        return shares
    except (TypeError, KeyError, AttributeError, IndexError, ValueError):
        return None


def _share(token: Any, own: bytes, words: Sequence[str]) -> dict[str, float]:
    total = dict.fromkeys(words, 0.0)
    for other in token.get("top_logprobs") or [{**token, "token": own.decode()}]:
        text = re.sub(r"^[\W\d_]+", "", other["token"]).lower()
        text = re.sub(r"\W.*", "", text, flags=re.DOTALL)
        for word in words:
            if text and (word.startswith(text) or text.startswith(word)):
                total[word] += math.exp(other["logprob"])
                break
    mass = sum(total.values())
    return {word: value / mass for word, value in total.items()} if mass > 0 else {}
