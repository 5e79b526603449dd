"""Draws the documentation's pictures, most from REALSumm: `make pictures`, some two
minutes; `python scripts/docs_pictures.py NAME …` draws those that are named."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import litepyramid as lp
from litepyramid.embedded.example import load_example

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
REALSUMM = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data")) / "realsumm"


def read(folder: Path) -> lp.Data:
    """SCUs, summaries and labels."""
    return lp.load(folder / "summaries", folder / "SCUs.txt", labels=folder / "labels")


def cut(goal: Path, keep: list[bool]) -> lp.Data:
    """The same of some inputs."""
    files = [
        file for name in ("summaries", "labels") for file in (REALSUMM / name).iterdir()
    ]
    for file in (REALSUMM / "SCUs.txt", *files):
        lines = file.read_text("utf-8").splitlines(keepends=True)
        new = goal / file.relative_to(REALSUMM)
        new.parent.mkdir(parents=True, exist_ok=True)
        kept = [line for line, chosen in zip(lines, keep, strict=True) if chosen]
        new.write_text("".join(kept), "utf-8")
    return read(goal)


def score(work: Path) -> None:
    """The systems' average scores, their intervals and groups."""
    lp.score(read(REALSUMM), judge="lexical").save(PICTURES / "score.svg")


def judge(work: Path) -> None:
    """Judges on the first fold, one of them fitted to the others."""
    held = (REALSUMM / "by_examples" / "fold1.id").read_text("utf-8").split()
    ids = (REALSUMM / "ids.txt").read_text("utf-8").split()
    train = cut(work / "train", [name not in held for name in ids])
    test = cut(work / "test", [name in held for name in ids])
    tuned = str(work / "tuned")
    lp.finetune("lexical", train, output=tuned)

    results = []
    for name, which in (("recall", "recall"), ("lexical, refitted", tuned)):
        results.append(lp.score(test, judge=which, name=name))
    interval = lp.meta.interval(results, coefficient="pearson")
    interval.save(PICTURES / "judge.svg")


def meta(work: Path) -> None:
    """The published metrics against people."""
    names = "rouge_1_recall rouge_2_recall rouge_l_recall bert_recall_score mover_score js-2"
    scores = REALSUMM / "metric_scores.csv"
    interval = lp.meta.interval(scores, metrics=names.split())
    interval.save(PICTURES / "meta.svg")


def label_power(work: Path) -> None:
    """How many labelled inputs a difference takes, with and without the judge."""
    lp.label_power(difference=0.05).save(PICTURES / "label-power.svg")


def spread(work: Path) -> None:
    """The width of intervals by the labels, and how they are spread."""
    from studies import sampling

    from litepyramid.figures.meta_plots import Line, line_plot

    # `mini` knows four of the five folds by heart: what it would save here is no guide.
    table = sampling.read(REALSUMM)
    lines = []
    for way in sampling.WAYS:
        points = [sampling.simulate(table, way, share, 40) for share in sampling.SHARES]
        labels, widths = ([p[key] for p in points] for key in ("labels", "width"))
        lines.append(Line(way, labels, widths))

    figure = line_plot(
        lines, "facts labelled, of each system", "width of its 95 % interval"
    )
    figure.savefig(
        PICTURES / "spread.svg", bbox_inches="tight", metadata={"Date": None}
    )


def report(work: Path) -> None:
    """The page of the embedded example, with a fact open, in Chromium at 1,100
    pixels."""
    sys.path.insert(0, str(Path(__file__).parent / "bench"))
    from PIL import Image
    from report import chromium

    page, shot = (work / name for name in ("r.html", "r.png"))
    lp.score(load_example()).save(page)
    screen = {"width": 1100, "height": 740, "deviceScaleFactor": 1, "mobile": False}
    with chromium() as browser:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        browser.get(page.as_uri())
        browser.execute_script(
            "document.querySelector('#grid td button').click();"
            "document.getElementById('facts').scrollIntoView({behavior: 'instant'});"
        )
        browser.save_screenshot(str(shot))

    colours = Image.open(shot).convert("RGB")
    picture = colours.quantize(200, dither=Image.Dither.NONE)
    picture.save(PICTURES / "report.png", optimize=True)


def main() -> None:
    every = (score, judge, meta, label_power, spread, report)
    for draw in every:
        if draw.__name__ in (sys.argv[1:] or draw.__name__):
            with tempfile.TemporaryDirectory() as work:
                draw(Path(work))


if __name__ == "__main__":
    main()
