"""What is damaged, and what reads it: every file that the package takes, and its use.

The files lie in tests/data/fuzz/USE/NAME and tests/data/formats, or are made by the
package itself.
"""

import json
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cases import quick_score
from tiny_models import TEXT, make_checkpoint, train_tokenizer

import litepyramid as lp
from litepyramid.annotation.answers import collect_labels, collect_units
from litepyramid.annotation.export import (
    judging_tasks,
    read_tasks,
    write_export,
    write_tasks,
    writing_tasks,
)
from litepyramid.annotation.plan import plan_budget, read_plan
from litepyramid.annotation.responses import read_responses
from litepyramid.easiness.gold import read_easiness
from litepyramid.easiness.predict import prepare
from litepyramid.easiness.regressor import (
    EasinessRegressor,
    TreeSettings,
    fit_trees,
    predict_trees,
)
from litepyramid.easiness.sentence_features import FeatureTable
from litepyramid.io.coerce import (
    as_documents,
    as_references,
    as_summaries,
    as_units,
    write_units,
)
from litepyramid.io.presence import as_presence
from litepyramid.judges.lexical.lexical_judge import fit_lexical, save_lexical
from litepyramid.meta import correlate
from litepyramid.scoring.saved_result import report
from litepyramid.training.pairs import read_pairs
from litepyramid.units.align import sentences_of
from litepyramid.units.coreference import renderer, replaced, resolve
from litepyramid.units.parsers.allennlp import load_srl_bert
from litepyramid.units.parses import FileBackend, read_parses, write_parses
from litepyramid.units.triplets import sentence_stus

DATA = Path(__file__).resolve().parents[1] / "data"
ARCHIVE = DATA / "allennlp" / "srl-bert-25-labels.tar.gz"
VOCABULARY = DATA / "allennlp" / "tiny-bert-uncased" / "vocab.txt"

Use = Callable[[Path], Any]


@dataclass(frozen=True)
class Target:
    """Files to damage, one at a time, and what is done with them; few cases of `heavy`
    ones run."""

    files: dict[str, bytes]
    use: Use
    heavy: bool = False


