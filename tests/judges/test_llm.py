"""The judge behind an endpoint: right scores or one clear error, nothing lost or paid for twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("openai", reason="the extra llm is not installed")

from llm_server import KEY, FakeEndpoint, asked, rule

from litepyramid.embedded.example import load_example
from litepyramid.errors import InputError, ModelError
from litepyramid.judges.base import UnsentError
from litepyramid.judges.llm.client import Endpoint
from litepyramid.judges.llm.judge import LLMJudge
from litepyramid.judges.llm.prompt import load_prompt
from litepyramid.judges.registry import make_judge

ITEMS = [
    ("A storm hit Oslo on Monday.", ["A storm hit Oslo.", "Two people died.", "It hit on Monday"]),
    ("Two people died in Oslo.", ["Two people died.", "A storm hit Oslo.", "Two people died."]),
    ("", ["A storm hit Oslo."]),
    ("The river rose.\nIt rained {units}.", ["The river rose.", "It rained.", "rained {count}"]),
    ("A storm hit Oslo on Monday.", ["A storm hit Oslo.", "Oslo"]),
]
DISTINCT = 9


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setenv("LITEPYRAMID_API_KEY", KEY)
    server = FakeEndpoint()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    import openai._base_client as client

    for name in ("INITIAL_RETRY_DELAY", "MAX_RETRY_DELAY"):
        monkeypatch.setattr(client, name, 0.01)


def judge(fake, tmp_path=None, **options):
    cache = tmp_path / "c.sqlite" if tmp_path else None
    return LLMJudge("m", endpoint=fake.url, cache=cache, **options)


def values(batch):
    return [presence.tolist() for presence in batch.presence]


def test_grades_are_those_of_the_rule_and_units_of_a_summary_share_requests(fake):
    batch = judge(fake).judge(ITEMS)
    assert values(batch) == rule(ITEMS)
    assert (fake.requests, batch.counts["requests"]) == (4, 4)
    assert (batch.counts["pairs"], batch.counts["judged"]) == (12, DISTINCT)
    assert (batch.counts["tokens_in"], batch.counts["tokens_out"]) == (400, 40)
    body = fake.bodies[0]
    assert (body["temperature"], body["seed"], body["model"]) == (0, 12345, "m")
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == [str(n) for n in range(1, len(schema["properties"]) + 1)]
    assert fake.keys == {f"Bearer {KEY}"}
    assert batch.signature["revision"] == "fake-1"
    assert batch.signature["mode"] == "grade"


@pytest.mark.parametrize("size", [1, 2, 20])
def test_chunks_change_nothing(fake, size):
    assert values(judge(fake, units_per_request=size).judge(ITEMS)) == rule(ITEMS)


def test_a_second_run_sends_nothing_and_says_the_same(fake, tmp_path):
    first = judge(fake, tmp_path).judge(ITEMS)
    sent = fake.requests
    again = judge(fake, tmp_path).judge(ITEMS)
    assert fake.requests == sent
    assert values(again) == values(first)
    assert again.signature == first.signature
    assert (again.counts["from_cache"], again.counts["judged"]) == (DISTINCT, 0)


@pytest.mark.parametrize(
    "options",
    [{"prompt": "three"}, {"parameters": {"top_p": 0.5}}, {"units_per_request": 7}, {"seed": 1}],
)
def test_other_settings_are_other_judgements(fake, tmp_path, options):
    judge(fake, tmp_path).judge(ITEMS)
    batch = judge(fake, tmp_path, **options).judge(ITEMS)
    assert batch.counts["judged"] == DISTINCT
    with pytest.raises(UnsentError) as unsent:
        judge(fake, tmp_path, estimate=True).judge(ITEMS)
    assert unsent.value.result.from_cache == DISTINCT


def test_probabilities_where_they_are_offered(fake, tmp_path):
    fake.probability = 0.75
    batch = judge(fake, tmp_path).judge(ITEMS)
    wanted = [[0.75 if v else 0.25 for v in row] for row in rule(ITEMS)]
    wanted[2] = [0.0]
    for own, row in zip(values(batch), wanted, strict=True):
        assert own == pytest.approx(row)
    assert batch.signature["mode"] == "probability"
    hard = judge(fake, tmp_path, logprobs=False).judge(ITEMS)
    assert values(hard) == rule(ITEMS)


def test_what_a_server_refuses_to_be_asked_for_is_left_out(fake, tmp_path):
    fake.refuses = {"logprobs", "response_format", "seed"}
    first = judge(fake, tmp_path).judge(ITEMS)
    assert values(first) == rule(ITEMS)
    assert first.signature["revision"] == "fake-1 without response_format seed"
    assert judge(fake, tmp_path).judge(ITEMS).signature == first.signature


def fails(kind):
    """An action that fails the first two requests in a way, then answers."""
    ways = {
        "429 with a hint": (429, {"Retry-After": "0.2"}, b"{}"),
        "429": (429, {}, b'{"error": {"message": "slow down"}}'),
        "500": (500, {}, b"oops"),
        "closed": (None, {}, b""),
        "no json": (200, {}, b"<html>busy</html>"),
        "no text": (200, {}, b'{"model": "fake-1", "choices": [{"message": {"content": null}}]}'),
    }
    return lambda number, body: ways[kind] if number <= 2 else None


@pytest.mark.parametrize("kind", ["429 with a hint", "429", "500", "closed"])
def test_passing_failures_pass(fake, kind):
    fake.act = fails(kind)
    start = time.monotonic()
    batch = judge(fake).judge(ITEMS)
    assert values(batch) == rule(ITEMS)
    assert fake.requests == 6
    assert kind != "429 with a hint" or time.monotonic() - start >= 0.2
    assert max(fake.answered.values()) == 1


def test_a_hang_is_given_up_and_asked_for_again(fake):
    fake.act = lambda number, body: time.sleep(2) if number == 1 else None
    start = time.monotonic()
    assert values(judge(fake, timeout=0.3).judge(ITEMS)) == rule(ITEMS)
    assert time.monotonic() - start < 2


WRONG = {
    "wrong count": lambda right: json.dumps({"1": "no"} | dict.fromkeys("234567", "no")),
    "truncated": lambda right: right[:-4],
    "another word": lambda right: right.replace("yes", "maybe").replace("no", "maybe"),
    "numbers from 0": lambda right: right.replace('"1"', '"0"'),
    "a key twice": lambda right: right[:-1] + ', "1": "no"}',
    "empty": lambda right: " ",
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_answers_are_asked_for_again_in_halves(fake, kind):
    wrong = WRONG[kind]
    fake.act = lambda number, body: wrong(fake.answer(body)) if len(asked(body)[1]) > 1 else None
    if kind == "empty":
        with pytest.raises(ModelError, match=r"have no judgement: the answer has no text"):
            judge(fake).judge(ITEMS)
    else:
        assert values(judge(fake).judge(ITEMS)) == rule(ITEMS)


AROUND = {
    "prose": lambda right: f"Sure, no problem {{}}! Here you are:\n{right}\nYes, that is all [1].",
    "fences": lambda right: f"```json\n{right}\n```",
    "a thought": lambda right: f'<think>{{"1": "yes", "2": "yes"}} or no?</think>{right}',
    "a list": lambda right: json.dumps(list(json.loads(right).values())),
    "in an object": lambda right: json.dumps({"answers": json.loads(right)}),
    "lines": lambda right: "\n".join(f"{n}. {w}" for n, w in json.loads(right).items()),
    "true and false": lambda right: right.replace('"yes"', "true").replace('"no"', "false"),
    "capitals": lambda right: right.upper(),
}


@pytest.mark.parametrize("kind", AROUND)
def test_right_answers_are_read_whatever_is_around_them(fake, kind):
    fake.act = lambda number, body: AROUND[kind](fake.answer(body))
    batch = judge(fake).judge(ITEMS)
    assert values(batch) == rule(ITEMS)
    assert fake.requests == 4


@pytest.mark.parametrize("kind", ["no json", "no text", "always wrong", "400", "500"])
def test_what_cannot_be_had_is_missing_and_asked_for_by_the_next_run(fake, tmp_path, kind):
    def act(number, body):
        if "Two people died in Oslo." not in body["messages"][0]["content"]:
            return None
        known = {"400": (400, {}, b'{"error": {"message": "too long a context"}}')}
        return known.get(kind) or ("maybe" if kind == "always wrong" else fails(kind)(1, body))

    fake.act = act
    with pytest.raises(ModelError) as error:
        judge(fake, tmp_path, retries=1).judge(ITEMS)
    assert str(error.value).startswith("3 of 12 pairs have no judgement: ")
    assert str(error.value).endswith("accept this with --allow-missing 0.25.")
    batch = judge(fake, tmp_path, retries=0, allow_missing=0.25).judge(ITEMS)
    wanted = rule(ITEMS)
    wanted[1] = [np.nan] * 3
    for own, row in zip(values(batch), wanted, strict=True):
        np.testing.assert_array_equal(own, row)
    assert batch.counts["missing"] == 3
    sent = fake.requests
    fake.act = lambda number, body: None
    assert values(judge(fake, tmp_path).judge(ITEMS)) == rule(ITEMS)
    assert fake.requests == sent + 1
    assert max(fake.answered.values()) == 1


def test_a_refused_key_is_one_error_without_the_key(fake):
    fake.act = lambda number, body: (
        401, {}, json.dumps({"error": {"message": f"wrong key {KEY}"}}).encode(),
    )  # fmt: skip
    with pytest.raises(ModelError, match="refuses the model 'm'") as error:
        judge(fake, concurrency=2).judge(ITEMS)
    assert KEY not in str(error.value)
    assert fake.requests <= 2


def test_an_endpoint_that_is_down_is_given_up(fake):
    items = [(f"Summary {n}.", ["A unit."]) for n in range(200)]
    fake.act = lambda number, body: (503, {}, b"")
    with pytest.raises(ModelError, match=r"200 of 200 pairs.*failed 8 times in a row"):
        judge(fake, retries=0, concurrency=4).judge(items)
    assert fake.requests < 20


def test_a_model_that_changes_is_one_error_and_nothing_is_lost(fake, tmp_path):
    def act(number, body):
        fake.version = "fake-1" if number <= 2 else "fake-2"

    fake.act = act
    with pytest.raises(
        ModelError, match="reports version 'fake-2 grade', but this run is from 'fake-1 grade'"
    ):
        judge(fake, tmp_path, concurrency=1).judge(ITEMS)
    sent = fake.requests
    mixed = judge(fake, tmp_path, model_version="any").judge(ITEMS)
    assert values(mixed) == rule(ITEMS)
    assert mixed.signature["revision"] == "fake-1+fake-2"
    assert max(fake.answered.values()) == 1
    new = judge(fake, tmp_path).judge(ITEMS)
    assert (values(new), new.signature["revision"]) == (rule(ITEMS), "fake-2")
    assert fake.requests > sent
    with pytest.raises(ModelError, match="this run is from 'fake-1'"):
        judge(fake, tmp_path, model_version="fake-1").judge(ITEMS)


def test_no_more_requests_than_allowed_are_under_way(fake):
    fake.latency = 0.05
    items = [(f"Summary {n}.", ["Summary"]) for n in range(40)]
    start = time.monotonic()
    assert values(judge(fake, concurrency=8).judge(items)) == [[1.0]] * 40
    assert fake.most_busy <= 8
    assert time.monotonic() - start >= 5 * 0.05


def test_it_works_where_an_event_loop_runs(fake):
    import asyncio

    async def cell():
        return judge(fake).judge(ITEMS)

    assert values(asyncio.run(cell())) == rule(ITEMS)


def test_a_prompt_of_ones_own(fake, tmp_path):
    own = tmp_path / "mine.txt"
    own.write_text("grades: ja=1 nein=0\nText: {summary}\nSatz: {unit}\n")
    fake.act = lambda number, body: "Ja." if "storm" in body["messages"][0]["content"] else "Nein"
    batch = judge(fake, prompt=own).judge([("A storm.", ["Rain.", "x"]), ("Sun.", ["Rain."])])
    assert values(batch) == [[1.0, 1.0], [0.0]]
    assert fake.requests == 3
    assert "response_format" not in fake.bodies[0]
    assert batch.signature["prompt"] == f"mine-{load_prompt(own).sha}"
    assert "Document: A storm.\nClaim: Rain." in load_prompt("minicheck").request(
        "A storm.", ["Rain."]
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Text: {summary} {unit}", "without grades"),
        ("grades: yes=2 no=0\n{summary} {unit}", "without grades"),
        ("grades: yes=1\n{summary} {unit}", "without grades"),
        ("grades: yes=1 no=0\n{unit}", "without placeholders"),
        ("grades: yes=1 no=0\n{summary} {unit} {units}", "without placeholders"),
    ],
)
def test_a_broken_prompt_is_one_error(tmp_path, text, said):
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(InputError, match=said):
        load_prompt(tmp_path / "p.txt")


def test_bad_settings_are_one_error(monkeypatch, tmp_path):
    for url in ("ftp://x", "https://me:secret@host/v1", "https://host/v1?key=1", "host"):
        with pytest.raises(InputError, match="address cannot be used") as error:
            Endpoint("m", url)
        assert "secret" not in str(error.value)
    with pytest.raises(InputError, match="unknown prompt 'nothing'"):
        LLMJudge("m", prompt="nothing")
    with pytest.raises(InputError, match="without prices"):
        LLMJudge("m", max_cost=1.0, cache=None)
    with pytest.raises(InputError, match="takes no mode"):
        make_judge("llm:m", mode="p2c")
    with pytest.raises(InputError, match="takes no endpoint"):
        make_judge("lexical", endpoint="https://x")
    for name in ("LITEPYRAMID_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="no key for the endpoint"):
        LLMJudge("m", cache=None).judge(ITEMS)


# Money.


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"m": {"in": 1.0, "out": 1000.0}}))
    return path


def test_the_estimate_is_of_what_would_be_sent(fake, tmp_path, prices):
    with pytest.raises(UnsentError) as unsent:
        judge(fake, tmp_path, estimate=True, prices=prices).judge(ITEMS)
    result = unsent.value.result
    assert fake.requests == 0
    assert (result.pairs, result.from_cache, result.requests) == (DISTINCT, 0, 4)
    judge(fake, tmp_path).judge(ITEMS)
    sent = sum(len(body["messages"][0]["content"].encode()) for body in fake.bodies)
    assert abs(result.tokens_in - sent / 4) < 40
    assert result.price == pytest.approx((result.tokens_in + 1000 * result.tokens_out) / 1e6)


def test_no_more_is_spent_than_allowed(fake, tmp_path, prices):
    with pytest.raises(InputError, match="would be spent"):
        judge(fake, tmp_path, prices=prices, max_cost=0.001).judge(ITEMS)
    assert fake.requests == 0
    items = [(f"Summary {n}.", ["Summary"]) for n in range(8)]  # .0101 each, by the usage
    used = {"usage": {"completion_tokens": 20}}
    fake.act = lambda number, body: (
        200, {}, json.dumps(fake.completion(fake.answer(body), body) | used).encode(),
    )  # fmt: skip
    limited = judge(fake, tmp_path, prices=prices, max_cost=0.08, concurrency=1)
    with pytest.raises(ModelError, match="was spent"):
        limited.judge(items)
    assert fake.requests == 4
    assert judge(fake, tmp_path).judge(items).counts["from_cache"] == 4


def test_a_batch_goes_out_and_comes_back_in_parts(fake, tmp_path):
    goal, answers = tmp_path / "batch.jsonl", tmp_path / "answers.jsonl"
    with pytest.raises(UnsentError):
        judge(fake, tmp_path, batch=goal).judge(ITEMS)
    assert fake.requests == 0
    lines = [json.loads(line) for line in goal.read_text().splitlines()]
    assert [sorted(line) for line in lines] == [["body", "custom_id", "method", "url"]] * 4
    done = [
        {"id": "r", "custom_id": line["custom_id"], "error": None, "response": {
            "status_code": 200, "body": fake.completion(fake.answer(line["body"]), line["body"])}}
        for line in reversed(lines)
    ]  # fmt: skip
    done[3] |= {"response": {"status_code": 500, "body": {}}}

    def write(some):
        answers.write_text("".join(json.dumps(line) + "\n" for line in some))

    write(done[1:])
    with pytest.raises(ModelError, match="have no judgement"):
        judge(fake, tmp_path, answers=answers).judge(ITEMS)
    write([done[0]])
    with pytest.raises(ModelError, match="have no judgement"):
        judge(fake, tmp_path, answers=answers).judge(ITEMS)
    with pytest.raises(UnsentError):
        judge(fake, tmp_path, batch=goal).judge(ITEMS)
    assert len(goal.read_text().splitlines()) == 1
    assert fake.requests == 0
    batch = judge(fake, tmp_path).judge(ITEMS)
    assert (values(batch), fake.requests) == (rule(ITEMS), 1)
    write([{"custom_id": "other"}])
    with pytest.raises(InputError, match="answers none of the requests"):
        judge(fake, tmp_path, answers=answers).judge(ITEMS)


# Through the command line.


@pytest.fixture
def example(tmp_path):
    loaded = load_example()
    from litepyramid.io.units import write_units

    write_units(tmp_path / "scus.jsonl", loaded.scus, "jsonl")
    folder = tmp_path / "summaries"
    folder.mkdir()
    for system in loaded.summaries:
        rows = zip(system.inputs, system.texts, strict=True)
        (folder / f"{system.system}.jsonl").write_text(
            "".join(json.dumps({"input": i, "summary": t}) + "\n" for i, t in rows)
        )
    return folder, tmp_path / "scus.jsonl"


def arguments(fake, example, tmp_path, command="score"):
    folder, units = example
    return [
        command, folder, "--units", units, "--judge", "llm:m", "--endpoint", fake.url,
        "--cache", tmp_path / "cache.sqlite", "--samples", "100",
    ]  # fmt: skip


def test_scores_comparison_and_signature_of_the_example_and_the_key_nowhere(
    fake, example, tmp_path, cli
):
    loaded = load_example()
    given = arguments(fake, example, tmp_path)
    planned = cli(*given, "--estimate", "--format", "json", LITEPYRAMID_API_KEY=KEY)
    assert fake.requests == 0
    scored = cli(*given, "--format", "json", LITEPYRAMID_API_KEY=KEY)
    assert fake.requests == json.loads(planned.stdout)["requests"]
    found = {entry["system"]: entry["score"] for entry in json.loads(scored.stdout)["systems"]}
    for system in loaded.summaries:
        rows = rule(zip(system.texts, [entry.texts for entry in loaded.scus], strict=True))
        weights = [[unit.weight for unit in entry.units] for entry in loaded.scus]
        means = [np.average(row, weights=w) for row, w in zip(rows, weights, strict=True)]
        assert found[system.system] == pytest.approx(np.mean(means))
    sent = fake.requests
    shown = cli(*given, LITEPYRAMID_API_KEY=KEY)
    assert "judge:llm:m|revision:fake-1|mode:grade|prompt:yes-no-" in shown.stdout.replace("\n", "")
    compared = cli(*arguments(fake, example, tmp_path, "compare"), LITEPYRAMID_API_KEY=KEY)
    assert fake.requests == sent
    given[given.index("--cache") + 1] = tmp_path / "other.sqlite"
    batch = cli(*given, "--batch", tmp_path / "b.jsonl", LITEPYRAMID_API_KEY=KEY)
    cli("cache", "info", "--cache", tmp_path / "cache.sqlite")
    for run in (planned, scored, shown, compared, batch):
        assert KEY not in run.stdout + run.stderr
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


def test_evaluation_cross_validation_and_the_report(fake, tmp_path, cli):
    cli("demo", "--save", "example", cwd=tmp_path)
    asking = ["--endpoint", fake.url, "--cache", tmp_path / "cache.sqlite"]
    files = ["example/summaries", "--units", "example/scus.jsonl", "--labels", "example/labels"]
    runs = [
        ["judge", "evaluate", *files, "--judge", "llm:m", *asking],
        ["score", *files, "--judge", "llm:m", *asking, "--samples", "40", "--html", "page.html"],
        ["crossval", "folder=example", "--zero-shot", "llm:m", "--folds", "2", *asking],
    ]
    (tmp_path / "example" / "units.jsonl").write_bytes(
        (tmp_path / "example" / "scus.jsonl").read_bytes()
    )
    done = cli(*runs[0], cwd=tmp_path, LITEPYRAMID_API_KEY=KEY)
    assert "Accuracy" in done.stdout
    for run in runs[1:]:
        done = cli(*run, cwd=tmp_path, LITEPYRAMID_API_KEY=KEY)
        assert "llm:m" in done.stdout
        assert KEY not in done.stdout + done.stderr
    assert max(fake.answered.values()) == 1  # cross-validation judges STUs too
    assert "llm:m" in (tmp_path / "page.html").read_text()
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


def test_missing_answers_end_with_exit_2_or_are_counted(fake, example, tmp_path, cli):
    first = load_example().summaries[0].texts[0]
    fake.act = lambda number, body: "maybe" if asked(body)[0] == first else None
    given = arguments(fake, example, tmp_path)
    done = cli(*given, status=2, LITEPYRAMID_API_KEY=KEY)
    assert "have no judgement: the answer lacks requested grades" in done.stderr
    sent = fake.requests
    done = cli(*given, "--allow-missing", "0.1", LITEPYRAMID_API_KEY=KEY)
    assert fake.requests > sent
    shown = " ".join(done.stdout.split())
    assert "pairs have no judgement." in shown
    assert "1 summary is not scored, for lack of judgements." in shown


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_goes_on_and_pays_for_nothing_twice(fake, example, tmp_path, cli, how):
    fake.latency = 0.1
    given = [str(part) for part in arguments(fake, example, tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-m", "litepyramid", *given, "--concurrency", "2"],
        env={**os.environ, "LITEPYRAMID_API_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        while fake.requests < 8 and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(how)
        _, said = run.communicate(timeout=20)
    assert "Traceback" not in said
    if how == signal.SIGINT:
        assert run.returncode == 130
        assert "kept in" in said
    kept = set(fake.answered)
    fake.latency = 0
    before = dict(fake.answered)
    cli(*given, LITEPYRAMID_API_KEY=KEY)
    twice = [
        pair
        for pair, count in fake.answered.items()
        if count > before.get(pair, 0) and pair in kept
    ]
    largest = max(len(entry.units) for entry in load_example().scus)
    assert len(twice) <= 2 * largest  # what was under way
    assert len(kept) > 4 * largest / 2
