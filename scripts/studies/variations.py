"""Three hundred ways in which a model's folder, a version or a saved result is another
one: none is silent.

Run by tests/scripts/test_variations.py, with what tests share; VARIATIONS_SEED=7 draws
300 others.
"""
# mypy: ignore-errors

import json
import os
import random
import shutil
from contextlib import suppress
from dataclasses import replace

import pytest
from cases import quick_score, write_lines
from tiny_models import TEXT, make_checkpoint, train_tokenizer

import litepyramid as lp
from litepyramid.data.score_tables import read_scores
from litepyramid.errors import LitepyramidError, ModelError
from litepyramid.judges.nli.model_folder import hash_folder
from litepyramid.tables import plain

SEED = os.environ.get("VARIATIONS_SEED", "1")
EACH = 100
UNITS = {"q1": ["The ferry sank.", "Two people died."], "q2": ["It rained."]}
TEXTS = {
    "a": {"q1": "The ferry sank. Nobody died.", "q2": "It rained."},
    "b": {"q1": "A ferry sank and two people died.", "q2": "The sun shone."},
}
LABELS = {name: {"q1": [1, 0], "q2": [1]} for name in TEXTS}


def scored(judge="recall+lexical", **options):
    data = {"labels": LABELS, "references": {"q1": ["A ferry sank."], "q2": ["Rain."]}}
    return quick_score(TEXTS, UNITS, **{**data, "judge": judge, **options})


# A model's folder
# ------------------------------------------------------------------------------------

ADDED = """
adapter_config.json adapter_model.safetensors added_tokens.json merges.txt vocab.txt
model.safetensors.index.json sub/model.safetensors.index.json sub/part.safetensors
spiece.model .spiece.model onnx/model.onnx model.onnx_data modeling_own.py tokenizer.model
chat_template.jinja additional_chat_templates/own.jinja generation_config.json
1_Pooling/config.json preprocessor_config.json MODEL.SAFETENSORS configuration.json
"""


def other_folder(folder, draw):
    """Changes one file of a folder that a loader may read, and says how."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = draw.choice(files)
    how = draw.choice(
        ["add", "flip", "cut", "append", "rename", "delete", "move", "link"]
    )
    content = bytearray(path.read_bytes())
    if how == "add":
        path = folder / draw.choice(ADDED.split())
        path.parent.mkdir(exist_ok=True)
        content = b'{"lora_alpha": %d}' % draw.randrange(10**6)
    elif how == "flip":
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    elif how == "cut":
        del content[draw.randrange(len(content)) :]
    elif how == "append":
        content += draw.choice([b" ", b"\0", b"\n"])
    elif how == "rename":
        path.rename(path.with_name(f"{path.stem}x{path.suffix}"))
        return how, path.name
    elif how == "delete":
        path.unlink()
        return how, path.name
    elif how == "move":
        (folder / "inner").mkdir(exist_ok=True)
        path.rename(folder / "inner" / path.name)
        return how, path.name
    elif how == "link":
        content += b" "
        outside = folder.parent / f"outside-{folder.name}"
        outside.write_bytes(content)
        path.unlink()
        path.symlink_to(outside)
        return how, path.name
    path.write_bytes(content)
    return how, path.name


def test_a_folder_that_loads_otherwise_has_another_name(tmp_path):
    labels = ("contradiction", "neutral", "entailment")
    tokenizer = train_tokenizer(list(TEXT), 300)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    base = make_checkpoint(tmp_path / "base", tokenizer, labels=labels, **sizes)
    name = hash_folder(base)
    for number in range(EACH):
        folder = shutil.copytree(base, tmp_path / str(number))
        change = other_folder(folder, random.Random(f"{SEED} {number}"))
        with suppress(ModelError):
            assert hash_folder(folder) != name, (number, change)
        shutil.rmtree(folder)


# Versions
# ------------------------------------------------------------------------------------


def test_no_version_is_another_one_unsaid(tmp_path):
    judges = [
        "recall",
        "lexical",
        "recall+lexical",
        lambda text, units: [1] * len(units),
    ]
    results = [scored(judge) for judge in judges]
    presence = {name: {"q1": [1, 0], "q2": [1]} for name in TEXTS}
    results.append(quick_score(units=UNITS, presence=presence, labels=LABELS))

    for number in range(EACH):
        draw = random.Random(f"{SEED} {number}")
        now = draw.choice(results)
        parts = [str(draw.randrange(9)) for _ in range(draw.randrange(2, 4))]
        version = ".".join(parts) + draw.choice(["", "rc1", ".dev3", "+local"])
        old = replace(now, signature=replace(now.signature, version=version))
        path = tmp_path / f"{number}.json"
        old.save(path)
        again = lp.report(path)
        assert again.signature.version == version
        assert version in again.to_table()

        compared = lp.compare(path)
        assert dict(compared.signature.fields)["scored_version"] == version
        runs = draw.sample([path, now], 2)
        try:
            told = " ".join(lp.changes(*runs, across_judges=draw.random() < 0.5).notes)
        except LitepyramidError as error:
            told = str(error)
        assert version in told


# Saved results
# ------------------------------------------------------------------------------------


def other_value(value, draw):
    """Another value in the place of one, of its kind or not."""
    kinds = [None, [value], {}, not value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        kinds += [
            value + draw.choice([1, -0.5, 1e-6, 1e-12]),
            1.001 - value,
            str(value),
        ]
    if isinstance(value, str):
        kinds += [f"{value} ", f"{value.upper()}x", ""]
    if isinstance(value, list):
        kinds += [[], value[1:], value[::-1], [*value, 0]]
    return draw.choice([kind for kind in kinds if kind != value])


def other_result(document, draw):
    """The document with something else in one place, and which."""
    data = json.loads(json.dumps(document))
    part = draw.choice(["opinions", "evidence", "notes", "systems", "labels", "units"])
    path = [part]
    inner = data[part] if part in data else draw.choice(data["scores"])
    holder, key = (data, part) if part in data else (inner, part)

    # Deeper and deeper, to stop anywhere.
    while isinstance(holder[key], list | dict) and holder[key] and draw.random() < 0.8:
        holder = holder[key]
        key = draw.choice([*holder] if isinstance(holder, dict) else range(len(holder)))
        path.append(key)
    if draw.random() < 0.1 and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = other_value(holder[key], draw)
    return data, path


READERS = [
    lp.report,
    lp.compare,
    read_scores,
    lambda path: lp.changes(path, path),
    lambda path: lp.score(presence=path),
    lambda path: lp.audit(path),
]


def test_no_saved_result_is_another_one_unsaid(tmp_path):
    document = plain(scored(evidence=True).to_json())
    seen = set()
    for number in range(EACH):
        draw = random.Random(f"{SEED} {number}")
        data, place = other_result(document, draw)
        seen.add(place[0])
        assert data != document, place
        path = write_lines(tmp_path / f"{number}.json", [data])
        with pytest.raises(LitepyramidError):
            draw.choice(READERS)(path)
    assert {"opinions", "evidence", "notes", "systems"} <= seen
