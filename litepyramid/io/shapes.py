"""What cells and columns of tables hold: lists, texts, and what people call them."""

import json
import re
from ast import literal_eval
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from litepyramid.checked import number, parse_json
from litepyramid.errors import InputError
from litepyramid.language import words
from litepyramid.tables import plain

# A list of texts or truths as Python shows it; possessive, so that no cell takes long.
_PYTHON_VALUE = r"""(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+"|True|False)"""
TEXT_KEYS = ("content", "text", "page_content", "document.content", "message")
"""Names of what an object says."""
_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "text": "",
    "input_text": "",
    "output_text": "",
}
"""What tools call who speaks in a turn; parts of a message are of nobody."""
_PYTHON_LIST = re.compile(
    rf"\s*\[\s*{_PYTHON_VALUE}(?:\s*,\s*{_PYTHON_VALUE})*+\s*\]\s*"
)


def list_in(cell: str, *, must: bool = False, line: int | None = None) -> Any:
    """The list that a cell holds, as JSON or as Python shows it; else its text, unless
    what begins as a list `must` be one."""
    if cell.lstrip()[:1] != "[":
        return cell

    expected = 'a JSON list: ["text", "text", …]'
    try:
        return parse_json(cell, line=line, expected=expected)
    except InputError:
        if _PYTHON_LIST.fullmatch(cell):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                return literal_eval(cell)
        if must:
            raise
    return cell


def text_of(value: Any) -> str | None:
    """A text, the content of an object, or the turns of a conversation, each after its
    role."""
    if isinstance(value, str):
        return value if value.strip() else None

    if isinstance(value, dict):
        for key in TEXT_KEYS:
            text = value.get(key)
            # A message may have parts, some of which are texts.
            if isinstance(text, list | dict):
                text = answer_of(text)
            if isinstance(text, str) and text.strip():
                return text
        is_turn = not value or "role" in value or "content" in value
        return None if is_turn else json.dumps(value, ensure_ascii=False)

    if isinstance(value, list):
        turns = _turns(value)
        # A conversation of one turn is a text: its role says nothing.
        if len(turns) == 1:
            return turns[0][1]
        said = [f"{role}: {text}" if role else text for role, text in turns]
        return "\n\n".join(said) or None

    return None if value is None else str(value)


def answer_of(value: Any) -> str | None:
    """The text of an answer: of a conversation, what the assistant said last; of a
    message, its parts that are texts."""
    if not isinstance(value, list):
        return text_of(value)

    turns = _turns(value)
    answers = [text for role, text in turns if role == "assistant"]
    if answers:
        return answers[-1]
    return "\n".join(text for role, text in turns if not role) or None


def _turns(listed: list[Any]) -> list[tuple[str, str]]:
    """Who says what in a conversation; a part of a message has nobody's name."""
    turns = []
    for turn in listed:
        text = text_of(turn)
        role = turn.get("role") or turn.get("type") if isinstance(turn, dict) else ""
        if text:
            turns.append((_ROLES.get(str(role), str(role or "")), text))
    return turns


def collected(value: Any) -> Any:
    """A frame that polars has only planned; a data set's rows, in whatever format it
    gives them."""
    if hasattr(value, "collect_schema"):
        return value.lazy().collect()
    if not hasattr(value, "with_format"):
        return value

    if isinstance(value, Mapping):
        raise InputError(
            f"a {type(value).__name__} of the splits {', '.join(value)}",
            expected="one of them",
            hint=f"Take data['{next(iter(value))}'], or dict(data) of systems.",
        )
    return value.with_format(None)


