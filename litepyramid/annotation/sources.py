"""From the files a user names to plans and tasks, and from labels to a folder that scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litepyramid.annotation.collect import JudgedLabels
from litepyramid.annotation.plan import read_plan
from litepyramid.annotation.tasks import TaskSet, judging_tasks, writing_tasks
from litepyramid.duc.convert import write_summaries
from litepyramid.easiness.gold import gold_easiness
from litepyramid.easiness.mix import By
from litepyramid.easiness.predict import predict_easiness
from litepyramid.easiness.scores import Easiness, read_easiness
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, file_type
from litepyramid.io.coerce import as_references, as_units
from litepyramid.io.folders import check_names, filled_folder, read_manifest
from litepyramid.io.labels import write_labels
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units, write_units
from litepyramid.tables import render
from litepyramid.text import counted
from litepyramid.types import InputReferences, SystemSummaries
from litepyramid.units.align import sentences_of
from litepyramid.units.parses import read_parses
from litepyramid.units.sentences import make_splitter

JUDGED = "imported judgements"
"""What the manifest of a folder says that `write_judged` filled."""


def writing_tasks_from(sources: Sequence[Path], title: str | None = None) -> TaskSet:
    """Tasks of writing SCUs from the one plan that is named.

    Raises:
        InputError: There is another number of files, or it is not a plan.
    """
    if len(sources) != 1 or file_type(sources[0]) == "folder":
        raise InputError(
            f"{counted(len(sources), 'file or folder', 'files or folders')} without units to judge",
            path=sources[0] if len(sources) == 1 else None,
            expected="one plan; or summaries together with --units",
        )
    plan = read_plan(sources[0])
    return writing_tasks(plan) if title is None else writing_tasks(plan, title)


def judging_tasks_from(
    sources: Sequence[Path],
    units: Path,
    title: str | None = None,
    only: Sequence[str] | None = None,
    **names: Any,
) -> TaskSet:
    """Tasks of judging which units are in which summaries.

    Raises:
        InputError: As `read_units` and `read_summaries`.
    """
    entries = read_units(units, **names)
    summaries = read_summaries(sources, [entry.input for entry in entries], **names)
    if only is not None:
        kept = [i for i, entry in enumerate(entries) if entry.input in set(only)]
        if len(kept) != len(only):
            raise InputError("the plan names other inputs than the units", path=units)
        entries = [entries[i] for i in kept]
        summaries = [
            SystemSummaries(s.system, tuple(only), tuple(s.texts[i] for i in kept))
            for s in summaries
        ]
    if title is None:
        return judging_tasks(summaries, entries)
    return judging_tasks(summaries, entries, title)


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


def sentence_easiness(
    references: Any,
    *,
    by: By = "easiness",
    easiness: Any = None,
    scus: Any = None,
    stus: Any = None,
    regressor: Any = None,
    parses: Path | None = None,
    splitter: str = "rules",
    **names: Any,
) -> Easiness:
    """The easiness of every sentence of the references, to choose by and to say what to expect.

    Args:
        references: The references (`io.coerce.as_references`).
        by: ``gold`` computes the values from `scus` and `stus`; else they come from the file
            `easiness`, or are predicted.
        easiness: Values, or a file of them (`easiness.scores.read_easiness`).
        scus: SCUs of the references, for gold.
        stus: STUs of the references: for gold; and for predicting how well these stand in, those
            of the embedded extractor if not given.
        regressor: The regressor to predict with, the embedded one if not given.
        parses: Constituency trees, for a regressor on the paper's features.
        splitter: What splits references whose sentences are not marked (`units.sentences`).
        **names: `ids` and `columns` of all files (`read_references`).

    Raises:
        InputError: Something needed is missing, or a sentence has no value in the file.
    """
    loaded = _marked(as_references(references, **names), splitter)
    sentences = sentences_of(loaded)
    if by == "gold" and easiness is None:
        if scus is None or stus is None:
            raise InputError("gold easiness needs both", expected="--scus and --stus")
        return gold_easiness(
            as_units(scus, kind="scu", only=True, **names),
            as_units(stus, kind="stu", only=True, **names),
            sentences,
        )
    if easiness is not None:
        given = read_easiness(easiness) if isinstance(easiness, str | Path) else easiness
        return Easiness(sentences, given.of(sentences), given.signature, given.notes)
    return predict_easiness(
        loaded,
        regressor=regressor,
        stus=None if stus is None else as_units(stus, kind="stu", only=True, **names),
        parses=None if parses is None else read_parses(parses),
    )


def _marked(references: Sequence[InputReferences], splitter: str) -> list[InputReferences]:
    """The references with all sentences marked: those that were not are split."""
    if all(all(entry.marked) for entry in references):
        return list(references)
    split = make_splitter(splitter)
    return [
        InputReferences(
            entry.input,
            tuple(
                texts if marked else tuple(part for text in texts for part in split(text))
                for texts, marked in zip(entry.references, entry.marked, strict=True)
            ),
            (True,) * len(entry.references),
        )
        for entry in references
    ]
