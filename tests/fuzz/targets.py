"""What is damaged, and what reads it: every file that the package takes, and its use."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Use = Callable[[Path], Any]
_ALLENNLP = Path(__file__).resolve().parents[1] / "data" / "allennlp"
FORMATS = _ALLENNLP.parent / "formats"
ARCHIVE = _ALLENNLP / "srl-bert-25-labels.tar.gz"
VOCABULARY = _ALLENNLP / "tiny-bert-uncased" / "vocab.txt"

IDS = "bridge\nferry\n"
SCUS = "The bridge was closed.\tThe bridge is old.\nAna steered the ferry.\n"
STUS = "The old bridge at Lune was closed\nAna steered the ferry\tIt rained\n"
REFERENCES = "<t> The old bridge was closed . </t> <t> It rained . </t>\nAna steered the ferry.\n"
ALPHA = "The old bridge was shut on Monday.\nAna did not steer the ferry; 3 people left.\n"
BETA = "A bridge. It's old!\n\n"
LABELS = "1\t0\n1\n"


def _lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _entry(name: str, **values: Any) -> dict[str, Any]:
    return {"input": name, **values}


UNITS = _lines(
    _entry(
        "bridge",
        units=[
            {"text": "The bridge was closed.", "weight": 2, "kind": "scu", "reference": 0},
            {"text": "It is old.", "kind": "stu", "reference": 0, "sentence": 0},
            {"text": "It is a bridge.", "places": [[0, 0], [1, None]]},
        ],
    ),
    _entry("ferry", units=["Ana steered the ferry."]),
)
PLACED = _lines(
    *(
        _entry(name, units=[{"text": t, "kind": "stu", "reference": 0, "sentence": 0}])
        for name, t in (("bridge", "The bridge was closed"), ("ferry", "Ana steered"))
    )
)
TABLE = "system,input,summary,reference,unit,kind,weight,label\n" + "".join(
    f'{s},{i},"A {i}, old",The {i} is old.,{i} is {w},scu,{k},{k % 2}\n'
    for s in ("alpha", "beta")
    for i in ("bridge", "ferry")
    for k, w in enumerate(("old", "shut"), 1)
)
SCORES = "system,input,metric,score\n" + "".join(
    f"{s},{i},{m},{(len(s) * 7 + i * 3 + len(m)) % 5 / 4}\n"
    for s in ("a", "bb", "ccc")
    for i in range(4)
    for m in ("human", "rouge", "js-2")
)
SCORE_LINES = _lines(
    *(
        {"system": s, "input": i, "metric": m, "score": len(s) * i + len(m) / 8}
        for s in ("a", "bb", "ccc")
        for i in range(3)
        for m in ("human", "m")
    )
)
SCORE_JSON = json.dumps(
    {
        "metric": "lite2pyramid",
        "scores": [
            {"system": s, "input": i, "score": len(s) / 4, "human": len(i) / 9}
            for s in ("a", "bb", "ccc")
            for i in ("bridge", "ferry")
        ],
    },
    indent=1,
)
_NUGGETS = [
    {"text": "A storm hit Oslo", "importance": "vital", "assignment": "support"},
    {"text": "Two people died", "importance": "okay", "assignment": "partial_support"},
]
ASSIGNMENTS = _lines(
    *(
        {"qid": q, "run_id": run, "answer_text": "A storm. It hit Oslo.", "nuggets": _NUGGETS}
        for q in ("q1", "q2")
        for run in ("ours", "theirs")
    )
)
ANSWERS = _lines(
    {"topic_id": "q1", "run_id": "ours", "answer": [{"text": "A storm.", "citations": [1]}]},
    {"metadata": {"narrative_id": "q2", "run_id": "ours"}, "answer": [{"text": "Two died."}]},
)
PRESENCE = "system,input,unit,presence\n" + "".join(
    f"{s},{i},{unit},{len(s) / 8}\n"
    for s in ("alpha", "beta")
    for i, text in zip(IDS.split(), SCUS.splitlines(), strict=True)
    for unit in text.split("\t")
)
EASINESS = _lines(
    _entry("bridge", reference=0, sentence=0, easiness=0.3, text="The old bridge was closed ."),
    _entry("bridge", reference=0, sentence=1, easiness=None),
    _entry("ferry", sentence=0, easiness=0.75),
)
WIDE = "system,input,annotator,rouge,h1,h2\n" + "".join(
    f"{s},{i},{a},{len(s) * i / 7},{i},{len(a) + i}\n"
    for s in ("a", "bb", "ccc")
    for i in range(3)
    for a in ("ann", "bo")
)
ROSE = _lines(
    *(
        {
            "example_id": f"e{i}",
            "reference": "A storm hit Oslo.",
            "reference_acus": ["A storm hit.", "It hit Oslo."],
            "system_outputs": {"a": "A storm.", "b": "Oslo."},
            "annotations": {s: {"acu_labels": [1, i]} for s in "ab"},
        }
        for i in range(2)
    )
)
QAPYRAMID = json.dumps(
    [
        {
            "example_id": f"e{i}",
            "QAs": ["what hit? a storm"],
            "system_outputs": {"a": "A storm.", "b": "Oslo."},
            "QA_labels": {"a": [i], "b": [0]},
        }
        for i in range(2)
    ]
)
NLI = _lines(
    *({"premise": f"It rained {i}.", "hypothesis": "Rain.", "label": "enc"[i]} for i in range(3))
)
PARSES = _lines(
    _entry(
        "bridge",
        reference=0,
        sentences=[
            {
                "tokens": ["Ann", "left", "Rome", "."],
                "frames": [{"verb": 1, "tags": ["B-ARG0", "B-V", "B-ARG1", "O"]}],
                "tree": "(S (NP (NNP Ann)) (VP (VBD left) (NP (NNP Rome))) (. .))",
            },
            {
                "tokens": ["She", "slept", "."],
                "frames": [],
                "tree": "(S (PRP She) (VBD slept) (. .))",
            },
        ],
        clusters=[[[0, 1], [4, 5]]],
        identities=[{"text": "Ann is here", "sentence": 1}],
    ),
    _entry(
        "ferry",
        sentences=[{"tokens": ["It", "rained"], "frames": [], "tree": "(S (PRP It) (VBD rained))"}],
        clusters=[],
    ),
)
PYR = """<?xml version="1.0"?>
<!DOCTYPE pyramid [
 <!ELEMENT pyramid (startDocumentRegEx?,text,scu*)>
]>
<pyramid>
<startDocumentRegEx><![CDATA[[-]*\\n D[0-9]*\\.M\\n[-]*\\n]]></startDocumentRegEx>
<text>
<line>-----</line><line> D1.M</line><line>-----</line><line>The bridge was closed.</line>
<line>-----</line><line> D2.M</line><line>-----</line><line>It &amp; "May" closed.</line>
</text>
<scu uid="1" label="The bridge closed">
 <contributor label="bridge was closed">
  <part label="bridge was closed" start="22" end="39"/></contributor>
 <contributor label="closed"><part label="closed" start="68" end="74"/></contributor>
