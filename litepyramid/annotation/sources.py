"""From the files a user names to tasks, and from labels to a folder that scores."""

from __future__ import annotations

from pathlib import Path

from litepyramid.annotation.collect import JudgedLabels
from litepyramid.duc.convert import write_summaries
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, file_type
from litepyramid.io.folders import check_names, filled_folder, read_manifest
from litepyramid.io.labels import write_labels
from litepyramid.io.units import write_units
from litepyramid.tables import render

JUDGED = "imported judgements"
"""What the manifest of a folder says that `write_judged` filled."""


def write_judged(folder: Path, judged: JudgedLabels) -> None:
    """Writes a folder that can be scored: units.jsonl, summaries/, labels/, agreement.json.

    Labels of one random answer per item stand in labels-round1/, labels-round2/ …

    An earlier import in the folder is replaced as a whole, once all is written; other files stay.
    If no input is complete, there is nothing to score and agreement.json is all there is.

    Raises:
        InputError: The folder holds other files and no earlier import, or cannot be written to; or
            a system's name cannot be that of a file.
    """
    check_judged(folder)
    check_names(labels.system for labels in judged.labels)
    drawn = {f"labels-round{i}": labels for i, labels in enumerate(judged.rounds, start=1)}
    labelled = {"labels": judged.labels, **drawn}
    with filled_folder(folder, JUDGED, systems=(*labelled, "summaries")) as new:
        for made in (*labelled, "summaries") if judged.units else ():
            (new / made).mkdir()
        if judged.units:
            write_units(new / "units.jsonl", judged.units)
            for name, entries in labelled.items():
                for labels in entries:
                    write_labels(new / name / f"{labels.system}.jsonl", labels)
            for summaries in judged.summaries:
                write_summaries(new / "summaries", summaries)
        with atomic_write(new / "agreement.json") as file:
            file.write(render(judged.agreement, "json"))


def check_judged(folder: Path) -> None:
    """Refuses a folder whose files `write_judged` could mix with.

    Raises:
        InputError: It is not a folder, or holds files but no earlier import.
    """
    if not read_manifest(folder.resolve(), JUDGED) and file_type(folder) and any(folder.iterdir()):
        raise InputError(
            "holds other files",
            path=folder,
            expected="a folder that is new, empty, or holds an earlier import",
        )
