"""Texts in what tools write: conversations, parts of messages, lists in cells; names of
questions."""

import json
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

from litepyramid.checked import as_type, parse_json
from litepyramid.data.files import Row
from litepyramid.errors import InputError
from litepyramid.text import cut, one_line

Cells = dict[str, Any]
Counts = Counter[str]


class Made(NamedTuple):
    """Rows that were made of a file's, and what was left out, counted."""

    rows: Sequence[Row]
    left_out: Counts


TEXT_KEYS = ("content", "text", "page_content", "document.content", "message")
"""Names of what an object says."""
KEYS = {
    "question": "question query input prompt user_input messages text",
    "summary": "answer response output result completion generation text messages "
    "content choices",
    "reference": "reference expected expected_output expected_answer ground_truth "
    "ideal reference_answer label answer output response messages",
    "document": "contexts context retrieved_contexts retrieval_context documents",
    "unit": "expected_facts key_facts facts nuggets claims",
}
"""Under which names objects hold what a column of ours has."""
_SPEAKERS = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "text": "",
    "input_text": "",
    "output_text": "",
}
"""What tools call who speaks in a turn; parts of a message are of nobody."""
# A list of texts as Python shows it; possessive, so that no cell takes long.
_PYTHON_TEXT = r"""(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")"""
_PYTHON_LIST = re.compile(rf"\s*\[\s*{_PYTHON_TEXT}(?:\s*,\s*{_PYTHON_TEXT})*+\s*\]\s*")
# Numbers are names without a question, * is every input, and a hash ends in a bracket.
_NAMES_ITSELF = re.compile(r"(?=.*[^\W\d]).*[^)]")


def as_json(value: Any) -> str:
    """A value as JSON: in every file the same."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def object_in(cells: Cells, key: str) -> Cells:
    """The object under a key, empty where there is none."""
    return as_type(Cells, cells.get(key) or {}, what=f"a broken {key}")


def objects_in(cells: Cells, key: str) -> list[Cells]:
    """The objects of the list under a key, none where there is none."""
    return as_type(list[Cells], cells.get(key) or [], what=f"broken {key}")


def text_of(value: Any, column: str = "") -> str | None:
    """What a value says: a text, what an object holds under a usual name of the column
    (or all of it as JSON), or the turns of a conversation, each after its role.

    Example:
        >>> text_of([{"role": "user", "content": [{"type": "text", "text": "Who?"}]}])
        'Who?'
    """
    if value is None or isinstance(value, str):
        return value if value and value.strip() else None

    if isinstance(value, dict):
        for key in (*KEYS.get(column, "").split(), *TEXT_KEYS):
            if text := answer_of(value.get(key)):
                return text
        is_turn = not value or "role" in value or "content" in value
        return None if is_turn else as_json(value)

    if isinstance(value, list):
        turns = _turns(value)
        # A conversation of one turn is a text: its role says nothing.
        if len(turns) == 1:
            return turns[0][1]
        lines = [f"{who}: {said}" if who else said for who, said in turns]
        return "\n\n".join(lines) or None

    return str(value)


def answer_of(value: Any, column: str = "") -> str | None:
    """The text of an answer: of a conversation, what the assistant said last; of a
    message, its parts that are texts."""
    if not isinstance(value, list):
        return text_of(value, column)

    turns = _turns(value)
    answers = [text for who, text in turns if who == "assistant"]
    if answers:
        return answers[-1]
    return "\n".join([text for who, text in turns if not who]) or None


def asked_before(conversation: Any) -> Any:
    """The turns of a conversation before its last answer; anything else as it is."""
    if not isinstance(conversation, list):
        return conversation
    speakers = [_speaker(turn) for turn in conversation]
    if "assistant" not in speakers:
        return conversation
    return conversation[: len(speakers) - 1 - speakers[::-1].index("assistant")]


def _turns(listed: Sequence[Any]) -> list[tuple[str, str]]:
    """Who says what in a conversation, where anything is said."""
    turns = []
    for turn in listed:
        if text := text_of(turn):
            turns.append((_speaker(turn), text))
    return turns


def _speaker(turn: Any) -> str:
    who = turn.get("role") or turn.get("type") if isinstance(turn, dict) else None
    return _SPEAKERS.get(str(who), str(who or ""))


def listed(value: Any) -> list[Any]:
    """A list, which a cell may hold as JSON or as Python shows it; one thing alone as a
    list of it.

    Example:
        >>> listed("['It rained.', \\"It's late.\\"]"), listed("It rained.")
        (['It rained.', "It's late."], ['It rained.'])
    """
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        value = _list_in(value)
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _list_in(cell: str) -> Any:
    with suppress(InputError):
        return parse_json(cell)
    if _PYTHON_LIST.fullmatch(cell):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return literal_eval(cell)
    return cell


def texts_of(value: Any, column: str = "") -> list[str]:
    """The texts of a list, or of one thing alone; of a conversation, its answer."""
    several = listed(value)
    if any(isinstance(one, dict) and {"role", "type"} & {*one} for one in several):
        several = [answer_of(several)]
    return [text for one in several if (text := text_of(one, column))]


def name_of_question(question: str, right: Any = None) -> str:
    """The name of the input that asks a question, of several with that right answer: in
    every file the same, and that of no other question.

    Example:
        >>> name_of_question("Who runs the ferry?"), name_of_question("17")
        ('Who runs the ferry?', '17 (01be81617353)')
    """
    start = cut(one_line(question))
    if right is None and start == question and _NAMES_ITSELF.fullmatch(question):
        return question
    return f"{start} ({sha256(as_json([question, right]).encode()).hexdigest()[:12]})"
