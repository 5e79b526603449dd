"""Times the NLI judge against the plain way: pairs in order, batches of 32, all padded to 400.

Both run the same model (the size of RoBERTa-large, random weights: no download, and the time does
not depend on the weights) over the same pairs of REALSumm's abstractive BART summaries and SCUs,
in turns, in one process. Their logits are checked to be equal before anything is reported; for each
precision the mean difference of presence from float32 on the CPU is told. Then the judge runs once
more from its cache.

    python scripts/bench_judge.py --device cuda --pairs 5280 --repeats 3 \\
        --dtypes bfloat16 float16 --peak-tflops 989 [--compile]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from random_model import random_tokenizer, save_random_judge

from litepyramid.files import read_jsonl, read_lines
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
from litepyramid.judges.nli.judge import TransformersJudge
from litepyramid.tables import Column, Table, emit

ROOT = Path(__file__).resolve().parents[1]
MAX_LENGTH, BATCH = 400, 32

Items = list[tuple[str, Sequence[str]]]


class PlainWay:
    """As the authors score: every pair padded to 400, in the order given, 32 at a time."""

    def __init__(self, folder: Path, device: str) -> None:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.torch, self.device = torch, device
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
        self.model = model.to(device).eval()

    def __call__(self, items: Items) -> Any:
        pairs = [(text, unit) for text, units in items for unit in units]
        parts = []
        for start in range(0, len(pairs), BATCH):
            encoded = self.tokenizer(
                *map(list, zip(*pairs[start : start + BATCH], strict=True)),
                truncation=True,
                padding="max_length",
                max_length=MAX_LENGTH,
                return_tensors="pt",
            ).to(self.device)
            with self.torch.no_grad():
                parts.append(self.model(**encoded).logits.cpu().numpy())
        return np.concatenate(parts)


def first_pairs(data: Path, pairs: int) -> Items:
    """The first so many pairs of abs_bart_out and the SCUs, in the files' order."""
    units = read_units(data / "SCUs.txt")
    [system] = read_summaries(
        [data / "summaries" / "abs_bart_out.summary"], [entry.input for entry in units]
    )
    items: Items = []
    for text, entry in zip(system.texts, units, strict=True):
        if pairs > 0:
            items.append((text, entry.texts[:pairs]))
            pairs -= len(items[-1][1])
    return items


def work_per_pair(judge: TransformersJudge, items: Items, layers: int) -> float:
    """Mean floating-point operations of a pair without padding: matrix products alone."""
    from litepyramid.judges.nli.encode import PairEncoder
    from litepyramid.judges.nli.forward import load_tokenizer

    tokenizer = load_tokenizer(judge.checkpoint.source, None, offline=True)
    encoder = PairEncoder(tokenizer, MAX_LENGTH, [(text, u) for text, us in items for u in us])
    tokens = encoder.lengths.astype(float)
    return float((layers * (24 * 1024**2 * tokens + 4 * 1024 * tokens**2)).mean())


def compile_models() -> None:
    """From here on every model that a judge loads goes through torch.compile."""
    from litepyramid.judges.nli import forward

    load = forward.load_classifier

    def compiled(*args: Any, **options: Any) -> Any:
        model, report = load(*args, **options)
        model.compile(dynamic=True)
        return model, report

    forward.load_classifier = compiled


