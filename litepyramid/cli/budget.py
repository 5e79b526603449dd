"""``litepyramid budget``: what people should annotate, and what they answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.options import (
    Constant,
    Form,
    Group,
    Made,
    NamesGroup,
    ShownGroup,
    Splitter,
    Written,
    runs,
)
from litepyramid.judges import DEFAULT_JUDGE

app = typer.Typer(
    help="""Plan what people annotate, export the tasks, import the answers.

    $ litepyramid budget plan example/references.jsonl --human-share 0.5 -o \\
        plan.json
    $ litepyramid budget export plan.json -o tasks
    """,
    no_args_is_help=True,
)


def _labels(
    inputs: int | None = None,
    width: float | None = None,
    per_judgement: float | None = None,
    annotators: int | None = None,
    per_task: int = 1,
    checks: int = 0,
    seconds: float | None = None,
    strata: int = 4,
) -> dict[str, Any]:
    """The arguments of `plan_labels`.

    With --for presence:
        inputs (N): Label this many inputs.
        width (W): Label enough for 95 % intervals of this width.
        per_judgement: Cost of one judgement.
        annotators (N >=1): Number of people who judge.
        per_task (N >=1): Number of people who judge each summary.
        checks (N >=0): Number of summaries that everybody judges.
        seconds: Time per answer.
        strata (N >=1): Strata to draw from.
    """
    return dict(locals())


@app.command()
def plan(
    source: Path,
    /,
    purpose: Literal["scus", "presence"] = "scus",
    human_share: float | None = None,
    sentences: int | None = None,
    cost: float | None = None,
    per_sentence: float | None = None,
    *,
    labels: Annotated[dict[str, Any], Group(_labels)],
    by: Literal["easiness", "random", "reversed", "gold", "error", "score"] | None = None,
    after: list[Path] | None = None,
    output: Written | None = None,
    form: Form = "table",
    stus: Path | None = None,
    easiness: Path | None = None,
    regressor: Path | None = None,
    parses: Path | None = None,
    scus: Path | None = None,
    splitter: Splitter = "rules",
    seed: int = 12345,
    names: NamesGroup,
) -> None:
    """Choose what people annotate: sentences to write SCUs for, or inputs to judge presence in.

    $ litepyramid budget plan example/references.jsonl --human-share 0.5 -o \\
        plan.json
    $ litepyramid budget plan scores.json --for presence --inputs 6 \\
        --annotators 3 -o labels-plan.json

    Options:
        source: References; with --for presence, JSON of `score` or a score table.
        purpose (--for WHAT): What people do: write SCUs, or judge presence.
        human_share (P): People annotate this share of the sentences, 0 to 1.
        sentences (N): People annotate this many sentences.
        cost: People annotate as much as this buys.
        per_sentence: Cost of one sentence.
        by (BY): easiness, random, reversed or gold; with --for presence error, score or random.
            [default: easiness, error]
        after: An earlier plan, whose sentences are not chosen again; repeat.
        output (-o): Write the plan here, for budget export.

    Files and tables:
        scus: With --by gold: SCUs.
    """
    from litepyramid import api
    from litepyramid.annotation.plan import write_plan
    from litepyramid.annotation.presence_plan import write_presence_plan
    from litepyramid.errors import InputError
    from litepyramid.files import check_there
    from litepyramid.tables import emit

    check_there(source, easiness, scus, stus, regressor, parses)
    result: Any
    write: Callable[[Path, Any], None]
    if purpose == "presence":
        if by not in (None, "error", "score", "random"):
            raise InputError(f"--by {by} with --for presence", expected="error, score or random")
        columns, write = names["columns"], write_presence_plan
        result = api.plan_labels(source, by=by, cost=cost, seed=seed, columns=columns, **labels)
    else:
        if by == "error" or by == "score":
            raise InputError(f"--by {by} without --for presence", expected="easiness, random …")
        write = write_plan
        result = api.plan(
            source,
            human_share=human_share,
            sentences=sentences,
            cost=cost,
            per_sentence=per_sentence,
            by=by or "easiness",
            easiness=easiness,
            scus=scus,
            stus=stus,
            regressor=regressor,
            parses=parses,
            after=after or (),
            splitter=splitter,
            seed=seed,
            **names,
        )
    if output is not None:
        write(output, result)
    emit(result, form)


@app.command()
@runs("litepyramid.api:export_tasks", sources="work", to="form")
def export(
    sources: list[Path],
    /,
    folder: Made,
    units: Path | None = None,
    to: Literal["page", "label-studio", "mturk"] = "page",
    parts: int = 1,
    plan: Path | None = None,
    title: str | None = None,
    form: Form = "table",
    *,
    names: NamesGroup,
) -> None:
    """Export annotation tasks: SCU writing from a plan, presence judging from summaries.

    $ litepyramid budget export plan.json -o tasks
    $ litepyramid budget export example/summaries --units example/scus.jsonl -o \\
        judging

    Options:
        sources: A plan (people write SCUs), or with --units summaries.
        folder (--output -o): Folder to write to.
        units (-u): People judge which of these units are present.
        to (FORM): page (offline HTML), label-studio, or mturk.
        parts (N >=1): Number of pages or batches.
        plan: With --units: a labelling plan; exports its inputs, split by annotator.
        title: Title that people see above the tasks.
    """


@app.command("import")
@runs(
    "litepyramid.api:import_answers",
    without=["keep_noisy"],
    goal="output",
    random_rounds="rounds",
)
def import_answers(
    tasks: Path,
    answers: list[Path],
    /,
    goal: Made,
    form: Form = "table",
    stus: Path | None = None,
    onto: Path | None = None,
    writers: Literal["first", "all"] | None = None,
    drafts: bool = False,
    noisy_above: float | None = None,
    gold: Path | None = None,
    keep_noisy: bool = False,
    min_compared: int | None = None,
    random_rounds: int | None = None,
    seed: int = 12345,
) -> Any:
    """Import complete or partial answers: SCUs become units, yes and no become labels.

    $ litepyramid budget import tasks answers.json -o scus.jsonl --stus \\
        stus.jsonl
    $ litepyramid budget import judging answers/*.json -o judged

    Options:
        tasks: The export's folder, or its tasks.json.
        answers: The page's JSON, Label Studio's JSON, or MTurk's CSV.
        goal (--output -o): Units file (writing), or folder (judging).

    Tasks of writing SCUs:
        stus: STUs for all sentences without finished SCUs.
        onto: Add to the units of an earlier import.
        writers: Whose SCUs count if several people wrote. [default: first]
        drafts: Also take sentences not marked as finished.

    Tasks of judging presence:
        noisy_above (P): Drop workers who contradict the others more often than this. [default: 0.5]
        gold: Known labels of some summaries, to compare workers with.
        keep_noisy: Drop no worker.
        min_compared (N >=1): Never drop a worker with fewer comparable answers. [default: 10]
        random_rounds (N >=0): Number of times to also draw labels from one random answer per item
            instead of the majority (labels-round1 …).
    """
    from litepyramid.annotation.tasks import read_tasks
    from litepyramid.errors import InputError

    sent = read_tasks(tasks)
    options: dict[str, dict[str, object]] = {
        "writing": {"stus": stus, "onto": onto, "writers": writers},
        "judging": {
            "noisy-above": noisy_above,
            "gold": gold,
            "keep-noisy": keep_noisy or None,
            "min-compared": min_compared,
            "random-rounds": random_rounds,
        },
    }
    other = "judging" if sent.kind == "writing" else "writing"
    for name, value in options[other].items():
        if value is not None:
            raise InputError(f"--{name} is for {other} tasks; these are {sent.kind} tasks")
    found: dict[str, Any] = {"tasks": sent, "drafts": drafts or None}
    return found | ({"noisy_above": None} if keep_noisy else {})


@app.command()
@runs("litepyramid.api:label_power", "litepyramid.figures.scores:label_power_figure")
def power(
    difference: float,
    pilot: Path | None = None,
    inputs: int | None = None,
    metric: str | None = None,
    human: str = "human",
    power: float = 0.8,
    alpha: float = 0.05,
    samples: int = 1000,
    seed: int = 12345,
    *,
    shown: ShownGroup,
) -> None:
    """Simulate how many inputs people must label to detect a difference between two systems.

    $ litepyramid budget power --difference 0.1
    $ litepyramid budget power --difference 0.1 --pilot scores.json --inputs 200

    Options:
        difference (D): Difference between human scores to detect.
        pilot: JSON of `score` with labels, or a score table. [default: REALSumm]
        inputs (N): Inputs scored by the judge. [default: ten times those labelled]
        metric (NAME): The judge's metric in a table.
        human (NAME): The human metric in a table.
        power (P): Share of tests that should detect it.

    Statistics:
        samples (N 100..100000): Simulated tests.
    """


@app.command()
@runs(
    "litepyramid.easiness.files:curve_files",
    "litepyramid.figures.correlations:curve_figure",
    stu_share="shares",
    coefficient="coefficients",
)
def curve(
    summaries: list[Path],
    /,
    scus: Path,
    references: Path,
    stus: Path | None = None,
    labels: Path | None = None,
    scores: Path | None = None,
    human: str = "human",
    judge: str = DEFAULT_JUDGE,
    stu_share: list[float] | None = None,
    coefficient: Sequence[Literal["pearson", "spearman", "kendall"]] | None = None,
    easiness: Path | None = None,
    regressor: Path | None = None,
    parses: Path | None = None,
    folds: Path | None = None,
    constant: Constant = "skip",
    seeds: int = 100,
    samples: int = 1000,
    confidence: float = 0.95,
    seed: int = 12345,
    *,
    shown: ShownGroup,
    names: NamesGroup,
) -> None:
    """Correlate scores with human scores at each share of STUs (ZB21 Fig. 2, 4).

    $ litepyramid budget curve example/summaries -s example/scus.jsonl -r \\
        example/references.jsonl -l example/labels --figure curve.svg
    $ litepyramid budget curve example/summaries -s example/scus.jsonl -r \\
        example/references.jsonl -l example/labels -c kendall --stu-share 0.5

    Options:
        scores: Score table with human scores, instead of --labels.
        human (NAME): With --scores: name of the human score.
        judge (-j JUDGE): reading, lexical, recall, a hub id, a folder; with {fold}: one for each of
            --folds.
        stu_share (P): Share of STUs; repeat. [default: 0, .1 … 1]
        coefficient (-c NAME): pearson, spearman or kendall; repeat. [default: pearson]

    Files and tables:
        folds: Folder with a file of input ids for each fold: average over folds.

    Statistics:
        seeds (N >=0): Random rankings to average.
    """
