"""``litepyramid score`` and ``litepyramid compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import typer

from litepyramid.cli.judging import JudgeGroup
from litepyramid.cli.options import Kind, Made, NamesGroup, Shown, ShownGroup, Written
from litepyramid.judges import DEFAULT_JUDGE

_COLUMNS = ("npz", "parquet", "folder")
PageForm = Literal["table", "json", "csv", "latex", "html", "npz", "parquet", "folder"]
Target = Literal["inputs", "population"]
Importance = Literal["vital", "all"]


def score(
    summaries: list[Path] | None = None,
    /,
    units: Path | None = None,
    references: Path | None = None,
    judge: str = DEFAULT_JUDGE,
    labels: Path | None = None,
    pyramid: Literal["lite", "sample", "original", "modified"] = "lite",
    name: str | None = None,
    form: PageForm = "table",
    output: Made | None = None,
    figure: Written | None = None,
    html: Written | None = None,
    evidence: bool = False,
    combine: bool = False,
    plan: Path | None = None,
    assume_random: bool = False,
    target: Target = "inputs",
    label_units: Path | None = None,
    weights: Path | None = None,
    presence: Path | None = None,
    importance: Importance = "all",
    direction: Literal["recall", "precision", "f1"] = "recall",
    premise: Path | None = None,
    srl: str = "embedded",
    coref: str = "srl",
    sample_size: int = 16,
    reference_count: int = 1,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    kind: Kind | None = None,
    engine: Literal["local", "ray"] = "local",
    workers: int | None = None,
    *,
    judge_settings: JudgeGroup,
    names: NamesGroup,
) -> None:
    """Score systems by the reference facts that their summaries carry.

    $ litepyramid score example/summaries --units example/scus.jsonl --labels \\
        example/labels -f json -o scores.json
    $ litepyramid score example/summaries --references example/references.jsonl
    $ litepyramid score example/summaries --units example/scus.jsonl \\
        --references example/references.jsonl --html report.html

    Options:
        summaries: Summary files, or folders; one file per system.
        units (-u): Units of the references: JSON Lines, a table, or a line file.
        references (-r): References to extract STUs from.
        pyramid (RULE): lite: mean over all units; sample: LitePyramid; original, modified: Pyramid.
        name (NAME): Name of the metric. [default: by the units]
        form (--format -f FORM): table, json, csv, latex, html; for large results folder, npz,
            parquet.
        output (-o PATH): Write to this file, or folder.
        html (FILE): Write the report page: which fact is in which summary.
        evidence (--evidence/--no-evidence): Save texts and where each unit was found, in JSON and
            page.

    Units and weights:
        label_units: The units of --labels, if not those scored.
        presence (FILE): Presence instead of a judge: CSV, JSON Lines, or a saved result of `score`.
        direction (WAY): recall: reference facts in summaries; precision: summary facts in
            references.
        premise (FILE): With --direction precision: judge against these documents (faithfulness).
        sample_size (N >=1): With --pyramid sample: K.
        reference_count (N >=1): With --pyramid modified: per input.

    NLI judges (a hub id or a folder):
        engine: Judge on this machine or on a Ray cluster.
        workers (N >=1): Processes of an embedded judge [default: all cores], or judges on Ray [one
            per GPU].
    """
    from litepyramid import api
    from litepyramid.errors import InputError
    from litepyramid.figures.base import check_figure
    from litepyramid.figures.scores import score_figure
    from litepyramid.files import check_output, check_there
    from litepyramid.scoring.pyramid import ScoringRule

    for what, given in (("--label-units", label_units is not None), ("--combine", combine)):
        if given and labels is None:
            raise InputError(f"{what} without --labels", expected="both")
    if not combine and (plan is not None or assume_random):
        raise InputError("--plan or --assume-random without --combine", expected="both")
    if output is not None and form != "folder":
        check_output(output)
    check_there(*summaries or (), labels, label_units, weights, presence, premise)
    check_figure(figure)
    if form in _COLUMNS and (
        output is None or combine or direction != "recall" or evidence or html
    ):
        raise InputError(
            f"--format {form} without --output, or with --combine, --direction or a page",
            expected="--output PATH and none of the others",
            hint="'litepyramid report' writes the page of a saved result.",
        )
    if premise is not None and direction == "recall":
        raise InputError("--premise without --direction precision or f1", expected="both")
    if direction != "recall":
        if labels or presence or combine or html is not None or engine == "ray" or form == "html":
            raise InputError(
                f"--direction {direction} with labels, presence, a page or Ray",
                expected="summaries with --references or --premise alone",
            )
        shared: dict[str, Any] = {
            "judge": api.judge(judge, **judge_settings), "srl": srl, "coref": coref,
            "samples": samples, "confidence": confidence, "seed": seed, **names,
        }  # fmt: skip
        recall = None
        if direction == "f1":
            extracted = None if units is not None else references
            more: dict[str, Any] = {"weights": weights, "kind": kind}
            recall = api.score(summaries, units, references=extracted, **more, **shared)
        to = None if premise is not None else references
        other = api.precision(summaries, references=to, documents=premise, recall=recall, **shared)
        return Shown(figure, form, output).emit(other, score_figure)
    result = api.score(
        summaries,
        units,
        references=references,
        judge=None if presence is not None and judge == DEFAULT_JUDGE else judge,
        presence=presence,
        labels=labels,
        label_units=label_units,
        weights=weights,
        kind=kind,
        rule=ScoringRule(pyramid, sample_size, reference_count, importance),
        srl=srl,
        coref=coref,
        name=name,
        samples=samples,
        confidence=confidence,
        seed=seed,
        engine=engine,
        workers=workers,
        folder=output if form == "folder" else None,
        evidence=presence is None and (evidence or html is not None or form == "html"),
        partial_labels=combine,
        **names,
        **judge_settings,
    )
    if html is not None:
        result.to_html(html)
    shown: Any = result
    if combine:
        shown = api.combine(
            result, plan=plan, assume_random=assume_random, target=target, confidence=confidence
        )
    if form == "folder":  # written while it was judged
        form, output = "table", None
    Shown(figure, form, output).emit(shown, score_figure)


def compare(
    summaries: list[Path],
    /,
    units: Path | None = None,
    references: Path | None = None,
    judge: str = DEFAULT_JUDGE,
    against: str | None = None,
    top: int | None = None,
    metric: str | None = None,
    combine: bool = False,
    human: str = "human",
    plan: Path | None = None,
    assume_random: bool = False,
    target: Target = "inputs",
    weights: Path | None = None,
    importance: Importance = "all",
    srl: str = "embedded",
    coref: str = "srl",
    samples: int = 10_000,
    confidence: float = 0.95,
    alpha: float = 0.05,
    seed: int = 12345,
    kind: Kind | None = None,
    *,
    shown: ShownGroup,
    judge_settings: JudgeGroup,
    names: NamesGroup,
) -> None:
    """Compare systems on the same inputs: differences, intervals, p-values.

    $ litepyramid compare scores.json
    $ litepyramid compare example/summaries --units example/scus.jsonl --against \\
        lead

    Options:
        summaries: Summary files or folders; or one table of scores.
        units (-u): Units of the references: JSON Lines, a table, or a line file.
        references (-r): References to extract STUs from.
        against (SYSTEM): Compare this system with all others.
        top (N): Compare only the N best systems.
        metric (NAME): Metric to use, if a table has several.

    Few labels:
        human (NAME): With --combine: the human metric of a table.
    """
    from litepyramid import api
    from litepyramid.figures.scores import comparison_figure
    from litepyramid.files import check_there
    from litepyramid.io.columns import read_columns
    from litepyramid.scoring.pyramid import ScoringRule
    from litepyramid.stats import check_samples

    check_samples(samples, confidence=confidence, alpha=alpha)
    check_there(*summaries, weights)
    scores: Any = summaries[0]
    judged = len(summaries) == 1 and read_columns(summaries[0]) is not None
    if units or references or (not judged and (len(summaries) > 1 or summaries[0].is_dir())):
        scores = api.score(
            summaries,
            units,
            references=references,
            srl=srl,
            coref=coref,
            judge=judge,
            weights=weights,
            kind=kind,
            rule=ScoringRule(importance=importance),
            samples=samples,
            seed=seed,
            **names,
            **judge_settings,
        )
    if combine:
        result: Any = api.combine(
            scores,
            metric=metric,
            human=human,
            plan=plan,
            assume_random=assume_random,
            target=target,
            confidence=confidence,
            alpha=alpha,
            columns=names["columns"],
        )
    else:
        result = api.compare(
            scores,
            metric=metric,
            against=against,
            top=top,
            samples=samples,
            confidence=confidence,
            alpha=alpha,
            seed=seed,
            columns=names["columns"],
        )
    shown.emit(result, comparison_figure)


def report(
    result: Path,
    /,
    output: Written = Path("report.html"),
) -> None:
    """Write the report page of a saved result: which fact is in which summary.

    $ litepyramid report scores.json
    $ litepyramid report scores.json -o rain.html

    Options:
        result: A saved result of `litepyramid score`.
        output (-o FILE): The page to write.
    """
    from litepyramid.scoring.saved import read_result

    read_result(result).to_html(output)
    typer.echo(f"Wrote {output}", err=True)
