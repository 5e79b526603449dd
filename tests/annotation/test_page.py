"""The offline page in a headless Chromium: what people do, what it keeps, what comes
back."""

import json
import tempfile
import time
from itertools import pairwise, product
from pathlib import Path
from types import SimpleNamespace

import pytest
import sample
from test_round_trip import check_judged, check_written

import litepyramid as lp
from litepyramid.annotation.forms import render_page
from litepyramid.annotation.tasks import judging_tasks

pytestmark = pytest.mark.xdist_group("browser")
BOX = "ol textarea"
CONTROL = "\ue009"
ENTER = "\ue007"
UP = "\ue013"
BACKSPACE = "\ue003"


def begin(browser, folder: Path, tasks=None, name: str = "Ann") -> None:
    """The page of some tasks, or the one that is in the folder; who begins says a
    name."""
    page = folder / "page.html"
    if tasks is not None:
        page.write_text(render_page(tasks), encoding="utf-8")
    browser.get(page.as_uri())
    if at(browser, "#start").is_displayed():
        at(browser, "#name").send_keys(name + "\n")


def at(browser, selector: str):
    return browser.find_element("css selector", selector)


def click(browser, selector: str) -> None:
    at(browser, selector).click()


def texts_of(browser, selector: str) -> list[str]:
    return [one.text for one in browser.find_elements("css selector", selector)]


def done(browser) -> str:
    """How many tasks the page says are done."""
    return at(browser, "#count").text


def no_fact(browser) -> bool:
    """Whether it is ticked that the sentence states no fact."""
    return at(browser, "#none").is_selected()


def boxes(browser) -> list[str]:
    found = browser.find_elements("css selector", BOX)
    return [box.get_attribute("value") for box in found]


def type_keys(browser, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def control_enter(browser) -> None:
    browser.switch_to.active_element.send_keys(CONTROL, ENTER)


def other_worker(browser, name: str) -> None:
    click(browser, "#switch")
    at(browser, "#name").send_keys(f"{name}\n")


def load(browser, path: Path, words: str) -> None:
    """Loads a file of answers; the page says so."""
    at(browser, "#file").send_keys(str(path))
    said(browser, words)


def until(condition):
    """What a condition gives, once it gives anything; a browser writes files a moment
    later."""
    end = time.monotonic() + 20
    while not (value := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return value


def said(browser, words: str) -> str:
    return until(lambda: words in (text := at(browser, "#status").text) and text)


def downloaded(browser, button: str = "#save") -> Path:
    """The file that a button saves, once all of it is there: a browser makes it empty
    first."""
    folder = tempfile.mkdtemp(dir=browser.downloads)
    allowed = {"behavior": "allow", "downloadPath": folder}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
    click(browser, button)

    def whole() -> list[Path]:
        files = Path(folder).glob("*.json")
        return [path for path in files if path.read_text().rstrip()[-1:] == "}"]

    return until(whole)[0]


def answers_in(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["answers"]


def scus_in(path: Path) -> list[tuple[list[str], bool]]:
    return [(answer["scus"], answer["finished"]) for answer in answers_in(path)]


def silent(browser) -> None:
    """No error was logged, and nothing but the page itself was ever asked for."""
    assert [row for row in browser.get_log("browser") if row["level"] == "SEVERE"] == []
    asked = browser.execute_script(
        "return performance.getEntriesByType('resource').length"
    )
    assert asked == 0


def test_writing_scus_and_scoring_them(browser, folder, easiness, tasks):
    begin(browser, folder, tasks)
    for task in tasks.writing:
        assert at(browser, "#sentence mark").text == task.text
        click(browser, BOX)
        for scu in sample.SCUS[task.input, task.sentence]:
            # ChromeDriver types no characters outside Unicode's first plane.
            pasted = "document.execCommand('insertText', false, arguments[0])"
            browser.execute_script(pasted, scu)
            type_keys(browser, "\n")
        control_enter(browser)

    assert at(browser, "#end").is_displayed()
    path = downloaded(browser, "#save-end")
    assert path.name == f"answers-{tasks.digest}-Ann.json"
    check_written(folder, easiness, tasks, [path])
    silent(browser)


def test_judging_by_keyboard_and_mouse(browser, folder, judging):
    begin(browser, folder, judging)
    for number, task in enumerate(judging.judging):
        assert at(browser, "#summary").text == task.summary
        assert texts_of(browser, "#task legend") == [*task.units]
        answers = ["yes" if present else "no" for present in sample.truths(task)]
        if number % 2:
            for unit, answer in enumerate(answers):
                click(browser, f"[data-unit='{unit}'] .{answer}")
            click(browser, "#next")
        else:
            click(browser, "#task")
            type_keys(browser, *[answer[0] for answer in answers], "\n")

    assert at(browser, "#end").is_displayed()
    check_judged(folder, judging, [downloaded(browser, "#save-end")])
    silent(browser)


def test_state_survives_and_a_half_done_task_is_kept(browser, folder, tasks, tmp_path):
    begin(browser, folder, tasks)
    click(browser, BOX)
    type_keys(browser, "One fact.", "\n", "Another  fact.")
    control_enter(browser)
    type_keys(browser, "Half a")

    def again() -> bool:
        browser.get("about:blank")
        begin(browser, folder)
        return at(browser, "#position").text == "Task 2 of 3"

    until(again)
    assert done(browser) == "1 of 3 done"
    assert boxes(browser)[0] == "Half a"
    path = downloaded(browser)
    answers = json.loads(path.read_text(encoding="utf-8"))
    assert answers["worker"] == "Ann"
    assert scus_in(path) == [
        (["One fact.", "Another fact."], True),
        (["Half a"], False),
    ]

    # Another person has a fresh start here, and can go on with Ann's file.
    other_worker(browser, "Bob")
    assert done(browser) == "0 of 3 done"
    load(browser, path, "Loaded")
    assert done(browser) == "1 of 3 done"
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**answers, "digest": "0"}), encoding="utf-8")
    load(browser, other, "other tasks")


