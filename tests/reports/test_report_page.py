"""The page of a result, in a browser: opened, filtered, linked to, given hostile
texts."""

import json
import re

import numpy as np
import pytest
from cases import DATA, cases, quick_score, refused

import litepyramid as lp
from litepyramid.judges.evaluate import calibrate
from litepyramid.reports import score_page
from litepyramid.scoring.page_data import BOUNDS, verdict_bounds
from litepyramid.scoring.saved_result import report

HOSTILE = [
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "right\u202eleft \u2028 line \u2029 end",
    "@DATA@ @SCRIPT@ ${x} `y` \\u003c",
]


@pytest.fixture(scope="module")
def scored():
    """Two systems on two inputs, with labels, references and evidence."""
    storm = json.loads((DATA / "scores" / "storm.json").read_text("utf-8"))
    return quick_score(lp.load(**storm), evidence=True)


def show(browser, result, folder, link=""):
    """The page of a result, opened at a link."""
    result.save(folder / "page.html")
    browser.get("about:blank")
    browser.get(f"file://{folder}/page.html{link}")


def phone(browser):
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def errors_in(browser):
    return [row for row in browser.get_log("browser") if row["level"] == "SEVERE"]


def find(browser, selector):
    return browser.find_elements("css selector", selector)


def texts_of(browser, selector):
    return [element.text for element in find(browser, selector)]


def text_of(browser, selector):
    """The text of the first."""
    return find(browser, selector)[0].text


def bottom(element):
    rect = element.rect
    return rect["y"] + rect["height"]


def choose(browser, name, value):
    browser.execute_script(
        "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('input', {bubbles: true}));",
        name,
        value,
    )


def press(browser, *keys):
    from selenium.webdriver import ActionChains, Keys

    chosen = [getattr(Keys, key) for key in keys]
    ActionChains(browser).send_keys(*chosen).perform()


def test_a_page_finds_the_evidence_of_an_embedded_judge_by_itself(tmp_path):
    result = quick_score({"a": ["It rained. We left."]}, [["We left."]])
    assert '"evidence":[[[11,19,"",""]]]' in result.to_html()
    result.save(tmp_path / "r.json")
    assert '"evidence":null' in report(tmp_path / "r.json").to_html()


def test_verdicts_follow_the_labels():
    presence = np.repeat([0.05, 0.35, 0.55, 0.75, 0.95], 10)
    labels = np.repeat([0, 0, 1, 1, 1], 10).astype(float)
    labels[20:25] = 0
    assert verdict_bounds(calibrate(presence, labels).bins) == (0.4, pytest.approx(0.7))
    assert verdict_bounds(calibrate([0.5, 0.5], [0, 1]).bins) == BOUNDS


def test_nothing_is_loaded_and_what_runs_is_named(scored):
    for text in (scored.to_html(), lp.changes(scored, scored).to_html()):
        assert "default-src 'none'" in text
        text = text.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
        assert not re.search(r"https?://|src=|@import|url\(", text)


def test_reading_and_filtering(scored, browser, tmp_path):
    show(browser, scored, tmp_path)
    assert texts_of(browser, "#scores tbody th") == ["good", "poor"]
    assert len(find(browser, "#grid tbody tr.fact")) == 3
    assert texts_of(browser, "#grid .group bdi") == ["1", "2"]  # once each
    assert texts_of(browser, "#grid .group:first-child td") == ["1", "0.50"]
    assert text_of(browser, "#grid td button") == "✓ 1●"
    assert find(browser, "#grid td button")[3].text.startswith(("✗", "?"))
    assert "present, ≥" in text_of(browser, "#legend")
    first, *_ = find(browser, "#grid tbody button")
    assert bottom(first) < 720  # on the first screen
    steps = """
        sort   | worst       | #grid .group bdi  | 2
        sort   | order       | #found            | 3 of 3 facts
        show   | misses      | #found            | 2 of 3 facts
        show   | differ      | #found            | of 3 facts
        much   | 0.9         | #found            | 0 of 3 facts
        show   | all         | #found            | 3 of 3 facts
        search | PEOPLE died | #grid tr.fact bdi | Two people died.
    """
    for control, value, place, expected in cases(steps):
        choose(browser, control, value)
        assert expected in text_of(browser, place)
    assert len(find(browser, "#grid tr.fact")) == 1
    choose(browser, "search", "")
    choose(browser, "sort", "rare")
    assert len(find(browser, "#grid td button")) == 6
    assert text_of(browser, "#grid tr.fact bdi") != "A storm hit Oslo."


def test_a_link_opens_a_fact(scored, browser, tmp_path):
    show(browser, scored, tmp_path, "#fact=1/2/good")
    assert not find(browser, "#opinions")
    parts = """
        #detail .unit  | Two people died.
        #detail mark   | Two people died.
        #detail b.word | two people died
        #detail        | people: present
    """
    for place, text in cases(parts):
        assert text in text_of(browser, place)
    find(browser, "#detail .bars button")[1].click()
    assert "summary of poor" in text_of(browser, "#detail")
    assert browser.current_url.endswith("#fact=1/2/poor")

    show(browser, scored, tmp_path, "#fact=2/1/poor")
    assert "The summary is empty." in text_of(browser, "#detail")
    show(browser, scored, tmp_path, "#fact=%E0%A4%A/9")
    assert not find(browser, "#detail")[0].is_displayed()
    assert find(browser, "#calibration")[0].is_displayed()


