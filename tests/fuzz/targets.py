"""What is damaged, and what reads it: every file that the package takes, and its use.

The files lie in tests/data/fuzz/USE/NAME and tests/data/formats; large ones are made.
"""

import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tiny_models import TEXT, make_checkpoint, train_tokenizer

import litepyramid as lp
from litepyramid.annotation.budget_plan import read_plan
from litepyramid.annotation.plan import plan_budget
from litepyramid.data.door import opened
from litepyramid.easiness.gold import read_easiness
from litepyramid.easiness.predict import prepare
from litepyramid.easiness.regressor import EasinessRegressor, predict_trees
from litepyramid.easiness.sentence_features import FeatureTable
from litepyramid.imports.convert import Converted
from litepyramid.judges.lexical.lexical_judge import fit_lexical, save_lexical
from litepyramid.training.pairs import read_pairs
from litepyramid.units.parsers.allennlp import load_srl_bert

DATA = Path(__file__).resolve().parents[1] / "data"
ARCHIVE = DATA / "allennlp" / "srl-bert-25-labels.tar.gz"
VOCABULARY = DATA / "allennlp" / "tiny-bert-uncased" / "vocab.txt"


@dataclass(frozen=True)
class Target:
    """Files to damage, one at a time, and what is done with them; few cases of `heavy`
    ones run."""

    files: dict[str, bytes]
    use: Callable[[Path], Any]
    heavy: bool = False


def target(folder: Path, use: Callable[[Path], Any], heavy: bool = False) -> Target:
    """The files of a folder."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            files[str(path.relative_to(folder))] = path.read_bytes()
    return Target(files, use, heavy)


def shown(result: Any):
    """The result in all its forms: what was let in must be shown too."""
    result.to_table()
    if not isinstance(result, Converted):
        result.to_csv()
    result.to_latex()
    for _ in result.json_parts():
        pass


def scored(folder):
    files = {path.stem: path for path in folder.iterdir()}
    names = {"presence", "units", "labels", "ids"} & {*files}
    sources = {name: files[name] for name in names}
    data = lp.load(files.get("table") or files.get("summaries"), **sources)
    judge = {"judge": "lexical" if len(data.inputs) % 2 else "recall"}
    shown(lp.score(data, **({} if data.presence else judge), samples=50))


def authors(folder):
    data = lp.load(folder)
    shown(lp.evaluate("recall", data))


def references(folder):
    file = next(folder.iterdir())
    if file.stem == "documents":
        lp.load(documents=file)
    else:
        shown(lp.extract(file))


def scores(folder):
    table = lp.read_scores(next(folder.glob("s.*")))
    shown(lp.compare(table, metric=table.metrics[0], samples=100))
    shown(lp.meta.correlate(table, table.metrics[-1]))


def wide(folder):
    lp.read_scores(folder / "s.csv")
    lp.read_scores(folder / "s.csv", columns="human=h1")


def converted(folder):
    for to in ("units", "labels", "summaries", "scores"):
        shown(lp.convert(sorted(folder.glob("t*.*")), to=to))


def exported(folder):
    """What other tools give out: rubrics, answers, or both."""
    path = next(folder.glob("f.*"))
    whole = lp.convert(path)
    shown(whole)
    whole.save(folder / "table.jsonl")
    answered = any("summary" in line for line in whole.lines)
    role = "data" if answered else "units"
    data = lp.load(**{role: folder / "table.jsonl"})
    if data.units and data.summaries:
        signed = any(unit.weight < 0 for unit in data.units.every)
        rule = "points" if signed else "lite"
        shown(lp.score(data, judge="recall", samples=50, rule=rule))


def saved(folder):
    path = next(folder.glob("r.*"))
    shown(lp.report(path))
    lp.read_scores(path)
    lp.load(presence=path)


def easiness(folder):
    values = read_easiness(folder / "e.jsonl")
    shown(values)
    plan_budget(values, 1).save(folder / "plan.json")
    plan(folder)


def plan(folder):
    shown(read_plan(folder / "plan.json"))
    for form in ("page", "label-studio", "csv"):
        lp.export(folder / "plan.json", folder / form, form=form)


def answers(folder):
    files = [folder / "answers.json"]
    tasks = folder / "tasks.json"
    shown(lp.import_answers(tasks, files, drafts=True))


def pairs(folder):
    read_pairs(opened(folder / "n.jsonl", "pairs"))


def parses(folder):
    path = folder / "p.jsonl"
    texts = lp.load(references=folder / "r.txt", ids=["bridge", "ferry"]).references
    prepare(texts, "constituency", parses=path)
    written = folder / "zb21.jsonl"
    shown(lp.extract(texts, srl=str(path), rules="zb21", parses=written))


def pyramid(folder):
    files = [folder / "D0701.pyr", folder / "D0701.M.250.A.07.pan"]
    shown(lp.pyramid(files))
    for to in ("units", "labels", "summaries", "references"):
        shown(lp.convert(files, to=to))


def lexical_judge(folder):
    judge = str(folder / "lexical.json")
    shown(lp.explain("The bridge closed.", "It closed.", judge=judge))


def nli_judge(folder):
    judge = lp.judge(str(folder), device="cpu", cache=None)
    shown(lp.explain("It rained.", "It rained.", judge=judge))


def regressor(folder):
    trees = EasinessRegressor.load(folder / "regressor.json")
    values = np.zeros((2, len(trees.names)))
    predict_trees(trees, FeatureTable(trees.feature_set, trees.names, values))


def archive(folder):
    packed = folder / "model.tar.gz"
    with tarfile.open(packed, "w:gz") as file:
        for path in sorted(folder.rglob("*.*")):
            file.add(path, path.relative_to(folder))
    load_srl_bert(packed, bert=folder)


def made_lexical(folder) -> Target:
    items = [("The bridge closed. It rained.", ["The bridge closed.", "Ana left."])] * 3
    folder.mkdir()
    save_lexical(fit_lexical(items, [[1, 0]] * 3), folder / "lexical.json")
    return target(folder, lexical_judge)


def made_nli(folder) -> Target:
    make_checkpoint(
        folder,
        train_tokenizer(list(TEXT), 300),
        labels=("contradiction", "neutral", "entailment"),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    (folder / "litepyramid.json").write_text('{"kind": "presence", "mode": "p2c"}')
    return target(folder, nli_judge, heavy=True)


def made_archive(folder) -> Target:
    with tarfile.open(ARCHIVE) as file:
        file.extractall(folder, filter="data")
    shutil.copy(VOCABULARY, folder)
    return target(folder, archive, heavy=True)


USES = (
    answers,
    authors,
    converted,
    easiness,
    pairs,
    parses,
    plan,
    pyramid,
    references,
    regressor,
    saved,
    scored,
    scores,
    wide,
)
MADE = {
    "lexical judge": made_lexical,
    "nli judge": made_nli,
    "allennlp folder": made_archive,
}
"""By name what makes a target in a new folder."""

TARGETS: dict[str, Target] = {}
for _use in USES:
    for _files in sorted((DATA / "fuzz" / _use.__name__).iterdir()):
        TARGETS[f"{_use.__name__} {_files.name}"] = target(_files, _use)
for _path in sorted((DATA / "formats").iterdir()):
    _file = {f"f{_path.suffix}": _path.read_bytes()}
    TARGETS[_path.stem] = Target(_file, exported)
