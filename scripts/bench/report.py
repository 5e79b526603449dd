"""Time until a page of a result is open in headless Chromium, and its size.

Texts of news length are made up from a list of words, 25 systems on 100 inputs with 10
units, then ten times the inputs. Opening is from the navigation to the first frame
after the grid is drawn.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import litepyramid as lp

WORDS = (
    (Path(__file__).parents[2] / "docs" / "scores.md")
    .read_text(encoding="utf-8")
    .split()
)
WATCH = """
new MutationObserver((_, self) => {
  if (!document.querySelector('#grid td button')) return;
  self.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.drawn = performance.now(); }));
}).observe(document, {childList: true, subtree: true});
"""


def sentences(rng: np.random.Generator, number: int, words: int) -> list[str]:
    """Made-up sentences: each of that many words, drawn from a page of the
    documentation."""
    plain = [
        word.strip("`*.,:;()[]|").lower() for word in WORDS if word.strip("`*.,:;()[]|")
    ]
    drawn = rng.choice(plain, (number, words))
    return [" ".join(row).capitalize() + "." for row in drawn]


def page(path: Path, systems: int, inputs: int, units: int) -> float:
    """Writes a page with texts, evidence, references and labels; how long that took, in
    s."""
    rng = np.random.default_rng(1)
    facts = [sentences(rng, units, 8) for _ in range(inputs)]
    references = [[" ".join(sentences(rng, 4, 16))] for _ in range(inputs)]
    summaries = {
        f"system {n}": [
            " ".join([*sentences(rng, 3, 16), *rng.choice(facts[m], 3, replace=False)])
            for m in range(inputs)
        ]
        for n in range(systems)
    }
    labels = {name: rng.integers(0, 2, (inputs, units)).tolist() for name in summaries}
    result = lp.score(
        summaries, facts, references=references, labels=labels,
        judge="recall", evidence=True, samples=100,
    )  # fmt: skip

    start = time.perf_counter()
    result.to_html(path)
    return time.perf_counter() - start


def chromium() -> webdriver.Chrome:
    """A headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium-browser"
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ):  # fmt: skip
        options.add_argument(argument)
    return webdriver.Chrome(
        options=options, service=Service(shutil.which("chromedriver"))
    )


def seconds(path: Path, runs: int) -> list[float]:
    """From the navigation to the first frame with the grid."""
    browser = chromium()
    try:
        browser.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": WATCH}
        )
        found = []
        for _ in range(runs):
            browser.get("about:blank")
            browser.get(path.as_uri())
            while (drawn := browser.execute_script("return window.drawn")) is None:
                time.sleep(0.02)
            found.append(drawn / 1000)

        return found
    finally:
        browser.quit()


def main() -> None:
    """Makes both pages and opens each several times."""
    with tempfile.TemporaryDirectory() as folder:
        for inputs in (100, 1000):
            path = Path(folder) / f"{inputs}.html"
            made = page(path, 25, inputs, 10)
            found = seconds(path, 5)
            print(
                f"25 systems × {inputs} inputs × 10 units: "
                f"{path.stat().st_size / 1e6:.1f} MB, written in {made:.1f} s, open in "
                f"{statistics.median(found):.2f} s (median of 5; "
                f"{min(found):.2f} to {max(found):.2f})"
            )


if __name__ == "__main__":
    main()
