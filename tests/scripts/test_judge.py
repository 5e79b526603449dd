"""Packs for training mini, how they are drawn, and the run itself."""

import gzip
import json

import judge
import judge_packs
import judge_train
import pytest
import torch

PREMISE = "Anna Lee hired Oscar Holm on Monday. She won 400 dollars."
UNITS = {
    "Anna Lee hired Oscar Holm.": 1,
    "Anna Lee won 400 dollars.": 1,
    "It rained.": 0,
}


def row(premise, hypothesis, present):
    return {"premise": premise, "hypothesis": hypothesis, "present": present}


def test_packs_hold_what_people_labelled_once():
    rows = [row(PREMISE, unit, present) for unit, present in UNITS.items()]
    nli = {"premise": "It rained.", "hypothesis": "It was dry.", "label": "c"}
    packs = judge_packs.labelled_packs([*rows, nli, *rows])

    assert [pack.premise for pack in packs] == [PREMISE, "It rained."]
    first = packs[0]
    assert dict(zip(first.units, first.labels, strict=True)) == UNITS
    assert packs[1].labels == (judge_packs.CONTRADICTION,)


def test_every_pair_counts_once_and_none_of_a_development_set(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "HIGHLIGHTS", tmp_path / "none")
    (tmp_path / "presence").mkdir()
    sets = {
        "mnli_dev": [row("It rained.", "Rain fell.", 1)],
        "snli_dev_test": [row("it rained", "rain fell.", 1)],
        "fever_nli": [row("It snowed.", "Snow fell.", 1), row("A", "x" * 999, 1)],
        "fever_nli.dev": [row("It snowed.", "Snow fell.", 1)],
    }

    for name, rows in sets.items():
        path = tmp_path / "presence" / f"{name}.jsonl.gz"
        with gzip.open(path, "wt") as file:
            file.write("".join(json.dumps(r) + "\n" for r in rows))

    packs, often = judge.make_packs(tmp_path, share=0.01)
    assert len(often) == len(packs)
    assert max(often) <= 2.0
    asked = []
    for pack in packs:
        for unit in pack.units:
            asked.append((pack.premise, unit))

    assert asked.count(("It rained.", "Rain fell.")) <= 1
    assert not any("snow" in premise.lower() for premise, _ in asked)
    assert {"contrast", "fever_nli"} <= judge.sets_kept_aside(tmp_path).keys()


def test_the_written_texts_are_packs():
    paths = sorted(judge.WRITTEN_TEXTS.glob("*.txt"))
    packs = [*judge_packs.written_packs(paths, sentences=0)]
    assert len(packs) > 6_000

    for pack in packs:
        assert len(pack.premise.split()) > 3
        assert len(pack.units) >= 3


def test_a_run_that_was_stopped_goes_on_where_it_stood(tmp_path):
    packs = [*judge_packs.written_packs([judge.WRITTEN_TEXTS / "a-01.txt"])][:4]
    rows = judge_train.encoded(judge.FOLDER, packs, 64)
    plan = judge_train.Plan(pairs=100, warmup=1, bf16=False)

    def weights(folder, *stops):
        folder.mkdir()
        for stop in stops:
            run = judge_train.Run(judge.load_base(None), folder, plan)
            before = {name: values.clone() for name, values in run.mean.items()}
            while run.block < stop:
                run._train_block(judge_train.batches(rows, 300, run.block))
                run.block += 1
            run.save()
        return before, run.mean

    _, whole = weights(tmp_path / "whole", 2)
    before, parts = weights(tmp_path / "parts", 1, 2)
    for name, values in parts.items():
        assert torch.equal(values, whole[name])
        assert not torch.equal(values, before[name])


def test_no_set_holds_text_of_a_commercial_language_model():
    barred = {"summedits", "factscore_facts", "factscore_contrast", "factcg_cg2c_doc"}
    assert not barred & judge.SETS.keys()
    assert not any(name.endswith(".dev") for name in judge.SETS)
    with pytest.raises(KeyError):
        judge.as_training([{"premise": "a"}])


def test_written_texts_are_asked_about_their_own_sentences_too(tmp_path):
    path = tmp_path / "a-01.txt"
    text = "P: A storm hit Oslo. Two men died.\n+ Oslo was struck.\n- Nobody died.\n"
    path.write_text(f"{text}? It rained.\n")

    [pack] = judge_packs.written_packs([path])

    assert dict(zip(pack.units, pack.labels, strict=True)) == {
        "Oslo was struck.": 1,
        "Nobody died.": judge_packs.CONTRADICTION,
        "It rained.": judge_packs.NEUTRAL,
        "A storm hit Oslo.": 1,
    }
    [alone] = judge_packs.written_packs([path], sentences=0)
    assert len(alone.units) == 3