def frame_rows(frame: Any, known: Collection[str]) -> list[dict[Any, Any]]:
    """The rows of a pandas frame.

    An index that has a name is a column: of the ids, where the name is not known.
    """
    # What pivot tables give: ("score", "bart") is score_bart.
    if getattr(frame.columns, "nlevels", 1) > 1:
        joined = ["_".join(map(str, levels)) for levels in frame.columns]
        frame = frame.set_axis(joined, axis=1)
    names = list(getattr(frame.index, "names", ()))
    if names and None not in names:
        named = {*map(str, frame.columns)}
        if len(names) == 1 and names[0] not in known and not named & {"input", "id"}:
            frame = frame.rename_axis(index="input")
        frame = frame.reset_index()
    return list(frame.to_dict("records"))


def column_rows(columns: Mapping[Any, Any]) -> list[dict[Any, Any]] | None:
    """The rows of a dict of columns, which are lists of one length; None if they are
    not."""
    cells = {key: plain(column) for key, column in columns.items()}
    lengths = {len(c) if isinstance(c, list) else -1 for c in cells.values()}
    if len(lengths) != 1 or lengths == {-1}:
        return None

    rows = zip(*cells.values(), strict=True)
    return [dict(zip(cells, row, strict=True)) for row in rows]


def is_text_column(cells: Sequence[Any], *, least: int = 1) -> bool:
    """Whether the cells are texts, most of them of at least so many words.

    Numbers are no texts; of two words and more, neither are ids and categories.
    """
    written = [cell for cell in cells if cell not in (None, "")]
    if not all(isinstance(cell, str) for cell in written):
        return False
    texts = [text for text in written if number(text) is None]
    long = sum(len(words(text)) >= least for text in texts)
    return 2 * long > len(written)


_USUAL_NAMES = {
    "input": "id doc_id docid doc document_id example_id sample_id item_id qid "
    "query_id question_id topic_id topic uid uuid guid key",
    "system": "model model_name model_id run run_id method version",
    "question": "query prompt user_input",
    "reference": "reference ref gold gold_summary target ground_truth "
    "reference_summary highlights reference_answer expected expected_answer "
    "expected_output human_summary",
    "document": "article source context text_source",
    "units": "facts key_facts expected_facts claims nuggets scus acus statements",
    "unit": "fact claim nugget scu acu statement",
    "summary": "prediction predicted prediction_text output answer response generated "
    "generated_summary hypothesis candidate completion model_output system_output",
}
"""What people call the columns that we know."""
_OF_SCORES = ("input", "system")


def mapping_line(
    present: Sequence[str],
    texts: Sequence[str] | None,
    known: Collection[str],
    what: str = "summary",
) -> str | None:
    """The option that would name the columns of a table, guessed by names and cells.

    `what` was not found; `texts` are the columns that hold texts, None in a table of
    scores. None if there is nothing to guess.
    """
    mapping = {}
    for name in _USUAL_NAMES:
        if name in present or (texts is None and name not in _OF_SCORES):
            continue
        for column in present:
            if column not in known and usual_meaning(column) == name:
                mapping[name] = column
                break

    left = []
    for column in texts or ():
        used = column in known or column in mapping.values()
        # What a model was asked is neither an answer nor a reference.
        if not used and "input" not in column:
            left.append(column)

    there = {*present, *mapping}
    if what in _USUAL_NAMES and what not in there and left:
        # Only answers have a column for each system; one would be read as their names.
        if what != "summary" or "system" in there or len(left) == 1:
            mapping[what] = left[0]
        else:
            mapping["system"] = "+".join(left)

    if not mapping:
        return None
    line = ",".join(f"{name}={column}" for name, column in mapping.items())
    # As a shell takes it: a column may be called "human score" or "f1*".
    quoted = f"'{line}'" if set(line) & set(" '*()&;$") else line
    return f'Add --columns {quoted} (in Python columns="{line}").'


def usual_meaning(column: str) -> str | None:
    """Which of our columns is usually called so, in capitals, with dashes or spaces."""
    simple = column.strip().lower().replace(" ", "_").replace("-", "_")
    for name, usual in _USUAL_NAMES.items():
        if simple in usual.split():
            return name
    return None