def timed(function: Any, *args: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtypes", nargs="*", default=[], help="other precisions to time")
    parser.add_argument("--check", type=int, default=256, help="pairs judged on the CPU too")
    parser.add_argument("--compile", action="store_true", help="through torch.compile, all shapes")
    parser.add_argument("--peak-tflops", type=float, help="the chip's dense matrix rate")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("LITEPYRAMID_DATA", ROOT.parent / "shared" / "data")),
    )
    options = parser.parse_args()
    realsumm = options.data / "realsumm"
    items = first_pairs(realsumm, options.pairs)
    pairs = sum(len(units) for _, units in items)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        texts = read_lines(realsumm / "documents.txt") + read_lines(realsumm / "references.txt")
        wiki = options.data / "nli_wiki" / "base_wiki.train.jsonl"
        texts += [row["premise"] for _, row in read_jsonl(wiki)]
        save_random_judge(
            folder,
            random_tokenizer(texts, 50_265),
            hidden_size=1024,
            num_hidden_layers=options.layers,
            num_attention_heads=16,
            intermediate_size=4096,
            type_vocab_size=1,
        )
        plain = PlainWay(folder, options.device)
        warm: Items = [("A summary.", ["A unit."])]
        plain(warm)
        shared: Any = {"mode": "p3c", "progress": False}
        with TransformersJudge(
            str(folder), device="cpu", dtype="float32", cache=None, **shared
        ) as judge:
            truth = np.concatenate(judge.judge(first_pairs(realsumm, options.check)).presence)
        if options.compile:
            compile_models()
            warm = [(f"{text} Again.", units) for text, units in items]  # all shapes, untimed
        times: dict[str, list[float]] = {"plain way": []}
        expected = None
        variants = ["float32", *options.dtypes]
        judge_time: dict[str, float] = {}
        notes = []
        for repeat in range(options.repeats):
            seconds, expected = timed(plain, items)
            times["plain way"].append(seconds)
            for dtype in variants:
                cache = Path(name) / f"{dtype}-{repeat}.sqlite"
                judge = TransformersJudge(
                    str(folder), device=options.device, dtype=dtype, cache=cache, **shared
                )
                judge.judge(warm)
                seconds, said = timed(judge.judge, items)
                judge.close()
                times.setdefault(f"judge, {dtype}", []).append(seconds)
                gap = float(np.abs(np.concatenate(said.logits) - expected).max())
                if dtype == "float32" and gap > 1e-4:
                    raise SystemExit(f"the judge's logits differ from the plain way's by {gap:g}")
                if repeat == 0:
                    found = np.concatenate(said.presence)[: len(truth)]
                    apart = float(np.abs(found - truth[: len(found)]).mean())
                    notes.append(
                        f"{dtype}: mean difference of presence from float32 on the CPU {apart:.1e} "
                        f"({len(found)} pairs); largest of a logit from the plain way {gap:.1e}."
                    )
            cache = Path(name) / f"float32-{repeat}.sqlite"

            def again(cache: Path = cache) -> Any:
                with TransformersJudge(str(folder), cache=cache, dtype="float32") as cached:
                    return cached.judge(items)

            seconds, said = timed(again)
            if said.counts["judged"] or said.counts["from_cache"] != pairs:
                raise SystemExit(f"the second run was not from the cache: {said.counts}")
            times.setdefault("judge, from its cache", []).append(seconds)
        judge_time["float32"] = median(times["judge, float32"])
        base = median(times["plain way"])
        rows = [
            (
                way,
                median(taken),
                min(taken),
                max(taken),
                pairs / median(taken),
                base / median(taken),
            )
            for way, taken in times.items()
        ]
        cached = judge_time["float32"] / median(times["judge, from its cache"])
        notes.append(
            f"The second run, from the cache, is {cached:,.0f} times as fast as the first."
        )
        if options.peak_tflops:
            with TransformersJudge(str(folder), device="cpu", cache=None) as judge:
                work = work_per_pair(judge, items, options.layers)
            for dtype in variants:
                rate = pairs / median(times[f"judge, {dtype}"])
                share = work * rate / (options.peak_tflops * 1e12)
                notes.append(
                    f"{dtype}: {share:.0%} of {options.peak_tflops:g} TFLOP/s; 500 examples of "
                    f"10.56 units take {5280 / rate:.0f} s (ZB21 §5.3: 150 s on a TITAN V)."
                )
    columns = (
        Column("way", "way"),
        Column("seconds", "seconds", digits=2),
        Column("least", "least", digits=2),
        Column("most", "most", digits=2),
        Column("pairs_per_second", "pairs/s", digits=2),
        Column("times_plain", "x plain", digits=1),
    )
    title = (
        f"{pairs} pairs, {options.repeats} runs each, medians; {options.layers} layers of "
        f"RoBERTa-large on {options.device}"
    )

    class Result:
        def to_tables(self) -> list[Table]:
            return [Table(title, columns, tuple(rows), tuple(notes))]

        def to_json(self) -> dict[str, Any]:
            return {"pairs": pairs, "seconds": times, "notes": notes}

    emit(Result())


if __name__ == "__main__":
    main()
