"""Times judges over the same pairs: pairs a second, CPU seconds, peak memory, and equal
numbers.

Each judge runs with every number of workers, without a cache, in a process of its own;
with more than one number its presence must be equal to the last bit.

    python scripts/bench/judges.py PATH/realsumm recall lexical my-onnx-folder --workers
    1 2
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import litepyramid as lp
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import parse_settings, settings_of


def measure(realsumm: Path, name: str, workers: int, settings: list[str]) -> None:
    """Runs one judge and prints what it took as JSON."""
    data = lp.load(realsumm)
    texts = [entry.texts for entry in data.scus]
    items = [pair for s in data.summaries for pair in zip(s.texts, texts, strict=True)]
    options = parse_settings(
        [s for s in settings if s.partition("=")[0] in settings_of(name)], name
    )
    if "cache" in settings_of(name):
        options["cache"] = None
    judge = lp.judge(name, workers=workers, **options)
    start = time.perf_counter()
    cpu = time.process_time()
    batch = judge_pairs(judge, items)
    seconds = time.perf_counter() - start
    own = time.process_time() - cpu
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = sum(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024
    pairs = sum(map(len, batch.presence))
    digest = sha256(b"".join(row.tobytes() for row in batch.presence)).hexdigest()[:12]
    print(json.dumps([pairs, pairs / seconds, own, peak, digest]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("realsumm", type=Path)
    parser.add_argument("judges", nargs="+")
    parser.add_argument(
        "--workers",
        type=int,
        nargs="+",
        default=[1],
    )
    parser.add_argument(
        "-J",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
    )
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()

    if options.one:
        [name], [workers] = options.judges, options.workers
        measure(options.realsumm, name, workers, options.settings)
        return

    print(f"{'judge':30} workers  pairs   pairs/s    CPU s  peak MB  presence")
    for name in options.judges:
        digests = set()
        for workers in options.workers:
            run = [sys.executable, __file__, str(options.realsumm), name, "--one"]
            run += ["--workers", str(workers)]
            run += [part for setting in options.settings for part in ("-J", setting)]
            done = subprocess.run(
                run,
                check=True,
                capture_output=True,
                text=True,
            )
            pairs, speed, cpu, peak, digest = json.loads(done.stdout.splitlines()[-1])
            digests.add(digest)
            row = f"{pairs:7} {speed:9.0f} {cpu:8.1f} {peak:8.0f}  {digest}"
            print(f"{name[-30:]:30} {workers:7} {row}", flush=True)
        if len(digests) > 1:
            sys.exit(f"{name}: the numbers depend on the number of workers")


if __name__ == "__main__":
    main()
