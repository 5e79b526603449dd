"""Small files in the formats of other tools, made for these tests."""

import csv
import json
from pathlib import Path

FILES = Path(__file__).resolve().parent / "data" / "formats"


def objects_of(name):
    """The objects of a file, read by nothing of ours."""
    text = (FILES / name).read_text()
    if name.endswith(".csv"):
        return list(csv.DictReader(text.splitlines()))
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)
