"""The page of a result, in a browser: opened, filtered, linked to, given hostile texts."""

from __future__ import annotations

import json

import numpy as np
import pytest

import litepyramid as lp
from litepyramid.errors import InputError
from litepyramid.report import page as module
from litepyramid.report.page import score_page
from litepyramid.scoring.saved import read_result
from litepyramid.tables import render

HOSTILE = [
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "right\u202eleft \u2028 line \u2029 end",
    "@DATA@ @SCRIPT@ ${x} `y` \\u003c",
]


@pytest.fixture(scope="module")
def scored():
    """Two systems on two inputs, with labels, references and evidence."""
    return lp.score(
        {
            "good": ["A storm hit Oslo. Two people died.", "The bridge is shut."],
            "poor": ["A storm hit Oslo on Monday.", ""],
        },
        [["A storm hit Oslo.", "Two people died."], ["The bridge is closed."]],
        references=[["A storm hit Oslo and two people died."], ["The bridge is closed."]],
        labels={"good": [[1, 1], [1]], "poor": [[1, 0], [0]]},
        judge="recall",
        evidence=True,
        samples=100,
    )


def open_report(browser, path, link=""):
    browser.get("about:blank")
    browser.get(f"file://{path}{link}")


def find(browser, selector):
    return browser.find_elements("css selector", selector)


def choose(browser, name, value):
    browser.execute_script(
        "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('input', {bubbles: true}));",
        name,
        value,
    )


def test_a_saved_result_makes_the_same_page(scored, tmp_path):
    scored.save(tmp_path / "s.json")
    back = read_result(tmp_path / "s.json")
    assert render(back, "json") == render(scored, "json")
    assert score_page(back) == score_page(scored)
    row = json.loads(render(scored, "json"))["scores"][0]
    first = row["evidence"][1]
    assert row["summary"][slice(*first["span"])] == "Two people died."
    assert first["sentence"] == 1


def test_what_is_saved_and_broken_is_refused(scored, tmp_path):
    data = json.loads(render(scored, "json"))

    def read(change):
        other = json.loads(json.dumps(data))
        change(other)
        (tmp_path / "s.json").write_text(json.dumps(other))
        return read_result(tmp_path / "s.json")

    assert read(lambda d: None).seen is not None
    for change in (
        lambda d: d["scores"].pop(),
        lambda d: d["scores"][0]["presence"].append(1),
        lambda d: d["scores"][0]["evidence"].append(None),
        lambda d: d["scores"][0]["evidence"][0].update(span=[5, 10**6]),
        lambda d: d["references"].pop(),
        lambda d: d.update(units=3),
        lambda d: d.pop("systems"),
    ):
        with pytest.raises(InputError):
            read(change)


def test_nothing_is_loaded_and_what_runs_is_named(scored):
    text = score_page(scored)
    assert "default-src 'none'" in text
    text = text.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert not any(word in text for word in ("http://", "https://", "src=", "@import", "url("))


def test_the_page_from_the_command_line(cli, tmp_path):
    cli("demo", "--save", "ex", cwd=tmp_path)
    options = ("ex/summaries", "-u", "ex/scus.jsonl", "-j", "recall", "--samples", "100")
    cli("score", *options, "--html", "a.html", cwd=tmp_path)
    cli("score", *options, "--evidence", "-f", "json", "-o", "s.json", cwd=tmp_path)
    cli("report", "s.json", "-o", "b.html", cwd=tmp_path)
    shown = cli("score", *options, "-f", "html", cwd=tmp_path).stdout
    pages = [(tmp_path / name).read_text(encoding="utf-8") for name in ("a.html", "b.html")]
    assert pages[0] == pages[1] == shown
    assert '"summary"' in (tmp_path / "s.json").read_text(encoding="utf-8")
    cli("report", "ex/scus.jsonl", cwd=tmp_path, status=2)


