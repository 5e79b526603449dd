"""No option that changes nothing is taken without a word."""

import pytest
from cases import cases, write_lines
from running import run_here

import litepyramid as lp

SCUS = {"a": ["A storm hit Oslo."], "b": ["The bridge was closed."]}
TEXTS = {"a": "A storm hit Oslo.", "b": "A bridge was closed."}
SCORES = [
    {"system": f"s{s}", "input": i, "rouge": s * 7 % 5, "bleu": s + i, "human": s * i}
    for s in range(5)
    for i in range(4)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")

    def saved(name, role, of_input):
        rows = [{"input": key, role: value} for key, value in of_input.items()]
        return write_lines(folder / f"{name}.jsonl", rows)

    saved("references", "references", {"a": [TEXTS["a"]], "b": [TEXTS["b"]]})
    saved("scus", "units", SCUS)
    saved("texts", "summary", TEXTS)
    saved("labels", "labels", {"a": [1], "b": [0]})
    write_lines(folder / "scores.jsonl", SCORES)
    pair = {"premise": "Rain.", "hypothesis": "Rain.", "present": 1}
    write_lines(folder / "pairs.jsonl", [pair])
    (folder / "ids.txt").write_text("c\nd\n")
    (folder / "sums.pyr").write_text("<?xml version='1.0'?>")
    lp.extract(folder / "references.jsonl").save(folder / "stus.jsonl")
    lp.easiness.predict(folder / "references.jsonl").save(folder / "easy.jsonl")
    lp.plan(folder / "references.jsonl", sentences=1).save(folder / "plan.json")
    lp.export(folder / "plan.json", folder / "writing", form="csv")
    texts = folder / "texts.jsonl"
    lp.export(texts, folder / "judging", units=folder / "scus.jsonl", form="csv")
    return folder


FACTS = "units extract references.jsonl -j llm:x -J endpoint=http://localhost:1"
MIX = "units mix scus.jsonl -r references.jsonl"
SCORE = "score texts.jsonl -u scus.jsonl -j recall"
LEARNT = "texts.jsonl -u scus.jsonl -l labels.jsonl"
UNUSED = f"""
--constant zb21 | meta correlate scores.jsonl --level system -c spa
--samples 200 | meta interval scores.jsonl --method fisher
--seed 7 | meta interval scores.jsonl --method fisher
--samples 200 | meta compare scores.jsonl --method williams
--seed 7 | meta compare scores.jsonl --method williams
--best 3 | meta range scores.jsonl --baseline s1
--metric rouge | budget label-power
--srl roles | {FACTS}
--coref none | {FACTS}
--rules zb21 | {FACTS}
--weights equal | {FACTS}
--seed 7 | {MIX}
--easiness easy.jsonl | {MIX} --by gold
--easiness easy.jsonl | {MIX} --by random
--seed 7 | budget plan references.jsonl --sentences 1
--stus stus.jsonl | budget plan references.jsonl --sentences 1 --easiness easy.jsonl
--parses stus.jsonl | easiness predict references.jsonl
--parses stus.jsonl | easiness fit references.jsonl scus.jsonl -o r.json
--seed 7 | easiness fit references.jsonl scus.jsonl -o r.json
--features dependency+stus | easiness fit references.jsonl scus.jsonl --start embedded
--seed 7 | easiness fit references.jsonl scus.jsonl --start embedded --rounds 0
--ids ids.txt | budget export plan.json -o tasks
--columns input=x | budget export plan.json -o tasks
--title Facts | budget export plan.json -o tasks --form csv
--noisy-above 0.3 | budget import writing writing/sheet.csv
--writers all | budget import judging judging/sheet.csv
--units stus.jsonl | budget import judging judging/sheet.csv
--metric rouge | combine scores.jsonl --labels judged
--human bleu | combine scores.jsonl --labels judged
--names x | convert scus.jsonl
--complete | convert scus.jsonl
--ids ids.txt | convert sums.pyr
--question Why? | judge explain Rain. Rain.
--kind scu | score texts.jsonl -u stus.jsonl -j recall
--kind scu | score texts.jsonl -r references.jsonl -j recall
--stus stus.jsonl | {SCORE}
--evaluate pairs.jsonl | finetune lexical --pair pairs.jsonl -o tuned
--setting epochs=3 | finetune lexical {LEARNT} -o tuned
--setting held_out=0.3 | crossval lexical {LEARNT} --folds 2
--folds 2 | crossval lexical {LEARNT} --train-on judging
--by systems | crossval lexical {LEARNT} --train-on judging
"""


@pytest.mark.parametrize(("option", "command"), cases(UNUSED))
def test_an_option_that_changes_nothing_is_refused(folder, option, command):
    done = run_here(f"{command} {option}".split(), folder, {})
    name = option.removeprefix("--setting").strip(" -").replace("-", "_")
    name = name.replace("=", " ").split()[0]
    assert done.returncode == 2
    assert f"{name} has no effect " in " ".join(done.stderr.split())


def test_ids_for_sources_that_have_their_own(folder):
    done = run_here(f"{SCORE} --ids ids.txt".split(), folder, {})
    assert done.returncode == 2
    assert "ids that no source needs" in done.stderr


def test_a_policy_on_constants_that_met_none_says_so():
    told = {}
    for policy in ("zb21", "skip"):
        result = lp.meta.correlate(SCORES, level="system", constant=policy)
        told[policy] = "No vector is constant" in result.to_table()
    assert told == {"zb21": True, "skip": False}
