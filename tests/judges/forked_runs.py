"""Run by test_transformers_cache.py: kills a judging process again and again; lets two share.

Usage: killed_runs.py MODEL FOLDER KILLS. Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path

import numpy as np

from litepyramid.judges.nli.judge import TransformersJudge


def make_items() -> list[tuple[str, list[str]]]:
    rng = np.random.default_rng(7)
    words = [
        "river",
        "bridge",
        "village",
        "spring",
        "race",
        "crowd",
        "club",
        "summer",
        "house",
        "cost",
    ]

    def text(length: int) -> str:
        return " ".join(rng.choice(words, size=length)) + "."

    return [(text(int(rng.integers(5, 60))), [text(5) for _ in range(10)]) for _ in range(60)]


def run(model: str, cache: Path, begun: Path | None = None) -> list[list[float]]:
    import torch

    torch.set_num_threads(1)
    with TransformersJudge(model, device="cpu", batch_tokens=400, cache=cache) as judge:
        if begun is not None:
            log_claims(judge, begun)
        said = judge.judge(make_items())
    return [row.tolist() for logits in said.logits for row in logits]


def log_claims(judge: TransformersJudge, begun: Path) -> None:
    """Writes the key of every pair that goes to the model, before it goes."""
    log = os.open(begun, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    claim = judge._cache.claim

    def logged(identity: str, pairs: list[bytes]) -> list[bytes]:
        claimed = claim(identity, pairs)
        os.write(log, "".join(f"{pair.hex()}\n" for pair in claimed).encode())
        return claimed

    judge._cache.claim = logged  # type: ignore[method-assign]


def kept(cache: Path) -> set[str]:
    if not cache.exists():
        return set()
    db = sqlite3.connect(cache, timeout=60)
    try:
        return {pair.hex() for (pair,) in db.execute("SELECT pair FROM logits")}
    except sqlite3.OperationalError:  # the tables are not there yet
        return set()
    finally:
        db.close()


def main(model: str, folder: Path, kills: int) -> None:
    rng = np.random.default_rng(11)
    unbroken, broken = folder / "unbroken.sqlite", folder / "broken.sqlite"
    expected = run(model, unbroken)  # never killed; and everything is loaded before the forks
    total = len({(text, unit) for text, units in make_items() for unit in units})
    partial, again = [], 0
    for number, goal in enumerate(np.sort(rng.integers(1, total, size=kills))):
        before = kept(broken)
        begun = folder / f"begun-{number}"
        child = os.fork()
        if not child:
            run(model, broken, begun)
            os._exit(0)
        while len(kept(broken)) < goal and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        partial.append(len(kept(broken)))
        started = begun.read_text().split() if begun.exists() else []
        again += len(before & set(started))
    child = os.fork()
    if not child:  # the one that is let finish
        finished = run(model, broken, folder / "begun-last")
        (folder / "finished").write_text(json.dumps(finished))
        os._exit(0)
    os.waitpid(child, 0)
    shared = folder / "shared.sqlite"
    children = []
    for number in range(2):
        child = os.fork()
        if not child:
            said = run(model, shared, folder / f"shared-{number}")
            (folder / f"shared-{number}.json").write_text(json.dumps(said))
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    shares = [len((folder / f"shared-{number}").read_text().split()) for number in range(2)]
    both = {(folder / f"shared-{number}.json").read_text() for number in range(2)}
    db = sqlite3.connect(broken)
    pairs, judged = db.execute("SELECT COUNT(*), SUM(times) FROM logits").fetchone()
    claims = db.execute("SELECT COUNT(*) FROM claims").fetchone()[0]
    begun = [line for log in folder.glob("begun-*") for line in log.read_text().split()]
    same = (folder / "finished").read_text() == json.dumps(expected)
    print(
        json.dumps(
            {
                "total": total,
                "after_each_kill": partial,
                "pairs": pairs,
                "judged": judged,
                "kept_then_begun_again": again,
                "begun": len(begun),
                "claims_left": claims,
                "same_to_the_bit": same,
                "shared_by_two": shares,
                "shared_same_to_the_bit": both == {json.dumps(expected)},
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
