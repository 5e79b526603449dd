"""Units and labels of people's answers; nothing is lost, and oddities are named."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Literal

import numpy as np

from litepyramid.annotation.agreement import agree
from litepyramid.annotation.imported import (
    LISTED,
    Answers,
    JudgedLabels,
    WrittenUnits,
    label_rows,
)
from litepyramid.annotation.responses import Response, read_responses
from litepyramid.annotation.tasks import TaskSet, read_tasks
from litepyramid.data.data import load
from litepyramid.data.facts import Facts
from litepyramid.data.records import Fact, InputUnits, Summaries, Unit, Units
from litepyramid.data.written import write_units
from litepyramid.disk import (
    check_names,
    check_output,
    new_folder,
    write_json,
    write_jsonl,
)
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.identity import fingerprint
from litepyramid.scoring.sampled import (
    SAMPLE_FILE,
    SampledLabels,
    Spread,
    text_sha,
    write_sample,
)
from litepyramid.text import counted
from litepyramid.types import Fields, FloatArray, OutPath, Signature, UnitsLike
from litepyramid.units.align import Place, align_all

Writers = Literal["first", "all"]
Named = defaultdict[str, list[str]]
_NOTHING = ("n/a", "none", "-")


def import_answers(
    tasks: TaskSet | str | Path,
    answers: Sequence[str | Path],
    *,
    output: OutPath | None = None,
    units: UnitsLike | None = None,
    writers: Writers = "first",
    drafts: bool | None = None,
    noisy_above: float = 0.5,
) -> Answers:
    """Import complete or partial answers: SCUs become units, yes and no become labels.

    Labels are the majority of the workers (a tie is "not present"), noisy ones dropped,
    of those inputs for which every summary has every answer.

    Args:
        tasks: The folder of the export, or its tasks.json.
        answers: Files of answers: the page's JSON, Label Studio's JSON, or filled-in
            sheets.
        output: Where to write: a file of units (writing), or a new or empty folder for
            units, summaries, labels and agreement (judging).
        units: Writing: STUs for all sentences without finished SCUs; or the units of an
            earlier import, to add to.
        writers: Writing: whose SCUs count if several people wrote some.
        drafts: Count answers that are not marked as finished; by default only in
            judging.
        noisy_above: Judging: drop workers who contradict the others more often; 1 drops
            nobody.

    Raises:
        InputError: The answers are for other tasks, or cannot be read.

    Command line:
        $ litepyramid budget import tasks answers.json --units stus.jsonl -o scus.jsonl
        $ litepyramid budget import judging answers-*.json -o judged
    """
    choose("writers", writers, Writers)
    exported = read_tasks(tasks)
    responses = read_responses(answers)

    is_writing = exported.kind == "writing"
    why = f"on tasks of {exported.kind}"
    no_effect(import_answers, is_writing, why, noisy_above=noisy_above)
    no_effect(import_answers, not is_writing, why, units=units, writers=writers)

    if is_writing:
        if output is not None:
            check_output(output)
        others = None if units is None else load(units=units, kind="stu").units
        written = collect_units(
            exported,
            responses,
            others,
            writers,
            bool(drafts),
        )
        if output is None:
            return written
        if not written.units:
            return replace(written, output=("Nothing was written: no unit yet.",))
        write_units(output, written.units)
        return replace(written, output=(f"Wrote {output}",))

    judged = collect_labels(exported, responses, noisy_above, drafts is not False)
    if output is None:
        return judged
    names = write_judged(Path(output), judged)
    notes = [f"Wrote {Path(output) / name}" for name in names]
    return replace(judged, output=tuple(notes))


def collect_units(
    tasks: TaskSet,
    answers: Sequence[Response],
    others: Units | None = None,
    writers: Writers = "first",
    drafts: bool = False,
) -> WrittenUnits:
    """Makes units of the SCUs that people wrote; every other sentence carries its STUs.

    A sentence that people found no fact in is done and carries neither. `others` are
    STUs of the same inputs, or, if there is an SCU among them, the units of an earlier
    import.
    """
    named: Named = defaultdict(list)
    rows = _by_task(tasks, answers, named)
    scus = {}

    for task in tasks.writing:
        responses = []
        for r in rows.get(task.id, {}).values():
            facts = [scu for scu in r.scus if scu.lower().strip(".") not in _NOTHING]
            if len(facts) < len(r.scus):
                named["nothing"].append(f"{task.name} by {r.worker} ({r.source})")
            if facts or r.no_fact:
                responses.append(replace(r, scus=tuple(facts)))

        for r in responses:
            if r.contradictory:
                named["contradictory"].append(f"{task.name} by {r.worker} ({r.source})")

        finished = [r for r in responses if r.done or drafts]
        if not finished:
            named["started" if responses else "open"].append(task.name)
            continue

        if len(finished) > 1:
            who = [r.worker if r.scus else f"{r.worker} (no fact)" for r in finished]
            named["several"].append(f"{task.name}: {', '.join(who)}")

        counting = finished if writers == "all" else finished[:1]
        # Two writers may have written the same fact.
        texts = [*dict.fromkeys(chain.from_iterable([r.scus for r in counting]))]
        scus[task.input, task.reference, task.sentence] = texts
        if not texts:
            named["no_fact"].append(task.name)

    merged = _merged(tasks, scus, others)
    units = Units.of([entry for entry in merged if entry.units])
    named["without"] = [entry.input for entry in merged if not entry.units]
    return WrittenUnits(
        units,
        len(tasks.writing),
        len(scus),
        named,
        Signature.of(
            tasks=tasks.digest,
            writers=writers,
            drafts="yes" if drafts else None,
            units_sha=units.sha,
            inputs_sha=units.inputs_sha,
        ),
        written=sum(map(len, scus.values())),
        fallen_back=0 if others is None else len(tasks.writing) - len(scus),
    )


def _merged(
    tasks: TaskSet, written: Mapping[Place, Sequence[str]], others: Units | None
) -> list[InputUnits]:
    """The units of all inputs, perhaps none: SCUs of what was written, and what the
    other sentences had."""
    base = others or Units()
    earlier = any(unit.kind == "scu" for unit in base.every)
    names = dict.fromkeys(s.input for s in tasks.sentences)
    for unit in base.every if earlier else ():
        if any(e.reference is None or e.sentence is None for e in unit.entries()):
            raise InputError(
                f"the unit '{unit.text}' does not say its sentence",
                expected="only STUs, or units that `litepyramid budget import` wrote",
            )

    missing = [name for name in names if name not in base]
    if missing and others is not None and not earlier:
        hint = "Give the STUs of the references that the plan was made from."
        raise InputError(f"input '{missing[0]}' has no STUs", hint=hint)

    units: dict[str, list[Unit]] = {name: [] for name in names}
    for (name, reference, sentence), texts in written.items():
        for text in texts:
            units[name].append(Unit(text, reference=reference, sentence=sentence))
    for aligned in align_all(base.of_inputs(names), tasks.sentences):
        name = aligned.units.input
        for unit in aligned.units.units:
            # What people write now takes the place of all that the sentence had.
            if (name, unit.reference or 0, unit.sentence or 0) not in written:
                units[name].append(unit)

    questions = {t.input: t.question for t in tasks.writing}
    entries = []
    for name in names:
        question = questions.get(name)
        if name in base:
            question = base[name].question or question
        entries.append(InputUnits(name, tuple(units[name]), question))

    # An earlier import may hold inputs that these tasks are not about: they stay.
    if earlier:
        entries += [entry for entry in base if entry.input not in names]
    return entries


def collect_labels(
    tasks: TaskSet,
    answers: Sequence[Response],
    noisy_above: float = 0.5,
    drafts: bool = True,
) -> JudgedLabels:
    """Makes presence labels of yes and no answers, see `agreement.agree`.

    Each answer counts by itself, even if its task is incomplete; labels are of the
    inputs of which each unit of each system's summary has an answer. Empty summaries
    contain nothing.
    """
    named: Named = defaultdict(list)
    judging = sorted(tasks.judging, key=lambda task: (task.system, task.input))
    tasks = replace(tasks, judging=tuple(judging))
    rows = _by_task(tasks, answers, named, drafts)
    # By name: which of two equally noisy ones goes is not up to the files.
    workers = sorted({*chain.from_iterable(rows.values())})
    table = _answer_table(tasks, rows, workers, named)
    if np.isnan(table).all():
        raise _foreign(tasks, named)

    agreement = agree(table, workers, noisy_above=noisy_above)
    asked = [(task.system, fact) for task in tasks.judging for fact in task.facts]
    labels = dict(zip(asked, agreement.labels.tolist(), strict=True))
    texts: dict[tuple[str, str], str | None] = dict.fromkeys(tasks.blank, "")
    partial = set()

    for task in tasks.judging:
        texts[task.system, task.input] = task.summary
        missing = [math.isnan(labels[task.system, fact]) for fact in task.facts]
        if any(missing):
            named["open" if all(missing) else "started"].append(task.name)
            partial.add(task.input)
    for system, name in tasks.blank:
        for fact in tasks.units.of_inputs([name]).facts:
            labels[system, fact] = 0.0

    # Single facts are labels of a sample only: no input is complete.
    complete: list[str] = []
    if tasks.spread not in ("facts", "summaries"):
        complete = [name for name in tasks.units.inputs if name not in partial]
        named["incomplete"] = sorted(partial)

    whole = Facts.of(labels, tasks.units).over(tasks.systems, tasks.units)
    scored = whole.of_inputs(complete)
    cells = {cell: texts.get(cell) for cell in product(tasks.systems, complete)}
    hashes = (("tasks", tasks.digest), ("inputs_sha", fingerprint(complete)))
    return JudgedLabels(
        scored.units,
        len(tasks.judging),
        len(tasks.judging) - len(named["started"]) - len(named["open"]),
        named,
        Signature((*hashes, *agreement.signature.fields)),
        scored,
        Summaries.of(cells),
        agreement,
        None if tasks.spread is None else _sampled(tasks, tasks.spread, labels),
        tasks.repeats,
    )


def _answer_table(
    tasks: TaskSet,
    rows: Mapping[str, Mapping[str, Response]],
    workers: Sequence[str],
    named: Named,
) -> FloatArray:
    """(workers, facts) of 1, 0 and NaN: what each answered, task after task."""
    tables = []
    for task in tasks.judging:
        table = np.full((len(workers), len(task.facts)), np.nan)
        for worker, response in rows.get(task.id, {}).items():
            for index, present in response.presence.items():
                if index >= len(task.facts):
                    what = f"{task.name}: {index + 1} ({response.source})"
                    named["extra"].append(what)
                elif present is None:
                    what = f"{task.name}: {task.units[index]} ({response.source})"
                    named["refused"].append(what)
                else:
                    table[workers.index(worker), index] = present
        tables.append(table)
    return np.concatenate(tables, axis=1)


def _sampled(
    tasks: TaskSet, spread: Spread, labels: Mapping[tuple[str, Fact], float]
) -> SampledLabels:
    """The labels of a sample with their probabilities; an empty summary holds no
    fact."""
    drawn = {}
    texts = dict.fromkeys(tasks.blank, text_sha(""))
    certain = 1.0
    for task in tasks.judging:
        texts[task.system, task.input] = text_sha(task.summary)
        for fact, chance in zip(task.facts, task.probabilities, strict=True):
            drawn[task.system, fact] = labels[task.system, fact], chance
            # Inputs are drawn with equal chances, with their empty summaries.
            certain = chance if spread == "inputs" else 1.0

    for system, name in tasks.blank:
        for fact in tasks.units.of_inputs([name]).facts:
            drawn[system, fact] = 0.0, certain
    return SampledLabels.of(spread, drawn, tasks.units, texts)


def write_judged(folder: Path, judged: JudgedLabels) -> list[str]:
    """Writes a folder that can be scored: units.jsonl, summaries/, labels/,
    agreement.json; gives their names.

    Of a sample also sample.json. If no input is complete, there is nothing to score
    and no more than that.
    """
    systems = judged.labels.systems
    check_names(systems)
    names = ["agreement.json"]
    with new_folder(folder) as new:
        write_json(new / names[0], judged.agreement.to_json())
        if judged.sample is not None:
            write_sample(new / SAMPLE_FILE, judged.sample)
            names.append(SAMPLE_FILE)
        if not judged.units:
            return names

        write_units(new / "units.jsonl", judged.units)
        for part in ("labels", "summaries"):
            (new / part).mkdir()
        for system in systems:
            labels = label_rows(judged.labels, system)
            texts = judged.summaries.of_system(system).items()
            rows: list[Fields] = [{"input": of, "summary": text} for of, text in texts]
            if system in judged.repeats:
                whose = dict(
                    zip(("system", "repeat"), judged.repeats[system], strict=True)
                )
                there = {row["input"] for row in rows if row["summary"] is not None}
                # What one system answered once and another twice lacks no answer.
                labels = [whose | row for row in labels if row["input"] in there]
                rows = [whose | row for row in rows if row["input"] in there]
            write_jsonl(new / "labels" / f"{system}.jsonl", labels)
            write_jsonl(new / "summaries" / f"{system}.jsonl", rows)
    return [*names, "units.jsonl", "labels", "summaries"]


def _by_task(
    tasks: TaskSet, answers: Sequence[Response], named: Named, drafts: bool = True
) -> dict[str, dict[str, Response]]:
    """By task id and worker the response that counts; the others are named, but for
    drafts that are left out.

    Of a worker's two the later saved, or read, counts, but SCUs that are done before a
    draft of them.
    """
    by_id = {task.id: task for task in tasks.tasks}
    rows: dict[str, dict[str, Response]] = {}
    for response in answers:
        task = by_id.get(response.task)
        if task is None or response.skipped:
            where = f"{response.task} ({response.source})"
            named["skipped" if response.skipped else "unknown"].append(where)
            continue
        if not (response.finished or drafts):
            continue

        if response.unnamed and response.worker not in named["unnamed"]:
            named["unnamed"].append(response.worker)
        for fact in response.opposite:
            what = f"{task.name} by {response.worker}: {fact}"
            named["opposite"].append(what)

        by_worker = rows.setdefault(task.id, {})
        before = by_worker.get(response.worker)
        if before is not None:
            # Files come in any order; where both say when, the later one counts.
            if before.saved and response.saved and response.saved < before.saved:
                before, response = response, before
            if response.presence:
                # An earlier answer to a unit that the later one leaves out counts.
                response = replace(
                    response, presence={**before.presence, **response.presence}
                )
            elif before.done and not response.done:
                before, response = response, before
            named["duplicates"].append(
                f"{task.name} by {before.worker} ({before.source})"
            )

        by_worker[response.worker] = response

    if not rows:
        raise _foreign(tasks, named)
    return rows


def _foreign(tasks: TaskSet, named: Named) -> InputError:
    """The error for answers none of which belongs to the tasks."""
    expected = (
        f"answers to the {counted(len(tasks.ids), f'{tasks.kind} task')} in tasks.json"
    )
    unknown = "; ".join(named["unknown"][:LISTED])
    hint = f"Answers to unknown tasks: {unknown}." if unknown else None
    return InputError("no answer belongs to these tasks", expected=expected, hint=hint)
