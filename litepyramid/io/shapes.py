"""What cells and columns of tables hold: lists, texts, and what people call them."""

import re
from ast import literal_eval
from collections.abc import Collection, Sequence
from typing import Any

from litepyramid.checked import number, parse_json
from litepyramid.errors import InputError
from litepyramid.language import words

# A list of texts as Python shows it; possessive, so that no cell takes long.
_PYTHON_TEXT = r"""(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")"""
_PYTHON_LIST = re.compile(rf"\s*\[\s*{_PYTHON_TEXT}(?:\s*,\s*{_PYTHON_TEXT})*+\s*\]\s*")


def python_list(cell: str) -> list[Any] | None:
    """The list of texts that a cell holds as Python shows it; None if it holds none."""
    if not _PYTHON_LIST.fullmatch(cell):
        return None
    try:
        values: list[Any] = literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return values


def list_in(cell: str) -> Any:
    """The list that a cell holds, as JSON or as Python shows it; else its text."""
    if cell.lstrip()[:1] != "[":
        return cell
    try:
        value = parse_json(cell)
    except InputError:
        value = python_list(cell)
    return value if isinstance(value, list) else cell


def frame_rows(frame: Any, known: Collection[str]) -> list[dict[Any, Any]]:
    """The rows of a pandas frame; missing values are None.

    An index that has a name is a column: of the ids, where the name is not known.
    """
    names = list(getattr(frame.index, "names", ()))
    if names and None not in names:
        named = {*map(str, frame.columns)}
        if len(names) == 1 and names[0] not in known and not named & {"input", "id"}:
            frame = frame.rename_axis(index="input")
        frame = frame.reset_index()
    return list(frame.astype(object).where(frame.notna(), None).to_dict("records"))


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
    "input": "id doc_id docid doc document_id example_id sample_id item_id qid query_id "
    "question_id topic_id topic uid uuid guid key",
    "system": "model model_name model_id run run_id method version",
    "question": "query prompt user_input",
    "reference": "ref gold gold_summary target ground_truth reference_summary highlights "
    "reference_answer expected expected_answer expected_output human_summary",
    "document": "article source context text_source",
    "units": "facts key_facts expected_facts claims nuggets scus acus statements",
    "unit": "fact claim nugget scu acu statement",
    "summary": "prediction predicted prediction_text output answer response generated "
    "generated_summary hypothesis candidate completion model_output system_output",
}
"""What people call the columns that we know."""
_OF_SCORES = ("input", "system")


def mapping_line(
    present: Sequence[str], texts: Sequence[str] | None, known: Collection[str]
) -> str | None:
    """The option that would name the columns of a table, guessed by names and cells.

    `texts` are the columns that hold texts, None in a table of scores. None if there is
    nothing to guess.
    """
    mapping: dict[str, str] = {}
    for name in _USUAL_NAMES:
        if name in present or (texts is None and name not in _OF_SCORES):
            continue
        for column in present:
            if column not in known and usual_meaning(column) == name:
                mapping[name] = column
                break

    left = [c for c in texts or () if c not in known and c not in mapping.values()]
    if "summary" not in present and "summary" not in mapping and left:
        if "system" in present or "system" in mapping:
            mapping["summary"] = left[0]
        else:
            mapping["system"] = "+".join(left)

    if not mapping:
        return None
    line = ",".join(f"{name}={column}" for name, column in mapping.items())
    quoted = f"'{line}'" if set(line) & set(" '*()&;$") else line
    return f'Add --columns {quoted} (in Python columns="{line}").'


def usual_meaning(column: str) -> str | None:
    """Which of our columns is usually called so, in capitals, with dashes or spaces."""
    simple = column.strip().lower().replace(" ", "_").replace("-", "_")
    for name, usual in _USUAL_NAMES.items():
        if simple in usual.split():
            return name
    return None