def target(use: Use, folder: Path, heavy: bool = False) -> Target:
    """The files of a folder."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return Target(
        {str(p.relative_to(folder)): p.read_bytes() for p in paths}, use, heavy
    )


def shown(result: Any):
    """The result in all its forms: what was let in must be shown too."""
    result.to_table()
    result.to_csv()
    result.to_latex()
    for _ in result.json_parts():
        pass


def _scored(folder):
    files = {path.stem: path for path in folder.iterdir()}
    names = ("presence", "summaries", "labels", "ids")
    sources = {name: files[name] for name in names if name in files}
    data = lp.load(files.get("table") or files["units"], **sources)
    shown(data)
    write_units(folder / "out.jsonl", data.units)
    shown(
        lp.score(
            data, judge="lexical" if len(data.inputs) % 2 else "recall", samples=50
        )
    )


def _authors(folder):
    data = lp.load(folder)
    shown(data)
    shown(lp.evaluate("recall", data))


def _references(folder):
    file = next(folder.iterdir())
    if file.stem == "documents":
        as_documents(file)
    else:
        sentences_of(as_references(file))


def _scores(folder):
    table = lp.read_scores(next(folder.glob("s.*")))
    shown(lp.compare(table, metric=table.metrics[0], samples=100))
    shown(correlate(table, table.metrics[-1]))


def _converted(folder):
    for to in ("units", "labels", "summaries", "scores"):
        shown(lp.convert(sorted(folder.glob("t*.*")), to=to))


def _foreign(folder):
    path = next(folder.glob("f.*"))
    whole = lp.convert(path)
    shown(whole)
    if whole.units:
        lp.convert(path, to="units").save(folder / "out.jsonl")
        as_units(folder / "out.jsonl")

    data = lp.load(path)
    shown(data)
    if not data.summaries:
        answers = [{"input": name, "summary": "On Monday."} for name in data.inputs]
        data = lp.load(path, summaries=answers)

    if not (data.units or data.references):  # answers alone
        facts = {name: ["On Monday."] for name in data.summaries[0].inputs}
        data = lp.load(facts, summaries=path)

    rule = (
        "points" if any(u.weight < 0 for e in data.units for u in e.units) else "lite"
    )
    shown(
        lp.score(
            data,
            judge="recall",
            samples=50,
            rule=rule,
        )
    )


def _wide(folder):
    lp.read_scores(folder / "s.csv")
    lp.read_scores(folder / "s.csv", columns="human=h1+h2")


def _saved(folder):
    path = next(folder.glob("r.*"))
    shown(report(path))
    lp.read_scores(path)
    as_presence(path)


def _easiness(folder):
    easiness = read_easiness(folder / "e.jsonl")
    shown(easiness)
    plan = plan_budget(easiness, 1)
    shown(plan)
    plan.save(folder / "out.json")
    writing_tasks(read_plan(folder / "out.json"))


def _plan(folder):
    plan = read_plan(folder / "plan.json")
    shown(plan)
    for form in ("page", "label-studio", "csv"):
        shutil.rmtree(folder / form, ignore_errors=True)
        write_export(writing_tasks(plan), folder / form, form)


def _answers(folder):
    tasks = read_tasks(folder / "tasks.json")
    answers = read_responses([next(folder.glob("answers.*"))])
    if tasks.kind == "writing":
        shown(collect_units(tasks, answers, writers="all", drafts=True))
    else:
        shown(collect_labels(tasks, answers))


def _pairs(folder):
    read_pairs(folder / "n.jsonl")


def _parses(folder):
    parses = read_parses(folder / "p.jsonl")
    write_parses(folder / "out.jsonl", parses)
    for parse in FileBackend(folder / "p.jsonl").parse(parses).references:
        render = renderer(parse, resolve(parse))
        render(range(parse.offsets[-1]))
        replaced(parse)
        for sentence in parse.sentences:
            sentence_stus(sentence)

    prepare(
        as_references(folder / "r.txt", ["bridge", "ferry"]),
        "constituency",
        parses=parses,
    )


def _pyramid(folder):
    files = [folder / "D0701.pyr", folder / "D0701.M.250.A.07.pan"]
    shown(lp.pyramid(files))
    for to in ("units", "labels", "summaries", "references"):
        shown(lp.convert(files, to=to))


def _embedded(folder):
    shown(
        lp.explain(
            "The bridge closed.", "It closed.", judge=str(next(folder.glob("*.json")))
        )
    )


def _nli_judge(folder):
    nli = lp.judge(str(folder), device="cpu", cache=None)
    shown(lp.explain("It rained.", "It rained.", judge=nli))


def _regressor(folder):
    regressor = EasinessRegressor.load(next(folder.glob("regressor.*")))
    values = np.zeros((2, len(regressor.names)))
    predict_trees(
        regressor, FeatureTable(regressor.feature_set, regressor.names, values)
    )


def _archive(folder):
    packed = folder / "model.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for path in sorted(folder.rglob("*.*")):
            archive.add(path, path.relative_to(folder))
    load_srl_bert(packed, bert=folder)


def _made_plan(folder) -> Path:
    folder.mkdir()
    plan = plan_budget(
        read_easiness(DATA / "fuzz" / "easiness" / "jsonl" / "e.jsonl"), 2
    )
    plan.save(folder / "plan.json")
    return folder


def _made_answers(folder: Path, form: str, kind: str) -> Target:
    """Tasks of a kind, and answers as each tool gives them back."""
    fields = {"scus": ["It rained.", "It was old."]}
    plan = _made_plan(folder) / "plan.json"
    tasks: Any = writing_tasks(read_plan(plan))
    plan.unlink()

    if kind == "judging":
        fields = {f"presence_{i}": ["Yes"] for i in range(2)}
        texts = {
            "a": ["The bridge was shut.", "Ana left."],
            "b": ["A bridge. It's old!", ""],
        }
        tasks = judging_tasks(
            as_summaries(texts), as_units([["It rained.", "No."], ["Ana left."]])
        )

    write_tasks(folder / "tasks.json", tasks)
    studio = []
    page = []

    for number, task in enumerate(tasks.ids):
        values = [
            {"from_name": key, "value": {"text" if key == "scus" else "choices": value}}
            for key, value in fields.items()
        ]
        answer = {"result": values, "completed_by": {"id": 1, "email": "a@b"}}
        data = {"task_id": task, "input": "bridge"}
        studio.append(
            {
                "id": number,
                "data": data,
                "annotations": [answer],
                "drafts": [3],
            }
        )
        page.append(
            {
                "task": task,
                "finished": True,
                "scus": fields.get("scus", []),
            }
        )
        if kind == "judging":
            page[-1]["presence"] = {"0": True, "1": False}

    answers = {
        "format": "litepyramid-answers",
        "worker": "Ann",
        "answers": page,
        "saved": "now",
    }
    text = json.dumps(studio if form == "label studio" else answers)
    (folder / "answers.json").write_text(text)
    return target(_answers, folder)


def _made_result(folder: Path, ending: str) -> Target:
    texts = {
        name: [f"{name} closed. It rained.", "Ana left."] * 3 for name in ("old", "new")
    }
    units = [["The bridge closed.", "It rained."], ["Ana left."]] * 3
    labels = {"old": [[1, 0], [0]] * 3, "new": [[0, 1], [1]] * 3}
    why = ending == "json"
    quick_score(texts, units, labels=labels, evidence=why).save(folder / f"r.{ending}")

    return target(_saved, folder)


def _made_lexical(folder) -> Target:
    items = [("The bridge closed. It rained.", ["The bridge closed.", "Ana left."])] * 3
    folder.mkdir()
    save_lexical(fit_lexical(items, [[1, 0]] * 3), folder / "lexical.json")
    return target(_embedded, folder)


def _made_regressor(folder) -> Target:
    rng = np.random.default_rng(1)
    table = FeatureTable("context", ("x", "y"), rng.random((30, 2)))
    fit_trees(table, rng.random(30), TreeSettings(rounds=3)).save(
        folder / "regressor.json"
    )
    return target(_regressor, folder)


def _made_nli(folder) -> Target:
    judge = make_checkpoint(
        folder,
        train_tokenizer(list(TEXT), 300),
        labels=("contradiction", "neutral", "entailment"),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
    )
    (judge / "litepyramid.json").write_text('{"kind": "presence", "mode": "p2c"}')
    return target(_nli_judge, folder, heavy=True)


def _made_archive(folder) -> Target:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    shutil.copy(VOCABULARY, folder)
    return target(_archive, folder, heavy=True)


USES = {
    "authors": _authors,
    "converted": _converted,
    "easiness": _easiness,
    "pairs": _pairs,
    "parses": _parses,
    "pyramid": _pyramid,
    "references": _references,
    "scored": _scored,
    "scores": _scores,
    "wide": _wide,
}
TARGETS: dict[str, Callable[[Path], Target]] = {
    **{
        f"{folder.parent.name} {folder.name}": lambda _, folder=folder: target(
            USES[folder.parent.name], folder
        )
        for folder in sorted((DATA / "fuzz").glob("*/*"))
    },
    **{
        path.stem: lambda _, path=path: Target(
            {f"f{path.suffix}": path.read_bytes()}, _foreign
        )
        for path in sorted((DATA / "formats").iterdir())
    },
    **{
        f"{form}, {kind}": partial(_made_answers, form=form, kind=kind)
        for form in ("label studio", "page")
        for kind in ("writing", "judging")
    },
    **{
        f"result in {ending}": partial(_made_result, ending=ending)
        for ending in ("json", "json.gz")
    },
    "plan": lambda folder: target(_plan, _made_plan(folder)),
    "lexical judge": _made_lexical,
    "regressor": _made_regressor,
    "nli judge": _made_nli,
    "allennlp folder": _made_archive,
}
"""By name what gives a target, made in a new folder if the package makes its files."""
