"""The page of what changed, in a browser: read, filtered, linked to, given hostile
texts."""

import json

import pytest
from cases import DATA, cases, quick_score
from test_report_page import (
    HOSTILE,
    bottom,
    choose,
    errors_in,
    find,
    phone,
    press,
    show,
    text_of,
    texts_of,
)

import litepyramid as lp


@pytest.fixture(scope="module")
def changed():
    """Two systems; `a` loses two facts of one input and gains one of another."""
    story = json.loads((DATA / "scores" / "changed.json").read_text())
    units = story["units"]
    runs = []
    for summaries in (story["old"], story["new"]):
        runs.append(quick_score(summaries, units, ids=[*units]))
    kinds = {"storm": "weather", "bridge/2": "roads"}
    return lp.changes(*runs, fail_if_lost=2, by=kinds)


def test_the_verdict_and_the_facts_are_on_the_first_screen(changed, browser, tmp_path):
    show(browser, changed, tmp_path)
    verdict = text_of(browser, "#verdict")
    assert verdict.startswith("FAIL: 2 facts lost, 1 gained (a 2); no significant")
    assert "a lost 2 facts" in text_of(browser, "#failures")
    first, *_ = find(browser, "#changes [data-fact]")
    assert bottom(first) < 720
    words = """
        #changes .lost .fact-text bdi   | A Two
        #changes .gained .fact-text bdi | Cars
        #changes h3                     | storm bridge/2
        #scores tbody tr                | a b
        #changes [data-fact='0'] del    | storm Oslo
        #changes [data-fact='0'] ins    | flood Bergen
    """
    for place, firsts in cases(words):
        shown = [text.split()[0] for text in texts_of(browser, place)]
        assert shown == firsts.split()
    assert len(find(browser, "#by-group tbody tr")) == 4


def test_filters_and_search(changed, browser, tmp_path):
    show(browser, changed, tmp_path)
    assert text_of(browser, "#found") == "3 of 3 facts that changed"
    steps = """
        show   | gained | 1
        show   | all    | 3
        input  | storm  | 2
        search | PEOPLE | 1
        system | 1      | 0
    """
    for control, value, facts in cases(steps):
        choose(browser, control, value)
        assert text_of(browser, "#found") == f"{facts} of 3 facts that changed"
        if value == "gained":
            assert texts_of(browser, "#changes .fact-text bdi") == ["Cars wait."]


def test_a_link_or_a_key_opens_both_texts_side_by_side(changed, browser, tmp_path):
    show(browser, changed, tmp_path, "#fact=bridge%2F2/Cars%20wait./a")
    detail = find(browser, "#detail")[0]
    assert "A fact of bridge/2, gained by a" in detail.text
    sides = texts_of(browser, "#detail .text")
    assert sides == ["The bridge is closed.", "The bridge is closed. Cars wait."]
    assert text_of(browser, "#detail ins").strip().startswith("Cars wait")
    assert find(browser, "#detail mark")[-1].text == "Cars wait."
    left, right = find(browser, "#detail .text")
    assert left.rect["y"] == right.rect["y"]
    browser.execute_script("document.querySelector('#changes [data-fact]').focus()")
    press(browser, "ARROW_DOWN", "ENTER")
    assert text_of(browser, "#detail .unit") == "Two people died."
    assert browser.current_url.endswith("#fact=storm/Two%20people%20died./a")
    press(browser, "ESCAPE")
    assert not detail.is_displayed()
    assert browser.execute_script("return document.activeElement.dataset.fact") == "1"
    show(browser, changed, tmp_path, "#fact=%E0%A4%A/9")
    assert not find(browser, "#detail")[0].is_displayed()


def test_texts_are_data_and_a_phone_cuts_nothing(browser, tmp_path):
    facts = [*HOSTILE, "x" * 5000]
    units = [facts]
    before = " ".join(facts)
    after = f"\U0001f600 {HOSTILE[1]}"
    runs = []
    for text in (before, after):
        texts = dict.fromkeys(HOSTILE, (text,))
        runs.append(quick_score(texts, units, ids=[HOSTILE[0]]))
    phone(browser)
    show(browser, lp.changes(*runs), tmp_path)
    assert "broken" not in browser.title
    browser.execute_script("document.querySelector('#changes [data-fact]').click()")
    detail = find(browser, "#detail")[0]
    assert "\U0001f600" in detail.text
    assert browser.execute_script("return document.scripts.length") == 2
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    row = find(browser, "#changes [aria-pressed=true]")[0]
    assert detail.rect["y"] == pytest.approx(bottom(row), abs=20)
    assert errors_in(browser) == []


def test_a_result_without_texts(browser, tmp_path):
    units = [["It rained.", "We left."]]
    old = quick_score(units=units, presence={"a": [[1, 0]]})
    new = quick_score(units=units, presence={"a": [[0, 1]]})
    show(browser, lp.changes(old, new), tmp_path, "#fact=1/It%20rained./a")
    assert "without the summaries' texts" in text_of(browser, "#detail")
    assert len(find(browser, "#changes [data-fact]")) == 2
    assert not find(browser, "#groups")[0].is_displayed()
