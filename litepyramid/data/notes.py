"""Notes on texts that look like slips: paragraphs and lists as units, HTML entities."""

import re
from collections.abc import Mapping, Sequence
from html import unescape

from litepyramid.text import counted, cut

_END = re.compile(r"[.!?][\"'”’)\]]*\s+[\"'“‘(]?[A-Z]")
_LONG = 30  # words of a unit that may be a paragraph
# Between the items of a list, be it on one line or on several.
_ITEM = re.compile(r"[^\s;];\s+(?=\S)|\S\s*[\n•]\s*(?=\S)")
_ENTITY = re.compile(r"&#?\w+;")
LIKE_NOTHING = {"none", "nan", "na", "n/a", "null"}
"""Texts, in small letters, by which tools write that there is no value."""


def text_notes(texts: Mapping[str, Sequence[str]]) -> list[str]:
    """What a reader of scores of these units, references and summaries should know."""
    units = texts["units"]
    notes = []

    entities = []
    for several in texts.values():
        for text in several:
            found = _ENTITY.findall(text)
            entities += [one for one in found if unescape(one) != one][:1]
    if entities:
        hold = counted(len(entities), "text holds", "texts hold")
        notes.append(
            f"{hold} HTML entities ('{entities[0]}'), which hide words such as n't: "
            "clean them first (in Python by html.unescape)."
        )

    nothing = [one for one in texts.get("summaries", ()) if one.lower() in LIKE_NOTHING]
    if nothing:
        are = counted(len(nothing), "answer is the text", "answers are the text")
        notes.append(
            f"{are} '{nothing[0]}', scored as it is: if it stands for no answer, leave "
            "the cell empty, or write null."
        )

    every = [text for several in texts.values() for text in several]
    if broken := [text for text in every if "\ufffd" in text]:
        hold = counted(len(broken), "text holds", "texts hold")
        first = cut(broken[0], 60)
        notes.append(f"{hold} �, in place of a broken character: '{first}'.")

    # References given as units would be scored as one fact each.
    long = [text for text in units if len(text.split()) > _LONG and _END.search(text)]
    if long:
        are = counted(len(long), "unit is a paragraph", "units are paragraphs")
        notes.append(
            f"{are} (of {len(units)}): a unit is one short fact. If they are "
            "references, give them as references."
        )

    if lists := [text for text in units if len(_ITEM.findall(text)) > 1]:
        are = counted(len(lists), "unit looks like a list", "units look like lists")
        notes.append(
            f"{are} ('{cut(lists[0], 60)}') and count as one unit each: write a JSON "
            'list, ["…", "…"], or one unit a row.'
        )
    return notes
