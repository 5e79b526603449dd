"""TREC's nuggets, assignments, answers, claims and leaderboards: read, scored, written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.io.labels import read_labels
from litepyramid.io.scores import read_scores
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
from litepyramid.scoring.convert import convert
from litepyramid.scoring.pyramid import NUGGET_SCORES, ScoringRule, UnitLayout, nugget_scores
from litepyramid.types import InputUnits, Unit, unit_hashes

NUGGETS = """\
{"query": "what hit Oslo", "qid": "q1", "nuggets": [{"text": "A storm hit Oslo", "importance": "vital"}, {"text": "Two people died", "importance": "okay"}]}
{"query": "who won", "qid": "q2", "nuggets": [{"text": "Norway won", "importance": "okay"}, {"text": "Played in Bergen", "importance": "failed"}]}
"""  # noqa: E501
NUGGETS_2026 = """\
{"qid": "17", "nuggets": [{"text": "A storm hit Oslo", "importance": "vital", "mapped_sub_narrative": "weather", "source": "llm"}, {"text": "Two died"}]}
"""  # noqa: E501
ASSIGNED = """\
{"query": "what hit Oslo", "qid": "q1", "run_id": "a", "answer_text": "A storm hit Oslo.", "response_length": 4, "nuggets": [{"text": "A storm hit Oslo", "importance": "vital", "assignment": "support"}, {"text": "Two people died", "importance": "okay", "assignment": "not_support"}]}
{"query": "who won", "qid": "q2", "run_id": "a", "answer_text": "Norway.", "response_length": 1, "nuggets": [{"text": "Norway won", "importance": "okay", "assignment": "partial_support"}, {"text": "Played in Bergen", "importance": "okay", "assignment": "not_support"}]}
{"query": "what hit Oslo", "qid": "q1", "run_id": "b", "answer_text": "Two died.", "response_length": 2, "nuggets": [{"text": "A storm hit Oslo", "importance": "vital", "assignment": "partial_support"}, {"text": "Two people died", "importance": "okay", "assignment": "support"}]}
"""  # noqa: E501
ANSWERS = """\
{"topic_id": "q1", "run_id": "a", "answer": [{"text": "A storm hit Oslo.", "citations": []}, {"text": "Two people died.", "citations": []}]}
{"topic_id": "q2", "run_id": "a", "answer": []}
"""  # noqa: E501
ANSWERS_2026 = """\
{"metadata": {"narrative_id": 17, "run_id": "mine", "team_id": "t"}, "answer": [{"text": "A storm hit Oslo.", "citations": [0, 2]}], "references": ["d1"]}
"""  # noqa: E501
BANK = {
    "query_id": "q1",
    "title_query": "Oslo",
    "format_version": "v3",
    "nugget_bank": None,
    "claim_bank": {
        "c1": {
            "claim": "A storm hit Oslo",
            "importance": "vital",
            "references": [{"doc_id": "d1"}],
            "sub_nuggets": [{"claim": "It was on Monday", "sub_nuggets": None}],
        },
        "c2": {"claim": "Two people died", "importance": 3},
    },
}
QUESTIONS = {"n1": {"question": "How many died?", "answers": ["two"]}}


def written(folder: Path, text: str, name: str = "file.jsonl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def scores_as_nuggetizer(nuggets: list[dict[str, str]]) -> dict[str, float]:
    """Written out from the definition: support 1, partial .5; no vital nugget is 0."""

    def mean(chosen: list[dict[str, str]], partial: float) -> float:
        worth = {"support": 1.0, "partial_support": partial, "not_support": 0.0}
        return sum(worth[n["assignment"]] for n in chosen) / len(chosen) if chosen else 0.0

    vital = [n for n in nuggets if n["importance"] == "vital"]
    return {
        "strict_vital_score": mean(vital, 0.0),
        "strict_all_score": mean(nuggets, 0.0),
        "vital_score": mean(vital, 0.5),
        "all_score": mean(nuggets, 0.5),
    }


NUGGET = st.fixed_dictionaries(
    {
        "importance": st.sampled_from(["vital", "okay"]),
        "assignment": st.sampled_from(["support", "partial_support", "not_support"]),
    }
)


@given(st.lists(st.lists(NUGGET, min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_four_scores_are_nuggetizers(queries: list[list[dict[str, str]]]) -> None:
    units = [
        InputUnits(str(q), tuple(Unit("x", importance=n["importance"]) for n in nuggets))
        for q, nuggets in enumerate(queries)
    ]
    worth = {"support": 1, "partial_support": 0.5, "not_support": 0}
    labels = np.array([worth[n["assignment"]] for nuggets in queries for n in nuggets])
    layout = UnitLayout.of(units)
    found = nugget_scores(labels, layout)
    for q, nuggets in enumerate(queries):
        for name, value in scores_as_nuggetizer(nuggets).items():
            assert found[name][q] == pytest.approx(value, abs=1e-12)
    vital, _ = ScoringRule(importance="vital").apply(labels[None], layout, 0)
    assert np.array_equal(vital[0], found["vital_score"])
    every, _ = ScoringRule().apply(labels[None], layout, 0)
    assert every[0] == pytest.approx(found["all_score"], abs=1e-12)


def test_importance_needs_nuggets() -> None:
    layout = UnitLayout.of([InputUnits("1", (Unit("x"),))])
    with pytest.raises(InputError, match="no unit says whether it is vital"):
        ScoringRule(importance="vital").apply(np.ones((1, 1)), layout, 0)
    with pytest.raises(InputError, match="by the rule 'original'"):
        ScoringRule("original", importance="vital").apply(np.ones((1, 1)), layout, 0)


def test_what_is_vital_is_in_the_signature() -> None:
    shas = [
        unit_hashes([InputUnits("1", (Unit("x", importance=grade),))])["units_sha"]
        for grade in (None, "vital", "okay")
    ]
    assert len(set(shas)) == 3


def test_nuggets_are_units(tmp_path: Path) -> None:
    units = read_units(written(tmp_path, NUGGETS))
    assert [entry.input for entry in units] == ["q1", "q2"]
    assert [unit.importance for unit in units[0].units] == ["vital", "okay"]
    later = read_units(written(tmp_path, NUGGETS_2026))
    assert [unit.importance for unit in later[0].units] == ["vital", None]


def test_assignments_are_everything(tmp_path: Path) -> None:
    path = written(tmp_path, "".join(ASSIGNED.splitlines(keepends=True)[:2]))
    units = read_units(path)
    assert read_summaries([path])[0].texts == ("A storm hit Oslo.", "Norway.")
    assert read_labels([path], units)[0].labels == ((1, 0), (0.5, 0))


@pytest.mark.parametrize(
    ("text", "system", "inputs"), [(ANSWERS, "a", ("q1", "q2")), (ANSWERS_2026, "mine", ("17",))]
)
def test_answers_are_summaries(
    tmp_path: Path, text: str, system: str, inputs: tuple[str, ...]
) -> None:
    (found,) = read_summaries([written(tmp_path, text)])
    assert (found.system, found.inputs) == (system, inputs)
    assert found.texts[0].startswith("A storm hit Oslo.")


@pytest.mark.parametrize("indent", [None, 1])
def test_claims_of_a_bank_are_units(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "bank.json.gz"
    path.write_bytes(gzip.compress(json.dumps(BANK, indent=indent).encode()))
    (entry,) = read_units(path)
    assert entry.texts == ("A storm hit Oslo", "It was on Monday", "Two people died")
    assert [unit.importance for unit in entry.units] == ["vital", None, None]
    path.write_bytes(gzip.compress(json.dumps({**BANK, "nugget_bank": QUESTIONS}).encode()))
    with pytest.raises(InputError, match=r"holds 1 question.*'litepyramid convert' leaves them"):
        read_units(path)
    result = convert([path], tmp_path / "units.jsonl")
    assert result.left_out == {"questions": 1, "references of claims": 1}
    assert read_units(tmp_path / "units.jsonl") == [entry]


@pytest.mark.parametrize("text", [NUGGETS, NUGGETS_2026, NUGGETS.replace("Oslo", "Tromsø")])
def test_nuggets_come_back_byte_for_byte(tmp_path: Path, text: str) -> None:
    first, ours, back = (tmp_path / name for name in ("a.jsonl", "units.jsonl", "b.jsonl"))
    for escaped in (True, False):
        lines = (json.dumps(json.loads(line), ensure_ascii=escaped) for line in text.splitlines())
        first.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        assert convert([first], ours).target == "units"
        assert convert([ours], back).target == "nuggets"
        assert back.read_bytes() == first.read_bytes()
        assert read_units(ours) == read_units(first)


def test_answers_and_assignments_come_back_byte_for_byte(tmp_path: Path) -> None:
    answers = written(tmp_path, ANSWERS, "answers.jsonl")
    convert([answers], tmp_path / "summaries.jsonl")
    convert([tmp_path / "summaries.jsonl"], tmp_path / "back.jsonl")
    assert (tmp_path / "back.jsonl").read_bytes() == answers.read_bytes()
    assigned = written(tmp_path, ASSIGNED, "assigned.jsonl")
    convert([assigned], tmp_path / "again.jsonl", "assignments")
    assert (tmp_path / "again.jsonl").read_bytes() == assigned.read_bytes()
    parts = [tmp_path / f"{what}.jsonl" for what in ("units", "summaries", "labels")]
    for part in parts:
        convert([assigned], part, part.stem)  # type: ignore[arg-type]
    convert(parts, tmp_path / "joined.jsonl", "assignments")
    ours = [json.loads(line) for line in (tmp_path / "joined.jsonl").read_text().splitlines()]
    assert [{**one, "query": ""} for one in map(json.loads, ASSIGNED.splitlines())] == ours


def test_assignments_give_scores_and_leaderboards(tmp_path: Path) -> None:
    assigned, board = written(tmp_path, ASSIGNED), tmp_path / "board.txt"
    assert convert([assigned], board, "leaderboard").lines == 12
    table = read_scores(board)
    assert table.metrics == NUGGET_SCORES
    for line in map(json.loads, ASSIGNED.splitlines()):
        cell = table.systems.index(line["run_id"]), table.inputs.index(line["qid"])
        for m, name in enumerate(table.metrics):
            assert table.values[m][cell] == scores_as_nuggetizer(line["nuggets"])[name]
    assert np.isnan(table.values[:, 1, 1]).all()  # b has no answer to q2
    assert "b vital_score all 0.5\n" in board.read_text()
    convert([board], tmp_path / "scores.csv")
    convert([tmp_path / "scores.csv"], tmp_path / "board2.txt")
    assert (tmp_path / "board2.txt").read_bytes() == board.read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "a ndcg q1 0.5\na ndcg q2 1\na ndcg all 0.75\nb ndcg q1 0\n",
        "a q1 ndcg 0.5\na q2 ndcg 1\na all ndcg 0.75\nb q1 ndcg 0\n",
        "a\tndcg\tq1\t0.5\na\tndcg\tq2\t1\nb ndcg  q1  0\n",
        "a q1 ndcg 0.5\na q2 ndcg 1\nb q1 ndcg 0\n",
    ],
)
def test_leaderboards_in_both_orders(tmp_path: Path, text: str) -> None:
    table = read_scores(written(tmp_path, text, "board.txt"))
    assert (table.metrics, table.systems, table.inputs) == (("ndcg",), ("a", "b"), ("q1", "q2"))
    assert table.values[0].tolist()[0] == [0.5, 1.0]
    assert np.isnan(table.values[0, 1, 1])


def test_trec_evals_output_is_of_one_run(tmp_path: Path) -> None:
    text = "map                   \tq1\t0.5\nmap \tq2\t0.25\nrunid \tall\tbest\nmap \tall\t0.375\n"
    assert read_scores(written(tmp_path, text, "x.eval")).systems == ("best",)
    text = text.replace("runid \tall\tbest\n", "")
    assert read_scores(written(tmp_path, text, "x.eval")).systems == ("x",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NUGGETS.replace('"vital"', '"very"'), r":1: a broken line of nuggets"),
        (NUGGETS.replace('"text": "Norway won"', '"text": 3'), r":2: .*nuggets\[0\].text is 3"),
        (NUGGETS.replace('"q2"', '["q2"]'), r":2: .*qid is"),
        (NUGGETS.replace('"q2"', '"q1"'), r":2: input 'q1' occurs twice \(first on line 1\)"),
        (ASSIGNED.replace('"partial_support"', '"failed"'), r":2: .*assigned 'failed'"),
        (ASSIGNED.replace('"Two people died"', '"Ten died"', 1), "has other units of input 'q1'"),
        (ASSIGNED.replace('"run_id": "a"', '"run_id": null', 1), r":1: .*run_id is null"),
        (NUGGETS[:200], r":2: not valid JSON"),
        (
            json.dumps({**BANK, "claim_bank": {"c": 3}}),
            r":1: a nugget of the bank is not an object",
        ),
        (json.dumps({**BANK, "claim_bank": {"c": {"claim": 3}}}), r":1: a broken claim"),
        (json.dumps({**BANK, "claim_bank": {}}), r"no \"units\""),
        ('{"qid": "q1", "nuggets": []}', "units"),
    ],
)
def test_broken_nuggets_are_refused_with_file_and_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=message) as found:
        read_units(path)
    assert found.value.path == str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"topic_id": "q1", "run_id": "a", "answer": [{"txt": "x"}]}',
            r":1: .*no answer\[0\].text",
        ),
        ('{"topic_id": "q1", "run_id": "a", "answer": ["x"]}', r":1: .*answer\[0\] is"),
        ('{"metadata": {"run_id": "a"}, "answer": [{"text": "x"}]}', r":1: no \"input\""),
    ],
)
def test_broken_answers_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_summaries([written(tmp_path, text + "\n")])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ndcg q1 0.5\na ndcg q2\n", ":2: 3 columns in a leaderboard"),
        ("a ndcg q1 0.5\na ndcg q2 x\n", ":2: the score 'x' is not a number"),
        ("a ndcg q1 0.5\na ndcg q1 0.6\n", ":2: metric 'ndcg' scores system 'a'.* twice"),
        ("a ndcg all 0.5\n", "holds only means"),
        ("a ndcg q1 inf\n", "infinite"),
    ],
)
def test_broken_leaderboards_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_scores(written(tmp_path, text, "board.txt"))


@pytest.mark.parametrize(
    ("texts", "target", "message"),
    [
        ([NUGGETS], "assignments", "nothing to write assignments from"),
        ([NUGGETS], "scores", "no labels to score by"),
        ([NUGGETS, NUGGETS.replace("hit", "reached")], "units", "input q1 occurs twice"),
        (['{"input": "q9", "system": "a", "labels": [1]}\n'], "labels", ":1: labels of input 'q9'"),
        (["one line\nof text\n"], None, "can be converted to several kinds of file"),
        (["one line\nof text\n"], "units", "holds no units, summaries or labels"),
        ([NUGGETS], "nothing", "unknown kind of file 'nothing'"),
    ],
)
def test_what_cannot_be_converted_is_said(
    tmp_path: Path, texts: list[str], target: Any, message: str
) -> None:
    paths = [written(tmp_path, text, f"{i}.jsonl"[: 7 - 6 * (text[0] == "o")])
             for i, text in enumerate(texts)]  # fmt: skip
    with pytest.raises(InputError, match=message):
        convert(paths, tmp_path / "out", target)
    assert not (tmp_path / "out").exists()


def test_what_a_nugget_cannot_say_is_counted(tmp_path: Path) -> None:
    units = '{"input": "1", "units": [{"text": "x", "weight": 3, "kind": "stu", "sentence": 0}]}\n'
    result = convert([written(tmp_path, units)], tmp_path / "nuggets.jsonl")
    assert result.left_out == {"weights": 1, "kinds of units": 1}
    said = json.loads((tmp_path / "nuggets.jsonl").read_text())
    assert said == {"qid": "1", "nuggets": [{"text": "x"}]}
    assert "kinds of units" in result.to_table()
