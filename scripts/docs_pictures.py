"""Draws the documentation's pictures, most from REALSumm: `make pictures`, some two
minutes."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"


def litepyramid(*args: object) -> None:
    """Runs the command line; what it prints is not shown."""
    command = [sys.executable, "-m", "litepyramid", *map(str, args)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def cut(data: Path, goal: Path, keep: list[int]) -> Path:
    """Copies the given lines of the units, and of every system's summaries and
    labels."""
    for file in (
        data / "SCUs.txt",
        *(data / "summaries").iterdir(),
        *(data / "labels").iterdir(),
    ):
        lines = file.open(encoding="utf-8").readlines()
        new = goal / file.relative_to(data)
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text("".join(lines[i] for i in keep), encoding="utf-8")
    return goal


def of(data: Path) -> list[object]:
    """The options that give SCUs and labels."""
    return ["--units", data / "SCUs.txt", "--labels", data / "labels"]


def score(data: Path, work: Path) -> None:
    """The systems' average scores, their intervals and groups."""
    judged = ["score", data / "summaries", *of(data), "--judge", "lexical"]
    litepyramid(*judged, "-o", PICTURES / "score.svg")


def judge(data: Path, work: Path) -> None:
    """Judges on the first fold, one of them fitted to the others."""
    ids = (data / "ids.txt").read_text(encoding="utf-8").split()
    held = set((data / "by_examples" / "fold1.id").read_text(encoding="utf-8").split())
    train = cut(
        data, work / "train", [i for i, name in enumerate(ids) if name not in held]
    )
    test = cut(data, work / "test", [i for i, name in enumerate(ids) if name in held])
    litepyramid(
        "finetune",
        "lexical",
        train / "summaries",
        *of(train),
        "-o",
        work / "tuned",
    )
    results = []

    for name, which in (("recall", "recall"), ("lexical, refitted", work / "tuned")):
        results.append(work / f"judge-{len(results)}.json")
        options = ["--name", name, "--judge", which, "-o", results[-1]]
        litepyramid("score", test / "summaries", *of(test), *options)

    litepyramid(
        "meta",
        "interval",
        *results,
        "--coefficient",
        "pearson",
        "-o",
        PICTURES / "judge.svg",
    )


def meta(data: Path, work: Path) -> None:
    """The published metrics against people."""
    names = ("rouge_1_recall", "rouge_2_recall", "rouge_l_recall", "bert_recall_score",
             "mover_score", "js-2")  # fmt: skip
    chosen = [word for name in names for word in ("--metric", name)]
    scores = data / "metric_scores.csv"
    litepyramid(
        "meta",
        "interval",
        scores,
        *chosen,
        "-o",
        PICTURES / "meta.svg",
    )


def label_power(data: Path, work: Path) -> None:
    """How many labelled inputs a difference takes, with and without the judge."""
    litepyramid(
        "budget",
        "label-power",
        "--difference",
        0.05,
        "-o",
        PICTURES / "label-power.svg",
    )


def spread(data: Path, work: Path) -> None:
    """The width of intervals by the labels, and how they are spread."""
    from studies.sampling import SHARES, WAYS, crossfitted, simulate

    from litepyramid.figures.meta_plots import Line, line_plot

    table = crossfitted(data)
    # `mini` knows four of the five folds by heart: what it would save here is no guide.
    lines = []
    for way in WAYS:
        points = [simulate(table, way, share, 40) for share in SHARES]
        labels = [point["labels"] for point in points]
        lines.append(Line(way, labels, [point["width"] for point in points]))

    figure = line_plot(
        lines, "facts labelled, of each system", "width of its 95 % interval"
    )
    figure.savefig(
        PICTURES / "spread.svg", bbox_inches="tight", metadata={"Date": None}
    )


def report(data: Path, work: Path) -> None:
    """The page of the embedded example, with a fact open, in Chromium at 1,100
    pixels."""
    sys.path.insert(0, str(Path(__file__).parent / "bench"))
    from PIL import Image
    from report import chromium

    example = work / "example"
    litepyramid("demo", "--save", example)
    litepyramid(
        "score", example / "summaries", "--units", example / "scus.jsonl", "--labels",
        example / "labels", "--references", example / "references.jsonl", "-o", work / "r.html",
    )  # fmt: skip
    browser = chromium()

    try:
        screen = {
            "width": 1100,
            "height": 740,
            "deviceScaleFactor": 1,
            "mobile": False,
        }
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        browser.get((work / "r.html").as_uri())
        browser.execute_script(
            "document.querySelector('#grid td button').click();"
            "document.getElementById('facts').scrollIntoView({behavior: 'instant'});"
        )
        browser.save_screenshot(str(work / "r.png"))
    finally:
        browser.quit()

    picture = (
        Image.open(work / "r.png")
        .convert("RGB")
        .quantize(200, dither=Image.Dither.NONE)
    )
    picture.save(PICTURES / "report.png", optimize=True)


def main() -> None:
    """Draws the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    data = os.environ.get("LITEPYRAMID_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument(
        "pictures",
        nargs="*",
        default=["score", "judge", "meta", "label_power", "spread", "report"],
    )
    parser.add_argument("--data", type=Path, default=Path(data))
    given = parser.parse_args()
    for name in given.pictures:
        with tempfile.TemporaryDirectory() as work:
            globals()[name](given.data / "realsumm", Path(work))


if __name__ == "__main__":
    main()