def test_reading_filtering_and_links(scored, browser, tmp_path):
    path = tmp_path / "r.html"
    scored.to_html(path)
    open_report(browser, path)
    assert [x.text for x in find(browser, "#scores tbody th")] == ["good", "poor"]
    assert len(find(browser, "#grid tbody tr")) == 3
    assert len(find(browser, "#grid td button")) == 6
    assert find(browser, "#found")[0].text == "3 of 3 facts"
    choose(browser, "show", "misses")
    assert find(browser, "#found")[0].text == "2 of 3 facts"
    choose(browser, "show", "differ")
    choose(browser, "much", "0.9")
    assert find(browser, "#found")[0].text == "0 of 3 facts"
    choose(browser, "show", "all")
    choose(browser, "search", "PEOPLE died")
    assert [x.text for x in find(browser, "#grid tbody bdi")] == ["Two people died."]
    choose(browser, "search", "")
    choose(browser, "sort", "rare")
    assert find(browser, "#grid tbody bdi")[0].text != "A storm hit Oslo."
    open_report(browser, path, "#fact=1/2/good")
    assert find(browser, "#detail .unit")[0].text == "Two people died."
    assert find(browser, "#detail mark")[0].text == "Two people died."
    assert "people: present" in find(browser, "#detail")[0].text
    assert find(browser, "#detail b.word")[0].text == "people"
    find(browser, "#detail .bars button")[1].click()
    assert "summary of poor" in find(browser, "#detail")[0].text
    assert browser.current_url.endswith("#fact=1/2/poor")
    open_report(browser, path, "#fact=2/1/poor")
    assert "The summary is empty." in find(browser, "#detail")[0].text
    open_report(browser, path, "#fact=%E0%A4%A/9")
    assert not find(browser, "#detail")[0].is_displayed()
    assert find(browser, "#calibration")[0].is_displayed()


def test_the_keyboard(scored, browser, tmp_path):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    path = tmp_path / "r.html"
    scored.to_html(path)
    open_report(browser, path)
    assert len(find(browser, '#grid button[tabindex="0"]')) == 1
    browser.execute_script("document.querySelector('#grid button').focus()")
    keys = (Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
    ActionChains(browser).send_keys(*keys).perform()
    assert "summary of poor" in find(browser, "#detail")[0].text
    assert find(browser, "#detail .unit")[0].text == "Two people died."
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert not find(browser, "#detail")[0].is_displayed()
    focused = browser.execute_script("return document.activeElement.dataset.system")
    assert focused == "1"


def test_texts_are_data(browser, tmp_path):
    names = {f"system {text}": [f"{text} It rained.", HOSTILE[0]] for text in HOSTILE}
    result = lp.score(
        names,
        [[f"{text} rained." for text in HOSTILE], [HOSTILE[0], "x" * 200_000]],
        ids=[HOSTILE[0], "b"],
        judge="recall",
        evidence=True,
        samples=100,
    )
    path = tmp_path / "r.html"
    result.to_html(path)
    open_report(browser, path)
    assert "broken" not in browser.title
    assert len(find(browser, "#grid tbody tr")) == 6
    browser.execute_script("document.querySelector('#grid td button').click()")
    assert "<script>" in find(browser, "#detail")[0].text
    assert browser.execute_script("return document.scripts.length") == 2
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= browser.execute_script("return window.innerWidth")
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []


def test_what_is_marked_after_characters_that_a_browser_counts_twice(browser, tmp_path):
    texts = {"a": ["\U0001f600\U0001f600 Sun. Two people died."]}
    result = lp.score(texts, [["Two people died."]], judge="recall", evidence=True, samples=100)
    result.to_html(tmp_path / "r.html")
    open_report(browser, tmp_path / "r.html", "#fact=1/1/a")
    assert find(browser, "#detail mark")[0].text == "Two people died."


def test_a_result_without_texts_or_labels(browser, tmp_path):
    result = lp.score({"a": ["It rained."]}, [["It rained."]], judge="recall", samples=100)
    path = tmp_path / "r.html"
    result.to_html(path)
    open_report(browser, path, "#fact=1/1/a")
    assert "Saved without the summaries" in find(browser, "#detail")[0].text
    assert not find(browser, "#calibration")[0].is_displayed()
    assert not find(browser, "#pairs")[0].is_displayed()


def test_a_judge_without_reasons_judges_sentences():
    class Longest:
        def judge(self, items):
            from litepyramid.judges.base import JudgedBatch

            said = [np.array([float(u.lower() in s.lower()) for u in us]) for s, us in items]
            return JudgedBatch(tuple(said), {"judge": "own"})

    result = lp.score(
        {"a": ["It rained. The river rose."]},
        [["river", "snow"]],
        judge=Longest(),
        evidence=True,
        samples=100,
    )
    first, second = result.seen.evidence[0]
    assert (first.sentence, first.span, first.presence) == (1, (11, 26), 1.0)
    assert second.sentence == -1


def test_a_page_too_large_is_refused(scored, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "LARGEST", 1000)
    with pytest.raises(InputError, match="a page of 0 MB"):
        score_page(scored, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
