"""The adapters with the real packages; what is not installed is skipped, with the
reason."""

import sys
from pathlib import Path

import pytest

import litepyramid as lp

FOLDER = Path(__file__).resolve().parents[2] / "adapters"
SUMMARY = "A storm hit Oslo on Monday."
UNITS = ["A storm hit Oslo.", "Two people died."]
REFERENCE = "A storm hit Oslo. Two people died."


@pytest.fixture(autouse=True)
def _ready_to_copy(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])


def expected(**source):
    return lp.score(
        [SUMMARY],
        judge="recall",
        samples=40,
        **source,
    )


def test_inspect_ai(tmp_path):
    inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_scorer import pyramid

    output = ModelOutput.from_content("mock", SUMMARY)
    output.usage = ModelUsage(
        input_tokens=1,
        output_tokens=1,
        total_tokens=2,
    )
    samples = [
        Sample(input="Summarise.", target=REFERENCE),
        Sample(
            input="Summarise.",
            target=REFERENCE,
            metadata={"units": UNITS},
        ),
    ]
    task = inspect_ai.Task(dataset=samples, scorer=pyramid("recall"))
    model = get_model("mockllm/model", custom_outputs=[output] * 2)
    (log,) = inspect_ai.eval(
        task,
        model=model,
        log_dir=str(tmp_path),
        display="none",
    )

    assert log.status == "success", log.error
    values = [next(iter(sample.scores.values())).value for sample in log.samples]
    wanted = [expected(references=[[REFERENCE]]).values[0, 0], 0.5]
    assert values == pytest.approx(wanted)
    metrics = log.results.scores[0].metrics
    assert metrics["mean"].value == pytest.approx(sum(wanted) / 2)
    assert (
        "judge:recall"
        in next(iter(log.samples[0].scores.values())).metadata["signature"]
    )


def test_lighteval():
    pytest.importorskip("lighteval", reason="lighteval is not installed")
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc
    from lighteval_metric import Pyramid, pyramid

    pyramid.sample_level_fn = Pyramid("recall")
    answer = ModelResponse(text=[SUMMARY])
    docs = [
        Doc(
            query="q",
            choices=[REFERENCE],
            gold_index=0,
        ),
        Doc(
            query="q",
            choices=[REFERENCE],
            gold_index=0,
            specific={"units": UNITS},
        ),
    ]
    found = [
        pyramid.compute_sample(doc=doc, model_response=answer)["litepyramid"]
        for doc in docs
    ]
    assert found == pytest.approx(
        [expected(references=[[REFERENCE]]).values[0, 0], 0.5]
    )
    assert pyramid.get_corpus_aggregations()["litepyramid"](found) == pytest.approx(
        sum(found) / 2
    )


def test_hugging_face_evaluate(tmp_path, monkeypatch):
    evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path))
    metric = evaluate.load(str(FOLDER / "evaluate_module.py"), cache_dir=str(tmp_path))
    found = metric.compute(
        predictions=[SUMMARY, ""],
        references=[UNITS, UNITS],
        units=True,
        judge="recall",
    )
    assert (found["score"], found["scores"]) == (0.25, [0.5, 0.0])
    one = metric.compute(
        predictions=[SUMMARY],
        references=[REFERENCE],
        judge="recall",
    )

    assert one["score"] == pytest.approx(
        expected(references=[[REFERENCE]]).values[0, 0]
    )
