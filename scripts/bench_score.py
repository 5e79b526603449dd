"""Speed of the embedded judges on REALSumm: (summary, unit) pairs a second on one core.

The judges take all units of all summaries at once; splitting and stemming are in the time, and
nothing is kept from run to run. Each meets, in turn and on the same pairs, the loop over pairs that
one would write without it: `recall` the same recall pair by pair (results checked equal first),
`lexical` rouge-score's stemmed ROUGE-1 and ROUGE-L, another measure of the same question. That
`lexical` says the same of a pair alone and in company is checked as well.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import Stemmer
from rouge_score.rouge_scorer import RougeScorer

from litepyramid.io.datasets import load_dataset
from litepyramid.judges.lexical.words import FUNCTION_WORDS
from litepyramid.judges.registry import make_judge
from litepyramid.types import FloatArray

ROOT = Path(__file__).resolve().parents[1]
Items = Sequence[tuple[str, Sequence[str]]]


def judged(name: str, items: Items) -> FloatArray:
    return np.concatenate(make_judge(name).judge(items).presence)


def recall_loop(items: Items) -> FloatArray:
    stem = Stemmer.Stemmer("english").stemWords

    def read(text: str) -> tuple[set[str], set[str]]:
        words = re.findall(r"[^\W_]+", text.lower())
        return set(stem([word for word in words if word not in FUNCTION_WORDS])), set(stem(words))

    def recall(unit: str, summary: str) -> float:
        content, every = read(unit)
        there, anywhere = read(summary)
        if content:
            return len(content & there) / len(content)
        return len(every & anywhere) / len(every) if every else 0.0

    return np.array([recall(unit, summary) for summary, units in items for unit in units])


def rouge_loop(items: Items) -> FloatArray:
    scorer = RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
    found = [scorer.score(unit, summary) for summary, units in items for unit in units]
    return np.array([(one["rouge1"].recall + one["rougeL"].recall) / 2 for one in found])


def pairs(items: Items) -> int:
    return sum(len(units) for _, units in items)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("LITEPYRAMID_DATA", ROOT.parent / "shared" / "data")),
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rival-systems", type=int, default=4, help="systems the loops score")
    options = parser.parse_args()
    if not (options.data / "realsumm").is_dir():
        sys.exit("published data absent: set LITEPYRAMID_DATA or put it at ../shared/data")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    dataset = load_dataset("realsumm", options.data / "realsumm")
    texts = [entry.texts for entry in dataset.scus]
    every = [item for s in dataset.summaries for item in zip(s.texts, texts, strict=True)]
    few = every[: options.rival_systems * len(texts)]
    np.testing.assert_array_equal(recall_loop(few), judged("recall", few))
    for judge in ("lexical", "reading"):
        alone = [judged(judge, [(s, [u])])[0] for s, units in few[:10] for u in units]
        np.testing.assert_allclose(alone, judged(judge, few[:10]), rtol=0, atol=1e-12)

    runs: list[tuple[str, Callable[[Items], FloatArray], Items, str]] = [
        ("lexical, all systems", lambda items: judged("lexical", items), every, ""),
        (
            "reading, all systems",
            lambda items: judged("reading", items),
            every,
            "lexical, all systems",
        ),
        ("recall, all systems", lambda items: judged("recall", items), every, ""),
        ("lexical", lambda items: judged("lexical", items), few, ""),
        ("rouge-score, pair by pair", rouge_loop, few, "lexical"),
        ("recall", lambda items: judged("recall", items), few, ""),
        ("recall, pair by pair", recall_loop, few, "recall"),
    ]
    wall: dict[str, list[float]] = {name: [] for name, *_ in runs}
    cpu: dict[str, list[float]] = {name: [] for name, *_ in runs}
    for _ in range(options.rounds):
        for name, run, items, _ in runs:
            start, used = time.perf_counter(), time.process_time()
            run(items)
            wall[name].append(pairs(items) / (time.perf_counter() - start))
            cpu[name].append(pairs(items) / (time.process_time() - used))
    print(f"REALSumm SCUs, one core, {options.rounds} rounds in turn; pairs a second, median")
    print(f"{'':28}{'pairs':>8}{'by the clock (range)':>28}{'by CPU time':>14}{'slower than':>18}")
    for name, _, items, against in runs:
        middle = statistics.median(wall[name])
        span = f"({min(wall[name]):,.0f} – {max(wall[name]):,.0f})"
        ratio = ""
        if against:
            each = [a / b for a, b in zip(wall[against], wall[name], strict=True)]
            ratio = f"{against} {statistics.median(each):.1f}x"
        print(
            f"{name:28}{pairs(items):8,}{middle:10,.0f} {span:>17}"
            f"{statistics.median(cpu[name]):14,.0f}{ratio:>27}"
        )


if __name__ == "__main__":
    main()
