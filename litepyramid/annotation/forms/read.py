"""Answers in any of the three forms, recognised by their content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from litepyramid.annotation.forms import label_studio, mturk, page
from litepyramid.annotation.forms.responses import Response, ResponseFile
from litepyramid.checked import parse_json
from litepyramid.errors import InputError
from litepyramid.files import read_text


def read_responses(paths: Sequence[str | Path]) -> ResponseFile:
    """Reads answers in any of the three forms, recognised by their content.

    Label Studio's JSON export (also JSON-MIN), the results CSV of Mechanical Turk, and the JSON
    that the offline page downloads.

    Raises:
        InputError: There is not a file, or one is of none of these forms.
    """
    if not paths:
        raise InputError("no answers given", expected="at least one file")
    responses: list[Response] = []
    notes: list[str] = []
    for path in map(Path, [paths] if isinstance(paths, str) else paths):
        text = read_text(path)
        if text.lstrip()[:1] in ("[", "{"):
            data = parse_json(text, path=path)
            reader = page if isinstance(data, dict) else label_studio
            found = reader.parse_answers(data, path)
        else:
            found = mturk.parse_answers(text, path)
        responses += found.responses
        notes += found.notes
    return ResponseFile(tuple(responses), tuple(notes))
