"""The adapters with the real packages; what is not installed is skipped, with the
reason."""

import sys
from pathlib import Path

import pytest
from cases import quick_score

FOLDER = Path(__file__).resolve().parents[2] / "adapters"
SUMMARY = "A storm hit Oslo on Monday."
UNITS = ["A storm hit Oslo.", "Two people died."]
REFERENCE = "A storm hit Oslo. Two people died."


@pytest.fixture(autouse=True)
def _ready_to_copy(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])


@pytest.fixture(scope="module")
def expected():
    """The score with facts of the reference, and that with facts of people."""
    result = quick_score([SUMMARY], references=[[REFERENCE]])
    return [result.values[0, 0], 0.5]


def test_inspect_ai(tmp_path, expected):
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
    samples = []
    for metadata in ({}, {"units": UNITS}):
        samples.append(Sample(input="?", target=REFERENCE, metadata=metadata))
    task = inspect_ai.Task(dataset=samples, scorer=pyramid("recall"))
    model = get_model("mockllm/model", custom_outputs=[output] * 2)
    (log,) = inspect_ai.eval(
        task,
        model=model,
        log_dir=str(tmp_path),
        display="none",
    )

    assert log.status == "success", log.error
    scores = []
    for sample in log.samples:
        scores += sample.scores.values()
    assert [score.value for score in scores] == pytest.approx(expected)
    mean = log.results.scores[0].metrics["mean"]
    assert mean.value == pytest.approx(sum(expected) / 2)
    assert "judge:recall" in scores[0].metadata["signature"]


def test_lighteval(expected):
    pytest.importorskip("lighteval", reason="lighteval is not installed")
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc
    from lighteval_metric import Pyramid, pyramid

    pyramid.sample_level_fn = Pyramid("recall")
    answer = ModelResponse(text=[SUMMARY])
    scores = []
    for specific in (None, {"units": UNITS}):
        doc = Doc(
            query="q",
            choices=[REFERENCE],
            gold_index=0,
            specific=specific,
        )
        scored = pyramid.compute_sample(doc=doc, model_response=answer)
        scores.append(scored["litepyramid"])
    assert scores == pytest.approx(expected)
    mean = pyramid.get_corpus_aggregations()["litepyramid"]
    assert mean(scores) == pytest.approx(sum(expected) / 2)


def test_hugging_face_evaluate(tmp_path, monkeypatch, expected):
    evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path))
    metric = evaluate.load(str(FOLDER / "evaluate_module.py"), cache_dir=str(tmp_path))
    two = metric.compute(
        predictions=[SUMMARY, ""],
        references=[UNITS, UNITS],
        units=True,
        judge="recall",
    )
    assert (two["score"], two["scores"]) == (0.25, [0.5, 0.0])
    one = metric.compute(
        predictions=[SUMMARY],
        references=[REFERENCE],
        judge="recall",
    )
    assert one["score"] == pytest.approx(expected[0])