</scu>
<scu uid="2" label="May">
 <contributor label="May"><part label="May" start="63" end="66"/></contributor></scu>
</pyramid>
"""
PAN = """<?xml version="1.0"?>
<peerAnnotation>
{pyramid}
<annotation>
<text><line>A bridge closed. May.</line></text>
<peerscu uid="1" label="(3) The bridge closed"><contributor label="bridge closed">
 <part label="bridge closed" start="2" end="15"/></contributor></peerscu>
<peerscu uid="2" label="May"/>
<peerscu uid="0" label="All non-matching SCUs go here"/>
</annotation>
</peerAnnotation>
""".format(pyramid=PYR[PYR.index("<pyramid>") :])


def shown(result: Any) -> None:
    """The result in all its forms: what was let in must be shown too."""
    from litepyramid.tables import render

    for form in ("table", "json", "csv", "latex"):
        render(result, form)


def _scored(folder: Path) -> None:
    from litepyramid import load, score
    from litepyramid.io.coerce import write_units

    def there(*names: str) -> Path | None:
        return next((folder / name for name in names if (folder / name).exists()), None)

    table = there("table.csv")
    data = load(
        table or there("units.txt", "units.jsonl"),
        summaries=there("summaries"),
        labels=there("labels"),
        presence=there("p.csv"),
        ids=there("ids.txt"),
    )
    shown(data)
    write_units(folder / "out.jsonl", data.units)
    shown(score(data, judge="lexical" if len(data.inputs) % 2 else "recall", samples=50))


def _references(folder: Path) -> None:
    from litepyramid.io.coerce import as_documents, as_references
    from litepyramid.units.align import sentences_of

    file = next(folder.iterdir())
    if file.stem == "documents":
        as_documents(file)
    else:
        sentences_of(as_references(file))


def _scores(folder: Path) -> None:
    from litepyramid import compare, read_scores
    from litepyramid.meta import correlate

    table = read_scores(next(folder.glob("s.*")))
    shown(compare(table, metric=table.metrics[0], samples=100))
    shown(correlate(table, table.metrics[-1]))


def _converted(folder: Path) -> None:
    from litepyramid import convert

    for to in ("units", "labels", "summaries", "scores"):
        shown(convert(sorted(folder.glob("t*.*")), to=to))


def _foreign(folder: Path) -> None:
    from litepyramid import convert, load, score
    from litepyramid.io.coerce import as_units

    path = next(folder.glob("f.*"))
    whole = convert(path)
    shown(whole)
    if whole.units:
        convert(path, to="units").save(folder / "out.jsonl")
        as_units(folder / "out.jsonl")
    data = load(path)
    shown(data)
    if not data.summaries:
        answers = [{"input": name, "summary": "On Monday."} for name in data.inputs]
        data = load(path, summaries=answers)
    rule = "points" if any(u.weight < 0 for e in data.units for u in e.units) else "lite"
    shown(score(data, judge="recall", samples=50, rule=rule))


def _wide(folder: Path) -> None:
    from litepyramid import read_scores

    read_scores(folder / "s.csv")
    read_scores(folder / "s.csv", columns="human=h1+h2")


def _saved(folder: Path) -> None:
    from litepyramid import read_scores
    from litepyramid.io.dataset import as_presence
    from litepyramid.scoring.result import read_result

    path = next(folder.glob("r.*"))
    shown(read_result(path))
    read_scores(path)
    as_presence(path)


def _easiness(folder: Path) -> None:
    from litepyramid.annotation.export import writing_tasks
    from litepyramid.annotation.plan import plan_budget, read_plan
    from litepyramid.easiness.gold import read_easiness

    easiness = read_easiness(folder / "e.jsonl")
    shown(easiness)
    plan = plan_budget(easiness, 1)
    shown(plan)
    plan.save(folder / "out.json")
    writing_tasks(read_plan(folder / "out.json"))


def _plan(folder: Path) -> None:
    from litepyramid.annotation.export import write_export, writing_tasks
    from litepyramid.annotation.plan import read_plan

    plan = read_plan(folder / "plan.json")
    shown(plan)
    for form in ("page", "label-studio", "csv"):
        shutil.rmtree(folder / form, ignore_errors=True)
        write_export(writing_tasks(plan), folder / form, form)


def _answers(folder: Path) -> None:
    from litepyramid.annotation.answers import collect_labels, collect_units, read_responses
    from litepyramid.annotation.export import read_tasks

    tasks = read_tasks(folder / "tasks.json")
    answers = read_responses([next(folder.glob("answers.*"))])
    if tasks.kind == "writing":
        shown(collect_units(tasks, answers, writers="all", drafts=True))
    else:
        shown(collect_labels(tasks, answers))


def _dataset(name: str) -> Use:
    def use(folder: Path) -> None:
        from litepyramid import evaluate, load

        data = load(folder if name == "folder" else next(folder.glob("d.*")))
        shown(data)
        shown(evaluate("recall", data))

    return use


def _pairs(folder: Path) -> None:
    from litepyramid.training.pairs import read_pairs

    read_pairs(folder / "n.jsonl")


def _parses(folder: Path) -> None:
    from litepyramid.easiness.predict import prepare
    from litepyramid.io.coerce import as_references
    from litepyramid.units.coreference import renderer, replaced, resolve
    from litepyramid.units.parses import FileBackend, read_parses, write_parses
    from litepyramid.units.triplets import sentence_stus

    parses = read_parses(folder / "p.jsonl")
    write_parses(folder / "out.jsonl", parses)
    for parse in FileBackend(folder / "p.jsonl").parse(parses).references:
        render = renderer(parse, resolve(parse))
        render(range(parse.offsets[-1]))
        replaced(parse)
        for sentence in parse.sentences:
            sentence_stus(sentence)
    prepare(as_references(folder / "r.txt", ["bridge", "ferry"]), "constituency", parses=parses)


def _pyramid(folder: Path) -> None:
    from litepyramid import convert, pyramid

    files = [folder / "D0701.pyr", folder / "D0701.M.250.A.07.pan"]
    shown(pyramid(files))
    for to in ("units", "labels", "summaries", "references"):
        shown(convert(files, to=to))


def _embedded(folder: Path) -> None:
    from litepyramid import explain

    shown(explain("The bridge closed.", "It closed.", judge=str(next(folder.glob("*.json")))))


def _checkpoint(folder: Path) -> None:
    from litepyramid.judges.nli.checkpoint import open_checkpoint

    checkpoint = open_checkpoint(str(folder))
    checkpoint.mode()
    checkpoint.max_length()


def _nli_judge(folder: Path) -> None:
    from litepyramid import explain, judge

    nli = judge(str(folder), device="cpu", cache=None)
    shown(explain("It rained.", "It rained.", judge=nli))


def _regressor(folder: Path) -> None:
    import numpy as np

    from litepyramid.easiness.regressor import EasinessRegressor, predict_trees
    from litepyramid.easiness.sentence_features import FeatureTable

    regressor = EasinessRegressor.load(next(folder.glob("regressor.*")))
    values = np.zeros((2, len(regressor.names)))
    predict_trees(regressor, FeatureTable(regressor.feature_set, regressor.names, values))


def _archive(folder: Path) -> None:
    from litepyramid.units.parsers.allennlp import load_srl_bert

    packed = folder / "model.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for path in sorted(folder.rglob("*.*")):
            archive.add(path, path.relative_to(folder))
    load_srl_bert(packed, bert=folder)


@dataclass(frozen=True)
class Target:
    """Files to damage, one at a time, and what is done with them.

    Attributes:
        files: Name to content and kind: text, json, jsonl, xml, binary or safetensors; of the kind
            "" it stays as it is.
        use: Reads them, and uses what it read.
        heavy: Whether one use takes so long that few cases run in the tests.
    """

    files: dict[str, tuple[bytes, str]]
    use: Use
    heavy: bool = False


def _target(use: Use, heavy: bool = False, **files: tuple[str | bytes, str]) -> Target:
    given = {
        name: (content.encode() if isinstance(content, str) else content, kind)
        for name, (content, kind) in files.items()
    }
    return Target(given, use, heavy)


def _systems(kind: str = "text") -> dict[str, tuple[str, str]]:
    return {"summaries/alpha.txt": (ALPHA, kind), "summaries/beta.txt": (BETA, kind)}


def _plain_targets() -> dict[str, Target]:
    lines = {"units.txt": (SCUS, "text"), **_systems()}
    labels = {"labels/alpha.label": (LABELS, "text"), "labels/beta.label": (LABELS, "text")}
    json_summaries = {
        f"summaries/{name}.jsonl": (
            _lines(
                *(_entry(i, summary=t) for i, t in zip(IDS.split(), text.split("\n"), strict=False))
            ),
            "jsonl",
        )
        for name, text in (("alpha", ALPHA), ("beta", BETA))
    }
    json_labels = {
        "labels/alpha.jsonl": (
            _lines(_entry("bridge", labels=[1, 0, 1]), _entry("ferry", labels=[1])),
            "jsonl",
        )
    }
    folder = {
        "SCUs.txt": (SCUS, "text"),
        "STUs.txt": (STUS, "text"),
        "references.txt": (REFERENCES, "text"),
        "ids.txt": (IDS, "text"),
        **_systems(),
        **labels,
        "by_examples/fold1.id": ("bridge\n", "text"),
        "by_systems/fold1.sys": ("alpha\n", "text"),
    }
    documents = _lines(
        _entry("bridge", documents=["It rained. So what?"], references=[["It rained."]])
    )
    references = _lines(
        _entry("bridge", references=[["It rained .", "No ."]]), _entry("b", reference="A")
    )
    return {
        "units in lines": _target(_scored, **lines),
        "units, labels, ids": _target(
            _scored,
            **lines,
            **labels,
            **{"ids.txt": (IDS, "text")},
        ),
        "units in json": _target(
            _scored, **{"units.jsonl": (UNITS, "jsonl")}, **json_summaries, **json_labels
        ),
        "table of everything": _target(_scored, **{"table.csv": (TABLE, "text")}),
        "references in lines": _target(_references, **{"r.txt": (REFERENCES, "text")}),
        "references in json": _target(_references, **{"r.jsonl": (references, "jsonl")}),
        "documents": _target(_references, **{"documents.json": (documents, "jsonl")}),
        "scores in csv": _target(_scores, **{"s.csv": (SCORES, "text")}),
        "scores in json lines": _target(_scores, **{"s.jsonl": (SCORE_LINES, "jsonl")}),
        "scores of score": _target(_scores, **{"s.json": (SCORE_JSON, "json")}),
        "assignments of nuggets": _target(_converted, **{"t.jsonl": (ASSIGNMENTS, "jsonl")}),
        **{
            path.stem: _target(_foreign, **_file(path, f"f{path.suffix}", path.suffix[1:]))
            for path in sorted(FORMATS.iterdir())
        },
        "wide scores": _target(_wide, **{"s.csv": (WIDE, "text")}),
        "presence": _target(
            _scored, **lines, **{"p.csv": (PRESENCE, "text"), "ids.txt": (IDS, "")}
        ),
        "easiness": _target(_easiness, **{"e.jsonl": (EASINESS, "jsonl")}),
        "folder of the authors": _target(_dataset("folder"), **folder),
        "rose": _target(_dataset("rose"), **{"d.jsonl": (ROSE, "jsonl")}),
        "qapyramid": _target(_dataset("qapyramid"), **{"d.json": (QAPYRAMID, "json")}),
        "nli pairs": _target(_pairs, **{"n.jsonl": (NLI, "jsonl")}),
        "parses": _target(_parses, **{"p.jsonl": (PARSES, "jsonl"), "r.txt": (REFERENCES, "text")}),
        "pyramid files": _target(
            _pyramid, **{"D0701.pyr": (PYR, "xml"), "D0701.M.250.A.07.pan": (PAN, "xml")}
        ),
    }


def _annotation_targets(folder: Path) -> dict[str, Target]:
    """Plans, tasks of both kinds and answers in every form, made by the package itself."""
    from litepyramid.annotation.export import judging_tasks, write_tasks, writing_tasks
    from litepyramid.annotation.plan import plan_budget
    from litepyramid.easiness.gold import read_easiness
    from litepyramid.io.coerce import as_summaries, as_units

    (folder / "e.jsonl").write_text(EASINESS, encoding="utf-8")
    plan = plan_budget(read_easiness(folder / "e.jsonl"), 2)
    plan.save(folder / "plan.json")
    texts = {"a": ALPHA.splitlines(), "b": BETA.splitlines()}
    judging = judging_tasks(as_summaries(texts), as_units([["It rained.", "No."], ["Ana left."]]))
    made = {"plan": _target(_plan, **_file(folder / "plan.json", "plan.json", "json"))}
    for tasks in (writing_tasks(plan), judging):
        write_tasks(folder / "tasks.json", tasks)
        given = (folder / "tasks.json").read_text(encoding="utf-8")
        for form, (name, content) in _given(tasks).items():
            kind = "json" if name.endswith("json") else "text"
            files = {"tasks.json": (given, "json"), name: (content, kind)}
            made[f"{form} of {tasks.kind}"] = _target(_answers, **files)
    return made


def _given(tasks: Any) -> dict[str, tuple[str, str]]:
    """Answers to tasks as each tool gives them back: by form, a file's name and its content."""
    fields = {"scus": ["It rained.", "It was old."]}
    if tasks.kind == "judging":
        fields = {f"presence_{i}": ["Yes"] for i in range(2)}
    studio, flat, page = [], [], []
    for number, task in enumerate(tasks.ids):
        values = [
            {"from_name": key, "value": {"text" if key == "scus" else "choices": value}}
            for key, value in fields.items()
        ]
        answer = {"result": values, "completed_by": {"id": 1, "email": "a@b"}}
        data = {"task_id": task, "input": "bridge"}
        studio.append({"id": number, "data": data, "annotations": [answer], "drafts": [3]})
        flat.append({"id": number, **data, "annotator": 1, **{k: v[0] for k, v in fields.items()}})
        page.append({"task": task, "finished": True, "scus": fields.get("scus", [])})
        if tasks.kind == "judging":
            page[-1]["presence"] = {"0": True, "1": False}
    answers = {"format": "litepyramid-answers", "worker": "Ann", "answers": page}
    return {
        "label studio's export": ("answers.json", json.dumps(studio)),
        "label studio's short export": ("answers.json", json.dumps(flat)),
        "the page's answers": (
            "answers.json",
            json.dumps({**answers, "saved": "2026-01-02T03:04:05Z"}),
        ),
    }


