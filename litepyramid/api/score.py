"""Loading data, scoring systems, comparing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal

from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.io.coerce import (
    as_labels,
    as_names,
    as_presence,
    as_references,
    as_summaries,
    as_units,
    as_weights,
)
from litepyramid.io.dataset import Dataset
from litepyramid.io.datasets import DATASETS, load_dataset, read_authors_folder
from litepyramid.io.given import table_rows
from litepyramid.io.inputs import in_order
from litepyramid.io.scores import read_scores, select_matrix
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import Judge, JudgedBatch
from litepyramid.judges.own import as_judge
from litepyramid.judges.spread import spreads
from litepyramid.scoring.compare import SystemComparison, compare_systems
from litepyramid.scoring.pyramid import Rule, ScoringRule
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.score import score_presence, score_systems
from litepyramid.scoring.seen import look
from litepyramid.stats import check_samples
from litepyramid.types import InputUnits, Signature, UnitKind, fingerprint


def load(
    units: Any = None,
    *,
    summaries: Any = None,
    labels: Any = None,
    references: Any = None,
    stus: Any = None,
    weights: Any = None,
    kind: UnitKind | None = None,
    name: str = "own",
    ids: Any = None,
    columns: Any = None,
) -> Dataset:
    """Loads everything that belongs to one data set into one record.

    Args:
        units: Units of every input; or a folder in the layout of ``litepyramid datasets`` that
            holds all, or ``NAME=PATH`` of a published data set; or the table that holds all.
        summaries: Summaries of every system.
        labels: Presence labels of the units.
        references: References of the same inputs.
        stus: Extracted units of the same inputs, in addition to human `units`.
        weights: A weight for every unit.
        kind: Kind of units whose source does not specify it: ``scu`` (default) or ``stu``.
        name: Its name in results.
        ids: Ids of the inputs, where rows are matched by order: a list, or a file of them.
        columns: Own column names, by known column.

    Raises:
        InputError: A source cannot be read, or they do not match.

    Example:
        >>> data = load([["It rained.", "We left."]], summaries={"a": ["It rained."]})
        >>> data.units[0].texts, data.systems
        (('It rained.', 'We left.'), ('a',))
    """
    if isinstance(units, str) and units.partition("=")[0] in DATASETS:
        return load_dataset(*units.split("=", 1))
    if isinstance(units, str | Path) and file_type(units) == "folder":
        return read_authors_folder(Path(units))
    names = as_names(ids, columns)
    own = () if units is None else as_units(units, kind=kind, **names)
    if weights is not None:
        own = as_weights(weights, own, **names)
    texts = None if references is None else as_references(references, **names)
    extracted = None if stus is None else as_units(stus, kind="stu", only=True, **names)
    inputs = [entry.input for entry in own or texts or extracted or ()] or None
    systems = () if summaries is None else as_summaries(summaries, inputs, **names)
    if labels is not None and not own:
        raise InputError("labels without their units", expected="the units too")
    return Dataset(
        name,
        tuple(own),
        tuple(systems),
        () if labels is None else tuple(as_labels(labels, own, **names)),
        None if texts is None else in_order(texts, inputs or (), "references"),
        None if extracted is None else in_order(extracted, inputs or (), "stus"),
    )


def judge(name: Any = DEFAULT_JUDGE, **settings: Any) -> Judge:
    """A judge, which rates how far a unit is present in a summary.

    Args:
        name: A name that `--judge` takes: ``lexical``, a hub id, a folder, ``llm:MODEL`` …; a
            function of (summary, units) that returns one number from 0 to 1 per unit (NaN: no
            judgement); or an object with `judge`.
        **settings: For NLI models and models behind an endpoint: ``mode``, ``device``,
            ``endpoint``, ``cache`` … (`TransformersJudge`, `LLMJudge`).

    Raises:
        InputError: There is no such judge, or it takes no such setting.
        ModelError: The model cannot be read.
        MissingExtraError: A model is named but torch or transformers is not installed.
    """
    return as_judge(name, **settings)


def score(
    summaries: Any = None,
    units: Any = None,
    *,
    references: Any = None,
    judge: Any = None,
    presence: Any = None,
    labels: Any = None,
    label_units: Any = None,
    weights: Any = None,
    kind: UnitKind | None = None,
    rule: Rule | ScoringRule = "lite",
    srl: Any = "embedded",
    coref: Any = "srl",
    name: str | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    evidence: bool = False,
    partial_labels: bool = False,
    engine: Literal["local", "ray"] = "local",
    workers: int | None = None,
    folder: str | Path | None = None,
    ids: Any = None,
    columns: Any = None,
    **settings: Any,
) -> ScoreResult:
    """Scores systems by the reference facts that their summaries carry (ZB21 §3).

    Args:
        summaries: Summaries of every system: ``{"system": [texts]}``, a list of texts, a table, a
            path; or a `Dataset`, or a table, that includes the rest.
        units: Units of every input: human SCUs, or ready STUs.
        references: References to extract STUs from, if there are no units.
        judge: As for `litepyramid.judge`; `DEFAULT_JUDGE` if not given.
        presence: Instead of a judge, its output: presence of every unit in every summary, from
            anywhere (`io.presence.read_presence`). Then summaries are not needed.
        labels: Human presence labels, to show the human score as well.
        label_units: The units that the labels refer to, if they are not those scored.
        weights: A weight for every unit.
        kind: Kind of units whose source does not specify it: ``scu`` (default) or ``stu``.
        rule: ``lite`` weighted mean over all units; ``sample``, ``original``, ``modified``: see
            `ScoringRule`, which takes their numbers.
        srl: With references: the backend that finds frames (`units.extract.extract`).
        coref: With references: the coreference backend.
        name: Name of the metric next to others.
        samples: Bootstrap samples of the intervals.
        confidence: Confidence level of the intervals.
        seed: Seed of everything random.
        evidence: Also find where the judge sees each unit, and keep the texts, for the page and
            the JSON (`judges.evidence.gather`). Then references may accompany units, to be shown.
        partial_labels: Allow labels on only some of the inputs, as for `combine`.
        engine: ``ray`` judges on a Ray cluster, by the name of an embedded judge or an NLI model.
        workers: Processes of an embedded judge (all cores by default, where there is enough work;
            the numbers are the same for any number); with ``ray``: judges at work.
        folder: Save the result to this folder, presence as it is judged: what a run that was
            stopped has judged is not judged again when it is called again (`docs/scores.md`).
        ids: Ids of the inputs, where rows are matched by order: a list, or a file of them.
        columns: Own column names, by known column.
        **settings: Settings of the judge, if given by name.

    Returns:
        Scores of systems, summaries and units, with intervals over inputs and rank groups.

    Raises:
        InputError: A source cannot be read, they do not match, or something needed is missing.

    Example:
        >>> result = score(["It rained all day."], [["It rained.", "We left."]], judge="recall")
        >>> result.scores
        {'system': 0.5}
    """
    check_samples(samples, confidence=confidence)
    folder = None if folder is None else Path(folder)
    if presence is not None and (judge is not None or settings):
        raise InputError("both a judge and its presence", expected="one of the two")
    names = as_names(ids, columns)
    with ExitStack() as held:
        judging: Any = None
        store: Any = None
        if presence is None:
            named = DEFAULT_JUDGE if judge is None else judge
            if engine == "ray":
                from litepyramid.judges.ray import RayJudge

                judging = RayJudge(named, workers, **settings)
            else:
                judging = as_judge(named, **settings)
        if isinstance(summaries, Dataset):
            data = summaries
            if units is None and references is None:
                units, references = (data.units or None), (None if data.units else data.references)
            if labels is None and data.labels:
                labels = data.labels
                label_units = data.scus if label_units is None else label_units
            summaries = data.summaries
        elif units is None and references is None and presence is None:
            summaries, units, references = _of_one_table(summaries, names["columns"] or {})
        about: Mapping[str, str] = {}
        loaded: Sequence[InputUnits] | None = None
        systems: Any = None
        if units is not None and (references is None or evidence):
            loaded = as_units(units, kind=kind, **names)
        elif units is not None or (references is None and presence is None):
            raise InputError(
                "neither units nor references given"
                if units is None
                else "units and references given",
                expected="units (human SCUs or ready STUs), or references to extract STUs from",
                hint="With evidence, references may accompany units, to be shown."
                if units is not None
                else None,
            )
        given = None if references is None else as_references(references, **names)
        inputs = [entry.input for entry in loaded or given or ()]
        if summaries is not None:
            if judging is not None and spreads(judging) and not evidence:
                store = held.enter_context(TemporaryFile())  # read window by window
            systems = as_summaries(summaries, inputs or None, store=store, **names)
        if given is not None and loaded is None:
            from litepyramid.units.extract import extract

            extraction = extract(given, srl=srl, coref=coref)
            loaded, about = extraction.units, dict(extraction.signature.fields)
        if weights is not None and loaded is not None:
            loaded = as_weights(weights, loaded, **names)
        found = None if presence is None else as_presence(presence, loaded, **names)
        loaded = (found.units if found is not None else loaded) or ()
        labelled: Sequence[InputUnits] = loaded
        if label_units is not None:
            if labels is None:
                raise InputError("units for labels, but no labels", expected="both")
            inputs = [entry.input for entry in loaded]
            source = label_units if isinstance(label_units, str | Path) else "units of the labels"
            labelled = in_order(as_units(label_units, **names), inputs, source)
        options: dict[str, Any] = {
            "labels": None
            if labels is None
            else as_labels(labels, labelled, partial=partial_labels, **names),
            "label_units": labelled,
            "name": name,
            "rule": ScoringRule(rule) if isinstance(rule, str) else rule,
            "samples": samples,
            "confidence": confidence,
            "seed": seed,
            "about_units": about,
        }
        if evidence and (judging is None or engine == "ray" or folder is not None):
            raise InputError(
                "evidence without a judge in this process, or into a folder",
                expected="a judge alone",
            )
        if found is not None:
            batch = JudgedBatch((), {"judge": "given", "presence_sha": found.sha})
            wanted = found.systems if systems is None else [entry.system for entry in systems]
            if set(wanted) != set(found.systems):
                odd = sorted({*wanted} ^ {*found.systems})[0]
                has = "summaries but no presence" if odd in wanted else "presence but no summaries"
                raise InputError(f"system '{odd}' has {has}")
            values = found.values[[found.systems.index(one) for one in wanted]]
            result = score_presence(wanted, loaded, values, batch, **options)
        elif summaries is None:
            raise InputError(
                "no summaries", expected="summaries of at least one system, or presence"
            )
        else:
            if engine == "ray":
                held.enter_context(judging)
            result = score_systems(
                systems, loaded, judging, workers=workers, folder=folder, **options
            )
            if evidence:
                result = replace(result, seen=look(judging, systems, loaded, given))
        if folder is not None:
            result.to_columns(folder)
        return result


def _of_one_table(table: Any, columns: Mapping[str, str]) -> tuple[Any, Any, Any]:
    """A table as summaries, units and references, as far as it holds them."""
    rows = table_rows(table)
    names = {key for row in rows or () for key in row}

    def holds(what: str) -> bool:
        return any(columns.get(name, name) in names for name in (what, f"{what}s"))

    units = rows if rows and holds("unit") else None
    references = rows if rows and units is None and holds("reference") else None
    return rows or table, units, references


def compare(
    scores: Any,
    *,
    metric: str | None = None,
    against: str | None = None,
    top: int | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    alpha: float = 0.05,
    seed: int = 12345,
    columns: Any = None,
) -> SystemComparison:
    """Pairs of systems on the same inputs: difference, interval, p-value.

    Args:
        scores: A result of `score`, a `ScoreTable`, a file of scores, a data frame or rows.
        metric: Which metric, if there are several.
        against: Compare this system with each of the others, and no other pair.
        top: Compare only the systems with the `top` highest scores.
        samples: Bootstrap samples of the intervals.
        confidence: Confidence level of the intervals.
        alpha: Significance level.
        seed: Seed of the bootstrap.
        columns: Own column names, by known column.

    Raises:
        InputError: Fewer than two systems, no system `against`, a pair with no input in common, or
            several metrics.

    Example:
        >>> units = [["It rained."], ["We left."]]
        >>> texts = {"a": ["It rained.", "We left."], "b": ["It rained.", "We slept."]}
        >>> compare(score(texts, units, judge="recall")).pairs[0].difference
        0.5
    """
    options: Any = {
        "against": against,
        "top": top,
        "samples": samples,
        "confidence": confidence,
        "alpha": alpha,
        "seed": seed,
    }
    if isinstance(scores, ScoreResult):
        return compare_systems(scores.matrix, signature=scores.signature, **options)
    table = read_scores(scores, columns=as_names(None, columns)["columns"])
    matrix = select_matrix(table, metric)
    signature = Signature.of(metric=matrix.metric, inputs_sha=fingerprint(matrix.inputs))
    return compare_systems(matrix, signature=signature, **options)