def test_keys_of_writing(browser, folder, tasks):
    begin(browser, folder, tasks)
    click(browser, BOX)
    type_keys(browser, "a\nc", UP, "\nb")
    assert boxes(browser) == ["a", "b", "c"]
    type_keys(browser, BACKSPACE, BACKSPACE)
    click(browser, "ol .drop")
    assert boxes(browser) == ["c"]
    click(browser, "#next")
    click(browser, "#next")
    said(browser, "Task 2 was left without a fact. If it states none, tick")


def test_a_sentence_without_a_fact_is_done(browser, folder, tasks):
    begin(browser, folder, tasks)
    click(browser, "label.none")
    control_enter(browser)
    assert done(browser) == "1 of 3 done"
    # Facts and no fact: neither is lost, and the page says which one counts.
    type_keys(browser, "A fact.")
    click(browser, "#none")
    assert not no_fact(browser)
    said(browser, "Remove the facts first")
    control_enter(browser)
    # A fact begun after all is a draft, not an answer that was handed in.
    click(browser, "#none")
    control_enter(browser)
    assert at(browser, "#end").is_displayed()
    click(browser, "#review")
    assert no_fact(browser)
    type_keys(browser, "H")
    assert not no_fact(browser)
    assert done(browser) == "2 of 3 done"
    path = downloaded(browser)
    first, *_ = answers_in(path)
    assert (first["scus"], first["finished"], first["no_fact"]) == (["H"], False, False)
    click(browser, "ol .drop")
    assert done(browser) == "2 of 3 done"
    click(browser, "#none")
    control_enter(browser)
    assert done(browser) == "3 of 3 done"
    path = downloaded(browser)
    written = lp.import_answers(tasks, [path], units=folder / "stus.jsonl")
    assert (written.done, written.fallen_back) == (3, 0)
    assert len(written.named["no_fact"]) == 2

    other_worker(browser, "Bob")
    load(browser, path, "Loaded 3 tasks")
    assert no_fact(browser)


def test_two_tabs_of_one_person_lose_nothing(browser, folder, tasks):
    """The same page opened twice: each tab answers another task, and both answers are
    kept."""
    begin(browser, folder, tasks)
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    begin(browser, folder)
    click(browser, BOX)
    type_keys(browser, "Of the second tab.")
    control_enter(browser)
    browser.close()
    browser.switch_to.window(first)
    click(browser, "#next")
    click(browser, BOX)
    type_keys(browser, "Of the first tab.")
    control_enter(browser)
    assert done(browser) == "2 of 3 done"
    facts = [(["Of the second tab."], True), (["Of the first tab."], True)]
    assert scus_in(downloaded(browser)) == facts


def test_loading_adds_the_facts_that_are_not_answered_here(
    browser, folder, judging, tmp_path
):
    begin(browser, folder, judging, name="Zoë Ø")
    type_keys(browser, "ns")
    path = downloaded(browser)
    assert path.name.endswith("-Zoë_Ø.json")
    answers = json.loads(path.read_text(encoding="utf-8"))
    assert answers["answers"][0]["presence"] == {"0": False, "1": None}
    answers["worker"] = "Bob"
    answers["answers"][0]["presence"] = dict.fromkeys("012", True)
    other = tmp_path / "bob.json"
    other.write_text(json.dumps(answers), encoding="utf-8")
    load(browser, other, "Loaded 1 task answered by Bob;")
    presence = answers_in(downloaded(browser))[0]["presence"]
    assert presence == {"0": False, "1": None, "2": True}
    # What is said can be seen wherever the page is scrolled to.
    status = edges(browser, "#status")
    height = browser.execute_script("return innerHeight")
    assert 0 <= status.top < status.bottom <= height


