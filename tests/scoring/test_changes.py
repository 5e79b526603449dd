"""Runs side by side: facts lost and gained, tests and intervals, the gate."""

import json
import re
from html import unescape

import numpy as np
import pytest
from cases import cases, refused
from made_up import of_presence
from markdown_it import MarkdownIt

import litepyramid as lp
from litepyramid.scoring.inference import as_differences

UNITS = [[f"Fact {u} of {m}." for u in range(10)] for m in range(10)]
CUT = {(0, 1), (0, 2), (3, 4), (5, 5), (9, 9)}
IDS = [f"doc{m}" for m in range(10)]


def exact(text, units):
    """A judge that finds a fact where its words stand as they are."""
    return [float(unit in text) for unit in units]


OPTIONS = {"judge": exact, "samples": 200}


def texts(cut=frozenset()):
    summaries = []
    for m, row in enumerate(UNITS):
        kept = [fact for u, fact in enumerate(row) if (m, u) not in cut]
        summaries.append(" ".join(kept))
    return summaries


def scored(systems, units=UNITS, ids=IDS, **options):
    return lp.score(systems, units, ids=ids, **{**OPTIONS, **options})


@pytest.fixture(scope="module")
def old():
    return scored({"a": texts(), "b": texts(CUT)})


@pytest.fixture(scope="module")
def new():
    return scored({"a": texts(CUT), "b": texts(CUT)})


def test_the_facts_cut_out_are_the_facts_lost(old, new):
    a, b = lp.changes(old, new).changes
    assert {f.text for f in a.lost} == {UNITS[m][u] for m, u in CUT}
    assert [f.input for f in a.lost][:2] == ["doc0", "doc0"]  # worst input first
    assert all(f.old_sentence == f.text and f.new_sentence for f in a.lost)
    assert (a.gained, b.lost, b.gained) == ((), (), ())
    assert sum(entry.share for entry in a.by_input) == pytest.approx(1)
    assert (a.better, a.worse, a.inputs) == (0, 4, 10)

    back = lp.changes(new, old).changes[0]
    assert {f.text for f in back.gained} == {UNITS[m][u] for m, u in CUT}


def test_each_system_is_tested_as_a_pair_of_systems_is():
    rng = np.random.default_rng(1)
    one = of_presence(rng.random((1, 10, 4)), samples=500)
    two = of_presence(rng.random((1, 10, 4)))

    change = lp.changes(one, two).changes[0]

    d = two.values - one.values
    (tested,) = as_differences(d, samples=500, confidence=0.95, seed=12345)
    assert tested == {name: getattr(change, name) for name in tested}
    assert change.p_holm == change.p


def test_a_run_against_itself_changes_nothing(old, tmp_path):
    path = tmp_path / "old.json.gz"
    old.save(path)

    result = lp.changes(path, path, fail_if="worse")

    for change in result.changes:
        assert (change.p, change.difference) == (1, 0)
        assert change.lost == change.gained == ()
    assert result.exit_status == 0
    assert result.headline == (
        "PASS: 0 facts lost, 0 gained; no significant change of 2 systems"
    )


@pytest.mark.parametrize(
    ("options", "outcome"),
    cases("""
        --fail-if worse                   | FAIL
        --fail-under .5 --fail-if-lost 50 | PASS, with a loss
        --fail-under .9                   | FAIL
        --fail-if-lost 19                 | FAIL
        --margin .02                      | FAIL
        --margin .5                       | PASS, with a loss
    """),
)
def test_the_gate_ends_with_status_1(old, tmp_path, cli, options, outcome):
    old.save(tmp_path / "old.json")
    worse = texts({(m, u) for m in range(10) for u in range(m % 3 + 1)})
    scored({"a": worse, "b": texts()}).save(tmp_path / "bad.json")
    status = int(outcome == "FAIL")

    line = f"changes old.json bad.json {options}"
    shown = " ".join(cli(line, status=status, cwd=tmp_path).stdout.split())

    assert f"{outcome}: " in shown
    assert ("FAIL: a " in shown) == bool(status)
    assert ("passes with probability" in shown) == (".02" in options)
    if options == "--fail-if worse":
        cli(f"changes old.json none.json {options}", status=2, cwd=tmp_path)
        cli(f"changes bad.json old.json {options} --pair a=a", cwd=tmp_path)


def test_the_gate_looks_at_all_that_the_new_run_answered():
    """It passed a run that answered more inputs wrongly, or fewer inputs."""
    units = {name: ["It rained."] for name in IDS}

    def run(wrong="Nothing.", inputs=IDS, **options):
        answers = {name: "It rained." if name < "doc8" else wrong for name in inputs}
        own = {name: units[name] for name in inputs}
        return lp.score({"a": answers}, own, **OPTIONS, **options)

    for before in (run(None, nulls="missing"), run(inputs=IDS[:8])):
        result = lp.changes(before, run(), fail_under=0.9)
        assert (result.changes[0].new, result.changes[0].score) == (1, 0.8)
        assert result.exit_status == 1
        assert "all inputs" in result.to_table()
        assert lp.changes(before, run(), fail_under=0.8).exit_status == 0

        vanished = lp.changes(run(), before, fail_if="worse")
        assert vanished.changes[0].vanished == ("doc8", "doc9")
        assert vanished.exit_status == 1


