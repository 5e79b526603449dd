"""The offline page in a headless Chromium: what people do, what it keeps, what comes back."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from test_round_trip import check_judged, check_written, judge_of, scus_of

import litepyramid as lp
from litepyramid.annotation.answers import collect_units
from litepyramid.annotation.export import write_export
from litepyramid.annotation.forms import read_responses, render_page
from litepyramid.annotation.tasks import judging_tasks
from litepyramid.io.coerce import as_units

pytestmark = pytest.mark.xdist_group("browser")


def open_page(browser, out: Path, name: str = "Ann") -> None:
    browser.get((out / "page.html").as_uri())
    if shown(browser, "start"):
        browser.find_element("id", "name").send_keys(name + "\n")


def shown(browser, element: str) -> bool:
    return browser.find_element("id", element).is_displayed()


def type_keys(browser, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def control_enter(browser) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    chain = ActionChains(browser)
    chain.key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()


def downloaded(browser, button: str = "save") -> Path:
    """The file that a button saves, once all of it is there: a browser makes it empty first."""
    before = set(browser.downloads.iterdir())
    browser.find_element("id", button).click()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        new = [p for p in set(browser.downloads.iterdir()) - before if p.suffix == ".json"]
        if new and whole(new[0]):
            return new[0]
        time.sleep(0.05)
    raise AssertionError("nothing was downloaded")


def whole(path: Path) -> bool:
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return True


def silent(browser) -> None:
    """No error was logged, and nothing but the page itself was ever asked for."""
    assert [row for row in browser.get_log("browser") if row["level"] == "SEVERE"] == []
    asked = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert asked == 0


def test_writing_scus_and_scoring_them(browser, folder, easiness, tasks):
    out = folder / "tasks"
    write_export(tasks, out, "page")
    open_page(browser, out)
    for task in tasks.writing:
        assert browser.find_element("css selector", "#sentence mark").text == task.text
        browser.find_element("css selector", "ol textarea").click()
        for scu in scus_of(tasks, task.id):
            # ChromeDriver types no characters outside Unicode's first plane: they are pasted
            browser.execute_script("document.execCommand('insertText', false, arguments[0])", scu)
            type_keys(browser, "\n")
        control_enter(browser)
    assert shown(browser, "end")
    path = downloaded(browser, "save-end")
    assert path.name == f"answers-{tasks.digest}-Ann.json"
    check_written(folder, easiness, tasks, [path])
    silent(browser)


def test_judging_by_keyboard_and_mouse(browser, folder, judging):
    out = folder / "tasks"
    write_export(judging, out, "page")
    paths = []
    for worker in ("Ann", "Bob"):
        open_page(browser, out, worker)
        for number, task in enumerate(judging.judging):
            assert browser.find_element("id", "summary").text == task.summary
            legends = browser.find_elements("css selector", "#task legend")
            assert tuple(x.text for x in legends) == task.units
            said = judge_of(judging, task.id)
            if number % 2:
                for i, answer in enumerate(said):
                    selector = f"fieldset[data-unit='{i}'] .{'yes' if answer else 'no'}"
                    browser.find_element("css selector", selector).click()
                browser.find_element("id", "next").click()
            else:
                browser.find_element("id", "task").click()
                type_keys(browser, "".join("y" if answer else "n" for answer in said), "\n")
        assert shown(browser, "end")
        paths.append(downloaded(browser, "save-end"))
        browser.find_element("id", "review").click()
        browser.find_element("id", "switch").click()
    check_judged(folder, judging, paths)
    silent(browser)


def test_state_survives_and_a_half_done_task_is_kept(browser, folder, tasks, tmp_path):
    out = folder / "tasks"
    write_export(tasks, out, "page")
    open_page(browser, out)
    browser.find_element("css selector", "ol textarea").click()
    type_keys(browser, "One fact.", "\n", "Another  fact.")
    control_enter(browser)
    type_keys(browser, "Half a")
    end = time.monotonic() + 20
    while time.monotonic() < end:  # the browser writes its storage a moment later
        browser.get("about:blank")
        open_page(browser, out)
        if browser.find_element("id", "position").text == "Task 2 of 3":
            break
        time.sleep(0.2)
    assert browser.find_element("id", "count").text == "1 of 3 done"
    assert browser.find_element("css selector", "ol textarea").get_attribute("value") == "Half a"
    path = downloaded(browser)
    answers = json.loads(path.read_text(encoding="utf-8"))
    assert answers["worker"] == "Ann"
    assert [(a["scus"], a["finished"]) for a in answers["answers"]] == [
        (["One fact.", "Another fact."], True),
        (["Half a"], False),
    ]
    # Another person has a fresh start here, and can go on with Ann's file.
    browser.find_element("id", "switch").click()
    browser.find_element("id", "name").send_keys("Bob\n")
    assert browser.find_element("id", "count").text == "0 of 3 done"
    browser.find_element("id", "file").send_keys(str(path))
    end = time.monotonic() + 20
    while "Loaded" not in browser.find_element("id", "status").text and time.monotonic() < end:
        time.sleep(0.05)
    assert browser.find_element("id", "count").text == "1 of 3 done"
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**answers, "digest": "0"}), encoding="utf-8")
    browser.find_element("id", "file").send_keys(str(other))
    while "other tasks" not in browser.find_element("id", "status").text:
        assert time.monotonic() < end + 20
        time.sleep(0.05)


def test_keys_of_writing(browser, folder, tasks):
    from selenium.webdriver.common.keys import Keys

    out = folder / "tasks"
    write_export(tasks, out, "page")
    open_page(browser, out)
    browser.find_element("css selector", "ol textarea").click()
    type_keys(browser, "a\nc", Keys.ARROW_UP, "\nb")
    values = [
        x.get_attribute("value") for x in browser.find_elements("css selector", "ol textarea")
    ]
    assert values == ["a", "b", "c"]
    type_keys(browser, Keys.BACKSPACE, Keys.BACKSPACE)
    browser.find_elements("css selector", "ol .drop")[0].click()
    left = browser.find_elements("css selector", "ol textarea")
    assert [x.get_attribute("value") for x in left] == ["c"]
    browser.find_element("id", "next").click()
    browser.find_element("id", "next").click()
    said = browser.find_element("id", "status").text
    assert said.startswith("Task 2 was left without a fact. If it states none, tick")


def test_a_sentence_without_a_fact_is_done(browser, folder, tasks):
    out = folder / "tasks"
    write_export(tasks, out, "page")
    open_page(browser, out)
    count, status = (browser.find_element("id", name) for name in ("count", "status"))

    def box():
        return browser.find_element("id", "none")

    browser.find_element("css selector", "label.none").click()
    control_enter(browser)
    assert count.text == "1 of 3 done"
    # Facts and no fact: neither is lost, and the page says which one counts.
    type_keys(browser, "A fact.")
    box().click()
    assert not box().is_selected()
    assert status.text.startswith("Remove the facts first")
    control_enter(browser)
    # A fact begun after all is a draft, not an answer that was handed in.
    box().click()
    control_enter(browser)
    assert shown(browser, "end")
    browser.find_element("id", "review").click()
    assert box().is_selected()
    type_keys(browser, "H")
    assert not box().is_selected()
    assert count.text == "2 of 3 done"
    first = json.loads(downloaded(browser).read_text(encoding="utf-8"))["answers"][0]
    assert (first["scus"], first["no_fact"], first["finished"]) == (["H"], False, False)
    browser.find_element("css selector", "ol .drop").click()
    assert count.text == "2 of 3 done"
    box().click()
    control_enter(browser)
    assert count.text == "3 of 3 done"
    path = downloaded(browser)
    written = collect_units(
        tasks, read_responses([path]), others=as_units(folder / "stus.jsonl", kind="stu")
    )
    assert written.progress.done == 3
    assert len(written.no_fact) == 2
    assert written.fallen_back == 0
    # Somebody else goes on with the file.
    browser.find_element("id", "switch").click()
    browser.find_element("id", "name").send_keys("Bob\n")
    browser.find_element("id", "file").send_keys(str(path))
    wait_for(browser, "Loaded 3 tasks")
    assert count.text == "3 of 3 done"
    assert box().is_selected()
    silent(browser)


def wait_for(browser, words: str) -> str:
    end = time.monotonic() + 20
    while words not in (said := browser.find_element("id", "status").text):
        assert time.monotonic() < end, said
        time.sleep(0.05)
    return said


def test_two_tabs_of_one_person_lose_nothing(browser, folder, tasks):
    """The same page opened twice: each tab answers another task, and both answers are kept."""
    out = folder / "tasks"
    write_export(tasks, out, "page")
    open_page(browser, out)
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    open_page(browser, out)
    browser.find_element("css selector", "ol textarea").click()
    type_keys(browser, "Of the second tab.")
    control_enter(browser)
    browser.switch_to.window(first)
    browser.find_element("id", "next").click()
    browser.find_element("css selector", "ol textarea").click()
    type_keys(browser, "Of the first tab.")
    control_enter(browser)
    assert browser.find_element("id", "count").text == "2 of 3 done"
    answers = json.loads(downloaded(browser).read_text(encoding="utf-8"))["answers"]
    assert [(a["scus"], a["finished"]) for a in answers] == [
        (["Of the second tab."], True),
        (["Of the first tab."], True),
    ]


def test_loading_adds_the_facts_that_are_not_answered_here(browser, folder, judging, tmp_path):
    out = folder / "tasks"
    write_export(judging, out, "page")
    open_page(browser, out, name="Zoë Ø")
    type_keys(browser, "n")
    path = downloaded(browser)
    assert path.name.endswith("-Zoë_Ø.json")
    answers = json.loads(path.read_text(encoding="utf-8"))
    assert answers["answers"][0]["presence"] == {"0": False}
    answers["worker"] = "Bob"
    answers["answers"][0]["presence"] = {"0": True, "1": True}
    other = tmp_path / "bob.json"
    other.write_text(json.dumps(answers), encoding="utf-8")
    browser.find_element("id", "file").send_keys(str(other))
    assert "Loaded 1 task answered by Bob;" in wait_for(browser, "Loaded")
    again = json.loads(downloaded(browser).read_text(encoding="utf-8"))
    assert again["answers"][0]["presence"] == {"0": False, "1": True}
    # What is said can be seen wherever the page is scrolled to.
    place = browser.execute_script(
        "const box = document.getElementById('status').getBoundingClientRect();"
        "return [box.top, box.bottom, innerHeight]"
    )
    assert 0 <= place[0] < place[1] <= place[2]


def screen(browser, width: int, height: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def box(browser, selector: str) -> dict[str, float]:
    """Where an element is on the screen, and how high the screen is."""
    return browser.execute_script(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return {top: box.top, bottom: box.bottom, left: box.left, right: box.right,"
        " height: box.height, screen: innerHeight}",
        selector,
    )


@pytest.fixture
def long(tmp_path):
    """The page of two summaries with more facts than a screen holds."""
    facts = [[f"Fact {n} of the storm that hit Oslo." for n in range(30)]] * 2
    data = lp.load(facts, summaries={"a": ["A storm hit Oslo on Monday. " * 8] * 2})
    units = [replace(entry, question="What <hit> Oslo?") for entry in data.units]
    page = render_page(judging_tasks(data.summaries, units))
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    return tmp_path


def as_new(browser, width: int, height: int) -> None:
    """A screen of this size, on which nobody has begun."""
    screen(browser, width, height)
    browser.execute_script("if (location.protocol === 'file:') localStorage.clear()")


def test_the_summary_and_next_stay_in_view_while_judging(browser, long):
    for size in ((1100, 900), (700, 900), (400, 800)):
        as_new(browser, *size)
        open_page(browser, long)
        browser.find_element("css selector", "#next").click()
        end = browser.execute_script("return document.documentElement.scrollHeight")
        for place in (0, 300, end // 2, end):
            browser.execute_script("window.scrollTo(0, arguments[0])", place)
            summary, following = box(browser, "#summary"), box(browser, "#next")
            assert 0 <= summary["top"] < summary["bottom"] <= following["top"]
            assert following["bottom"] <= following["screen"]
            if place < end:
                assert following["bottom"] > following["screen"] - 40
        # A fact that the keyboard goes to is under neither of them.
        browser.execute_script("window.scrollTo(0, 0)")
        browser.find_element("css selector", "fieldset").click()
        for key in "yn" * 6:
            type_keys(browser, key)
            focused = box(browser, "fieldset:focus-within")
            assert focused["bottom"] <= box(browser, "#work nav")["top"]
            if box(browser, "#summary")["left"] == focused["left"]:
                assert focused["top"] >= box(browser, "#summary")["bottom"]
        assert browser.execute_script(WIDER) <= 0
    silent(browser)


WIDER = "return document.documentElement.scrollWidth - innerWidth"


def test_the_first_answer_box_is_in_view_and_focused(browser, folder, tasks):
    out = folder / "tasks"
    write_export(tasks, out, "page")
    for width, height in ((1280, 720), (400, 800)):
        as_new(browser, width, height)
        browser.get((out / "page.html").as_uri())
        assert "One fact per line." in browser.find_element("id", "start").text
        assert box(browser, "#name")["bottom"] <= height
        open_page(browser, out)
        assert browser.switch_to.active_element.tag_name == "textarea"
        assert 0 <= box(browser, "ol textarea")["bottom"] <= box(browser, "#work nav")["top"]
        assert browser.execute_script("return window.scrollY") == 0
        guide = browser.find_element("id", "guide")
        assert not guide.get_attribute("open")
    # Who opens the guide keeps it.
    browser.find_element("css selector", "#guide summary").click()
    browser.find_element("id", "next").click()
    assert guide.get_attribute("open")


def test_nothing_is_cut_on_a_phone(browser, folder, tasks, judging):
    cut = (
        "return [...document.querySelectorAll('#work *')].filter(x => x.offsetParent && "
        "x.getBoundingClientRect().right > innerWidth + 1).map(x => x.outerHTML)"
    )
    for kind in (tasks, judging):
        write_export(kind, folder / kind.kind)
        for width in (320, 400, 600):
            screen(browser, width, 640)
            open_page(browser, folder / kind.kind)
            assert browser.execute_script(WIDER) <= 0
            assert browser.execute_script(cut) == []


def test_on_a_phone_the_task_comes_first(browser, long):
    screen(browser, 400, 800)
    open_page(browser, long)
    position, summary, guide = (box(browser, s) for s in ("#position", "#summary", "#guide"))
    assert position["top"] < 120
    assert browser.find_element("id", "question").text == "What <hit> Oslo?"
    assert position["bottom"] <= box(browser, "#question")["top"] < summary["top"] < guide["top"]
    assert box(browser, "fieldset")["bottom"] < box(browser, "#next")["top"]
    for button in ("#next", "#save", ".choices label"):
        assert box(browser, button)["height"] >= 44
    screen(browser, 1100, 900)
    assert box(browser, "#guide")["top"] < box(browser, "#summary")["top"]
    fact, summary = box(browser, "fieldset"), box(browser, "#summary")
    assert fact["left"] >= summary["right"]