def screen(browser, width: int, height: int) -> None:
    """A screen of this size, on which nobody has begun."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1}
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {**size, "mobile": width < 600}
    )
    browser.execute_script("if (location.protocol === 'file:') localStorage.clear()")


def edges(browser, selector: str) -> SimpleNamespace:
    """Top, bottom, left, right and height of an element on the screen."""
    box = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"
    return SimpleNamespace(**browser.execute_script(box, selector))


@pytest.fixture
def long(tmp_path):
    """The page of two summaries with more facts than a screen holds."""
    facts = [f"Fact {n} of the storm that hit Oslo." for n in range(30)]
    asked = {"units": facts, "question": "What <hit> Oslo?"}
    rows = [{"input": name, **asked} for name in "12"]
    texts = dict.fromkeys("12", "A storm hit Oslo on Monday. " * 8)
    data = lp.load(units=rows, data={"a": texts})
    return judging_tasks(data.summaries, data.units)


WIDER = "return document.documentElement.scrollWidth - innerWidth"


def test_the_summary_and_next_stay_in_view_while_judging(browser, folder, long):
    for width, height in ((1100, 900), (700, 900), (400, 800)):
        screen(browser, width, height)
        begin(browser, folder, long)
        click(browser, "#next")
        end = browser.execute_script("return document.documentElement.scrollHeight")

        for place in (0, 300, end // 2, end):
            browser.execute_script("window.scrollTo(0, arguments[0])", place)
            summary = edges(browser, "#summary")
            following = edges(browser, "#next")
            assert 0 <= summary.top < summary.bottom <= following.top
            assert following.bottom <= height
            assert place == end or following.bottom > height - 40

        # A fact that the keyboard goes to is under neither of them.
        browser.execute_script("window.scrollTo(0, 0)")
        click(browser, "fieldset")
        for key in "yn" * 6:
            type_keys(browser, key)
            fact = edges(browser, "fieldset:focus-within")
            summary = edges(browser, "#summary")
            assert fact.bottom <= edges(browser, "#work nav").top
            assert fact.top >= summary.bottom or fact.left != summary.left

        assert browser.execute_script(WIDER) <= 0

    silent(browser)


def test_the_first_answer_box_is_in_view_and_focused(browser, folder, tasks):
    (folder / "page.html").write_text(render_page(tasks), encoding="utf-8")
    for width, height in ((1280, 720), (400, 800)):
        screen(browser, width, height)
        browser.get((folder / "page.html").as_uri())
        assert "One fact per line." in at(browser, "#start").text
        assert edges(browser, "#name").bottom <= height
        begin(browser, folder)
        assert browser.switch_to.active_element.tag_name == "textarea"
        assert 0 <= edges(browser, BOX).bottom <= edges(browser, "#work nav").top
        assert browser.execute_script("return window.scrollY") == 0
        assert not at(browser, "#guide").get_attribute("open")

    # Who opens the guide keeps it.
    click(browser, "#guide summary")
    click(browser, "#next")
    assert at(browser, "#guide").get_attribute("open")


def test_nothing_is_cut_on_a_phone(browser, folder, tasks, judging):
    cut = (
        "return [...document.querySelectorAll('#work *')].filter(x => x.offsetParent && "
        "x.getBoundingClientRect().right > innerWidth + 1).map(x => x.outerHTML)"
    )
    for kind, width in product((tasks, judging), (320, 600)):
        screen(browser, width, 640)
        begin(browser, folder, kind)
        assert browser.execute_script(WIDER) <= 0
        assert browser.execute_script(cut) == []


def test_on_a_phone_the_task_comes_first(browser, folder, long):
    screen(browser, 400, 800)
    begin(browser, folder, long)
    assert at(browser, "#question").text == "What <hit> Oslo?"
    names = ("#position", "#question", "#summary", "#guide")
    places = [edges(browser, name) for name in names]
    assert places[0].top < 120
    for before, after in pairwise(places):
        assert before.bottom <= after.top
    assert edges(browser, "fieldset").bottom < edges(browser, "#next").top
    for button in ("#next", "#save", ".choices label"):
        assert edges(browser, button).height >= 44

    screen(browser, 1100, 900)
    summary = edges(browser, "#summary")
    assert edges(browser, "#guide").top < summary.top
    assert edges(browser, "fieldset").left >= summary.right