def test_limits_are_met_by_what_is_equal_but_for_rounding():
    """The mean of three times .7 is a little less than .7."""

    def run(present):
        return of_presence(np.tile(np.arange(10.0) < present, (1, 3, 1)))

    same = run(7)
    assert lp.changes(same, same, fail_under=0.7).exit_status == 0
    assert lp.changes(same, same, fail_under=0.7001).exit_status == 1
    # Each loses exactly .1: to be no worse by .1 takes less.
    for present in range(2, 9):
        lost = lp.changes(run(present), run(present - 1), margin=0.1)
        assert lost.exit_status == 1, present


def test_a_fact_is_lost_that_falls_below_a_half_and_by_a_fifth():
    one = of_presence(np.full((1, 3, 2), 0.6))
    two = of_presence(np.full((1, 3, 2), 0.45))
    three = of_presence(np.full((1, 3, 2), 0.4))

    assert lp.changes(one, two).changes[0].lost == ()
    assert len(lp.changes(one, three).changes[0].lost) == 6


def test_what_is_not_shared_is_named_and_not_compared(old):
    fewer = scored({"a": texts()[2:], "c": texts()[2:]}, UNITS[2:], IDS[2:])
    result = lp.changes(old, fewer)
    (change,) = result.changes
    assert change.inputs == 8
    notes = " ".join(result.notes)
    assert "2 inputs only in the old run, left out: doc0, doc1." in notes
    assert "1 system only in the new run, left out: c." in notes

    changed = scored({"a": texts()}, [[*row[:9], "Something else."] for row in UNITS])
    with refused("differ on 10 inputs"):
        lp.changes(old, changed)
    result = lp.changes(old, changed, across_judges=True)
    assert result.changes[0].new == 1.0  # over the nine that both have
    assert "10 units only in the old run and 10 only" in " ".join(result.notes)

    with refused("no input or unit is in both"):
        lp.changes(old, scored({"a": texts()}, ids=[f"x{m}" for m in range(10)]))

    other = scored({"a": texts(), "b": texts()}, judge="recall")
    with refused(r"judge: .* → recall"):
        lp.changes(old, other)
    (note, *_) = lp.changes(old, other, across_judges=True).notes
    assert "The judge may be the difference" in note


def test_pairs_of_systems(old, new):
    after = scored({"after": texts(CUT)})
    (one,) = lp.changes(scored({"before": texts()}), after).changes
    assert (one.name, len(one.lost)) == ("after (was before)", 5)
    (pair,) = lp.changes(old, new, pair=["b=a"]).changes
    assert (pair.old_system, pair.system, pair.difference) == ("b", "a", 0)
    with refused("OLD=NEW"):
        lp.changes(old, new, pair=["a=x"])
    with refused("no system is in both"):
        lp.changes(old, scored({"x": texts(), "y": texts()}))


def test_many_runs_are_compared_with_the_first(old, new, tmp_path):
    paths = []
    for name, run in (("one", old), ("two", new), ("three", old)):
        paths.append(tmp_path / f"{name}.json")
        run.save(paths[-1])
    result = lp.changes(*paths)
    assert (result.baseline, result.runs) == ("one", ("two", "three"))
    lost = [(c.run, len(c.lost)) for c in result.changes]
    assert lost == [("two", 5), ("two", 0), ("three", 0), ("three", 0)]
    result.save(tmp_path / "scores.svg")


def test_a_comment_shows_every_text_as_it_is_and_addresses_nobody():
    hostile = (
        "@someone <b>said</b> | `x` *y* [z](http://a.b) #12 & &amp; \\\\| $1$ ~~n~~"
    )
    units = [[f"{hostile} {m} {u} {'x' * 200}." for u in range(10)] for m in range(60)]
    ids = [f"#{m} `|" for m in range(60)]
    name = "a|b `@c` \\|"
    full = scored({name: [" ".join(row) for row in units]}, units, ids)
    none = scored({name: [""] * 60}, units, ids)

    text = lp.changes(full, none, fail_if="worse").to_markdown()

    assert len(text) <= 60_000
    assert "❌ FAIL: 600 facts lost, 0 gained" in text.splitlines()[1]
    assert "more\n\n</details>" in text
    assert "&#" not in text

    page = MarkdownIt("commonmark").enable("table").render(text)
    codes = [unescape(code) for code in re.findall("<code>(.*?)</code>", page)]
    assert {name, ids[0]} <= {*codes}
    own = "h3 ul li p code strong details summary sub em table thead tbody tr th td"
    assert {*re.findall(r"<(\w+)", page)} <= {*own.split()}

    # Comments between them keep signs and words from being an address.
    prose = re.sub("<!--.*?-->", "\0", page)
    prose = unescape(re.sub("<code>.*?</code>|<.*?>", "", prose))
    assert hostile[:60] in prose.replace("\0", "")
    assert not re.search(r"[@#]\w", prose)