def _result_targets(folder: Path) -> dict[str, Target]:
    """Results in the forms that they are saved in."""
    import litepyramid as lp

    texts = {name: [f"{name} closed. It rained.", "Ana left."] * 3 for name in ("old", "new")}
    units = [["The bridge closed.", "It rained."], ["Ana left."]] * 3
    labels = {"old": [[1, 0], [0]] * 3, "new": [[0, 1], [1]] * 3}
    made = {}
    for ending, kind in (("json", "json"), ("npz", "binary")):
        result = lp.score(
            texts, units, labels=labels, judge="recall", evidence=ending == "json", samples=50
        )
        result.save(folder / f"r.{ending}")
        made[f"result in {ending}"] = _target(
            _saved, **_file(folder / f"r.{ending}", f"r.{ending}", kind)
        )
    return made


def _model_targets(folder: Path) -> dict[str, Target]:
    """Judges, regressors and archives, small ones."""
    import numpy as np
    from tiny_models import TEXT, make_checkpoint, train_tokenizer

    from litepyramid.easiness.regressor import Settings, fit_trees
    from litepyramid.easiness.sentence_features import FeatureTable
    from litepyramid.judges.lexical.lexical_judge import fit_lexical, save_lexical

    items = [("The bridge closed. It rained.", ["The bridge closed.", "Ana left."])] * 3
    save_lexical(fit_lexical(items, [[1, 0]] * 3), folder / "lexical.json")
    rng = np.random.default_rng(1)
    table = FeatureTable("context", ("x", "y"), rng.random((30, 2)))
    fit_trees(table, rng.random(30), Settings(rounds=3)).save(folder / "r.json")
    judge = make_checkpoint(
        folder / "judge",
        train_tokenizer(list(TEXT), 300),
        labels=("contradiction", "neutral", "entailment"),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
    )
    (judge / "litepyramid.json").write_text('{"kind": "presence", "mode": "p2c"}')
    kinds = {".json": "json", ".safetensors": "safetensors"}
    model = {p.name: (p.read_bytes(), kinds.get(p.suffix, "text")) for p in sorted(judge.iterdir())}
    small = {
        name: both for name, both in model.items() if name in ("config.json", "litepyramid.json")
    }
    weights = {"model.safetensors": (model["model.safetensors"][0], "")}
    with tarfile.open(ARCHIVE) as archive:
        parts = {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
    parts["vocab.txt"] = VOCABULARY.read_bytes()
    archived = {n: (data, kinds.get(Path(n).suffix, "binary")) for n, data in parts.items()}
    return {
        "lexical judge": _target(
            _embedded, **_file(folder / "lexical.json", "lexical.json", "json")
        ),
        "regressor": _target(_regressor, **_file(folder / "r.json", "regressor.json", "json")),
        "nli checkpoint": _target(_checkpoint, **small, **weights),
        "nli judge": _target(_nli_judge, True, **model),
        "allennlp archive": _target(_archive, True, **archived),
    }


def _file(path: Path, name: str, kind: str) -> dict[str, tuple[bytes, str]]:
    return {name: (path.read_bytes(), kind)}


def targets(folder: Path) -> dict[str, Target]:
    """All targets by name; `folder` is for what must be written to be made."""
    return {
        **_plain_targets(),
        **_annotation_targets(folder),
        **_result_targets(folder),
        **_model_targets(folder),
    }