UNDERLINED = cases("""
    She held the sign which was big. | the sign was big   | the sign/was big
    They found the gun he used.      | he used the gun    | the gun he used
    The dog saw the cat.             | The dog saw        | The dog saw
    He left on Monday, he said.      | Bob left on Monday | left on Monday
""")


def test_the_words_of_a_unit_are_underlined_in_its_sentence(browser, tmp_path):
    sentences, units, underlined = zip(*UNDERLINED, strict=True)
    texts = ["A text."] * len(UNDERLINED)
    result = quick_score(
        {"one": texts, "two": texts},
        [[unit] for unit in units],
        references=[[sentence] for sentence in sentences],
    )
    for number, words in enumerate(underlined, 1):
        show(browser, result, tmp_path, f"#fact={number}/1/one")
        assert "/".join(texts_of(browser, "#detail b.word")) == words


def test_what_several_judges_say_is_beside_a_fact(browser, tmp_path):
    """Read off the page, compared with each judge asked alone; facts on which they
    differ most come first."""
    texts = {"a": ["Two people were killed by a storm."], "b": ["A storm hit Oslo."]}
    units = [["A storm hit Oslo.", "It snowed.", "Two people died."]]
    result = quick_score(texts, units, judge="recall+lexical")
    recall = quick_score(texts, units, judge="recall").presence
    lexical = quick_score(texts, units, judge="lexical").presence
    result.save(tmp_path / "r.json")
    show(browser, report(tmp_path / "r.json"), tmp_path, "#fact=1/3/a")
    first = recall[0, 2]
    second = lexical[0, 2]
    said = f"2 judges: {first:.2f}, {second:.2f}; {abs(first - second):.2f} apart"
    assert text_of(browser, "#opinions") == said

    choose(browser, "sort", "apart")
    apart = np.abs(recall - lexical).max(axis=0)
    order = np.argsort(-apart, kind="stable")
    expected = [units[0][place] for place in order]
    assert texts_of(browser, "#grid tr.fact bdi") == expected


def test_the_keyboard(scored, browser, tmp_path):
    show(browser, scored, tmp_path)
    assert len(find(browser, '#grid button[tabindex="0"]')) == 1
    browser.execute_script("document.querySelector('#grid button').focus()")
    press(browser, "ARROW_DOWN", "ARROW_RIGHT", "ENTER")
    assert "summary of poor" in text_of(browser, "#detail")
    assert text_of(browser, "#detail .unit") == "Two people died."
    press(browser, "ESCAPE")
    assert not find(browser, "#detail")[0].is_displayed()
    focused = browser.execute_script("return document.activeElement.dataset.system")
    assert focused == "1"


def test_texts_are_data(browser, tmp_path):
    names = {f"system {text}": [f"{text} It rained.", HOSTILE[0]] for text in HOSTILE}
    facts = [f"{text} rained." for text in HOSTILE]
    long = "x" * 200_000
    units = [facts, [HOSTILE[0], long]]
    result = quick_score(names, units, ids=[HOSTILE[0], "b"], evidence=True)
    show(browser, result, tmp_path)
    assert "broken" not in browser.title
    assert len(find(browser, "#grid tbody tr.fact")) == 6
    browser.execute_script("document.querySelector('#grid td button').click()")
    assert "<script>" in text_of(browser, "#detail")
    assert browser.execute_script("return document.scripts.length") == 2
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= browser.execute_script("return window.innerWidth")
    assert errors_in(browser) == []


def test_a_result_without_texts_or_labels(browser, tmp_path):
    result = quick_score(units=[["It rained."]], presence={"a": [[1.0]]})
    show(browser, result, tmp_path, "#fact=1/1/a")
    assert "without the summaries' texts" in text_of(browser, "#detail")
    assert not find(browser, "#calibration")[0].is_displayed()
    assert not find(browser, "#pairs")[0].is_displayed()


def test_a_phone_cuts_no_column_and_breaks_no_name(browser, tmp_path):
    names = ["abstractive", "extractive", "lead", "swapped"]
    result = quick_score(
        dict.fromkeys(names, ("It rained.",)),
        [["It rained."]],
        labels=dict.fromkeys(names, ([1],)),
    )
    phone(browser)
    show(browser, result, tmp_path)
    for cell in find(browser, "#scores th, #scores td.number, #grid td button"):
        if cell.is_displayed():
            assert cell.rect["x"] + cell.rect["width"] <= 400

    first, *others = find(browser, "#scores tbody bdi")
    assert first.rect["height"] < 30  # one line
    for name in others:
        assert name.rect["height"] == first.rect["height"]


def test_long_names_of_runs_are_told_apart(browser, tmp_path):
    model = "bart-large-cnn-finetuned" * 3
    names = [f"{model}/checkpoint-100", f"{model}/checkpoint-200"]
    texts = dict.fromkeys(names, ("It rained.",))
    result = quick_score(texts, [["It rained."]])
    show(browser, result, tmp_path)
    for place in ("#scores tbody bdi", "#grid th.system bdi", "#matrix tbody bdi"):
        shown = texts_of(browser, place)
        assert [name[-3:] for name in shown] == ["100", "200"]


def test_a_page_too_large_is_refused(scored, monkeypatch, tmp_path):
    monkeypatch.setattr(score_page, "LARGEST", 1000)
    with refused("a page of 0 MB"):
        scored.save(tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
