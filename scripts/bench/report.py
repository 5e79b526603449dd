"""Time until a page of a result is open in headless Chromium, and its size.

Texts of news length are made up from a list of words: 25 systems on 100 inputs with 10
units. Opening is from the navigation to the first frame after the grid is drawn.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import litepyramid as lp

DOCS = Path(__file__).parents[2] / "docs" / "scores.md"
WATCH = """
new MutationObserver((_, self) => {
  if (!document.querySelector('#grid td button')) return;
  self.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.drawn = performance.now(); }));
}).observe(document, {childList: true, subtree: true});
"""
SYSTEMS = 25
INPUTS = 100
UNITS = 10


def sentences(rng: np.random.Generator, number: int, words: int) -> list[str]:
    """Made-up sentences of words of a page of the documentation."""
    marked = DOCS.read_text("utf-8").split()
    plain = [word.strip("`*.,:;()[]|").lower() for word in marked]
    drawn = rng.choice([word for word in plain if word], (number, words))
    return [" ".join(row).capitalize() + "." for row in drawn]


def result() -> Any:
    """A result with texts, evidence, references and labels."""
    rng = np.random.default_rng(1)
    facts = [sentences(rng, UNITS, 8) for _ in range(INPUTS)]
    references = [[" ".join(sentences(rng, 4, 16))] for _ in range(INPUTS)]
    summaries = {}
    for n in range(SYSTEMS):
        summaries[f"system {n}"] = [
            " ".join([*sentences(rng, 3, 16), *rng.choice(row, 3, replace=False)])
            for row in facts
        ]
    labels = {name: rng.integers(0, 2, (INPUTS, UNITS)).tolist() for name in summaries}
    return lp.score(
        summaries, facts, references=references, labels=labels,
        judge="recall", evidence=True, samples=100,
    )  # fmt: skip


def chromium() -> webdriver.Chrome:
    """A headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium-browser"
    flags = "headless=new no-sandbox disable-gpu disable-dev-shm-usage hide-scrollbars"
    for flag in flags.split():
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options, Service(shutil.which("chromedriver")))


def seconds(path: Path, runs: int) -> list[float]:
    """From the navigation to the first frame with the grid."""
    with chromium() as browser:
        browser.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": WATCH}
        )
        times = []
        for _ in range(runs):
            browser.get("about:blank")
            browser.get(path.as_uri())
            while (drawn := browser.execute_script("return window.drawn")) is None:
                time.sleep(0.02)
            times.append(drawn / 1000)
        return times


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        scored = result()
        start = time.perf_counter()
        scored.save(path)
        written = time.perf_counter() - start
        times = seconds(path, 5)
        print(
            f"{SYSTEMS} systems × {INPUTS} inputs × {UNITS} units: "
            f"{path.stat().st_size / 1e6:.1f} MB, written in {written:.1f} s, open in "
            f"{statistics.median(times):.2f} s (median of 5; "
            f"{min(times):.2f} to {max(times):.2f})"
        )


if __name__ == "__main__":
    main()