def test_a_pass_with_a_loss_is_not_green_and_names_the_flags_that_would_have_failed(
    old, tmp_path, cli
):
    lost = scored({"a": texts({(0, 1), (0, 2), (5, 5)}), "b": texts(CUT)})
    result = lp.changes(old, lost, fail_if="worse")

    assert result.exit_status == 0
    assert result.headline.startswith("PASS, with a loss: 3 facts lost, 0 gained")
    assert "\n### ⚠️ PASS, with a loss: 3 facts lost" in result.to_markdown()
    assert result.would_fail[0] == "--fail-if-lost 3"
    assert "This would have failed: --fail-if-lost 3 or --margin" in result.to_table()

    # Every flag that is named does fail.
    old.save(tmp_path / "old.json")
    lost.save(tmp_path / "lost.json")
    for flag in result.would_fail:
        cli(f"changes old.json lost.json {flag}", status=1, cwd=tmp_path)

    failed = lp.changes(old, lost, fail_if_lost=3)
    assert "it fails for facts" in failed.failures[0]
    assert failed.would_fail == ()
    gained = lp.changes(lost, old, fail_if="worse")
    assert "\n### ✅ PASS: 0 facts lost, 3 gained" in gained.to_markdown()


def test_a_sentence_is_shown_where_it_speaks_of_the_fact():
    units = [["A storm hit Oslo.", "Two people died."]]
    before = scored({"a": ["A storm hit Oslo. Two people died."]}, units, ["x"])
    now = scored({"a": ["A flood hit Bergen. It was dark."]}, units, ["x"])

    result = lp.changes(before, now)

    storm, died = result.changes[0].lost
    assert storm.new_sentence == "A flood hit Bergen."
    assert (died.old_sentence, died.new_sentence) == ("Two people died.", "")
    assert "no sentence says so" in result.to_markdown()


def test_groups_of_inputs(old, new, tmp_path):
    table = tmp_path / "inputs.csv"
    lines = ["id,topic,length"]
    for m, name in enumerate(IDS):
        lines.append(f"{name},{'early' if m < 5 else 'late'},{m}")
    table.write_text("\n".join(lines))

    change = lp.changes(old, new, by=f"{table}:topic").changes[0]

    early, late = change.by_group
    assert (early.group, early.inputs, late.group) == ("early", 5, "late")
    d = [entry.difference for entry in change.by_input if entry.input in IDS[:5]]
    assert early.difference == pytest.approx(np.mean(d))
    assert early.p_holm >= early.p
    thirds = lp.changes(old, new, by=f"{table}:length").changes[0].by_group
    assert [(group.group, group.inputs) for group in thirds] == [
        ("length up to 3", 4),
        ("length above 3, up to 6", 3),
        ("length above 6", 3),
    ]

    with refused("topic"):
        lp.changes(old, new, by=f"{table}:colour")
    with refused("no input of the runs"):
        lp.changes(old, new, by={"elsewhere": "x"})
    lines += ["doc0,another,1"]
    table.write_text("\n".join(lines))
    with refused("'doc0' is in .* and in 'another'"):
        lp.changes(old, new, by=f"{table}:topic")


def test_wrong_options_are_refused(old, new):
    wrong = {"fail_if": "wrose", "fail_under": 40, "fail_if_lost": 0, "margin": "x"}
    for name, value in wrong.items():
        with refused(name):
            lp.changes(old, new, **{name: value})


def test_tables_and_single_runs_are_no_changes_and_runs_no_table(old, tmp_path):
    table = tmp_path / "w.csv"
    table.write_text("system,input,rouge\na,doc0,1\nb,doc0,0\n")
    assert lp.compare([table]).systems == ("a", "b")
    for runs in ((old,), (old, table)):
        with refused():
            lp.changes(*runs)
    with refused("results of the same systems"):
        lp.compare([old, old])


def test_summaries_without_a_score_are_left_out_and_counted():
    presence = np.random.default_rng(4).random((2, 6, 2))
    gaps = presence + 0.0
    gaps[0, 2] = np.nan
    result = lp.changes(of_presence(presence), of_presence(gaps))
    assert [c.inputs for c in result.changes] == [5, 6]
    assert "1 pair of summaries without a score in both runs" in " ".join(result.notes)


def test_what_is_saved_can_be_read(old, new, tmp_path):
    result = lp.changes(old, new, by=dict.fromkeys(IDS, "all"))
    for ending in ("json", "csv", "svg"):
        result.save(tmp_path / f"c.{ending}")
    saved = json.loads((tmp_path / "c.json").read_text())
    assert saved["changes"][0]["lost"][0]["text"] == "Fact 1 of 0."
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 1 + 2 * 10

    pytest.importorskip("pandas")
    sizes = {"systems": 2, "inputs": 20, "facts": 5, "groups": 2}
    assert {rows: len(result.to_frame(rows)) for rows in sizes} == sizes
