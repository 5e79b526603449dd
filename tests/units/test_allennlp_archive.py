"""Which archives are read, and what is said of those that are not."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from litepyramid.errors import ModelError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import huggingface_hub.constants  # noqa: E402
from allennlp_archives import (  # noqa: E402
    PIECES,
    SIZES,
    members,
    random_weights,
    saved,
    write_archive,
)

from litepyramid.units.parsers.allennlp import (  # noqa: E402
    load_srl_bert,
    read_labels,
    tag_predicates,
)

WORDS = ["the", "dog", "barked", "."]


@pytest.fixture(autouse=True)
def _no_hub(monkeypatch):
    """Nothing is looked for on the network."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def logits(path: Path, **options: object):
    (frame,) = tag_predicates(load_srl_bert(path, **options), [WORDS], [[2]], keep_logits=True)[0]
    return frame.logits


@pytest.fixture
def good(tmp_path):
    return logits(write_archive(tmp_path / "good.tar.gz", members()))


def test_the_same_files_in_another_wrapping(tmp_path, good):
    files = members()
    folder = tmp_path / "unpacked"
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    with tarfile.open(tmp_path / "plain.tar", "w") as archive:
        archive.add(folder, arcname="/")
    wrapped = [
        write_archive(tmp_path / "dot.tar.gz", files, prefix="./"),
        write_archive(tmp_path / "inner.tar.gz", files, prefix="model/"),
        *(folder, tmp_path / "plain.tar"),
    ]
    for path in wrapped:
        assert (logits(path) == good).all(), path


def test_the_same_weights_under_other_names_and_in_the_old_form(tmp_path, good):
    state = random_weights()
    pooler = {k: v for k, v in state.items() if "pooler" not in k and "position_ids" not in k}
    wrapped = {f"module.{k}": v for k, v in state.items()}
    old = {
        k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("Norm.bias", "Norm.beta"): v
        for k, v in state.items()
    }
    heads = {**state, "bert_model.cls.predictions.bias": torch.zeros(3)}
    stream = io.BytesIO()
    torch.save(state, stream, _use_new_zipfile_serialization=False)
    parts = [*map(saved, (pooler, wrapped, old, heads)), stream.getvalue()]
    for number, weights in enumerate(parts):
        files = {**members(), "weights.th": weights}
        assert (logits(write_archive(tmp_path / f"{number}.tar.gz", files)) == good).all()


def test_where_the_word_pieces_are_found(tmp_path, good, monkeypatch):
    vocabulary = "".join(f"{piece}\n" for piece in PIECES)
    bare = write_archive(tmp_path / "bare.tar.gz", members(pieces=None))
    top = members(pieces=None, extra={"vocab.txt": vocabulary.encode()})
    assert (logits(write_archive(tmp_path / "top.tgz", top)) == good).all()
    deep = members(name="/home/me/tiny-bert-uncased", pieces=None)
    deep["fta/tiny-bert-uncased/vocab.txt"] = vocabulary.replace("\n", "\r\n").encode()
    assert (logits(write_archive(tmp_path / "deep.tgz", deep)) == good).all()
    with pytest.raises(ModelError, match=r"'tiny-bert-uncased' were not found.*bert=FOLDER"):
        logits(bare)
    folder = tmp_path / "tiny-bert-uncased"
    folder.mkdir()
    (folder / "vocab.txt").write_text(vocabulary)
    assert (logits(bare, bert=folder) == good).all()
    assert (logits(bare, bert=folder / "vocab.txt") == good).all()
    with pytest.raises(ModelError, match="no BERT vocabulary at"):
        logits(bare, bert=tmp_path / "absent")
    monkeypatch.chdir(tmp_path)
    assert (logits(Path("bare.tar.gz")) == good).all()


def test_the_cache_of_the_hub_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    revision = "0" * 40
    stored = tmp_path / "hub" / "models--google-bert--bert-base-uncased"
    (stored / "snapshots" / revision).mkdir(parents=True)
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text(revision)
    (stored / "snapshots" / revision / "vocab.txt").write_text("\n".join(PIECES))
    name = "bert-base-uncased"
    files = members(name, name, random_weights(hidden_size=64), pieces=None)
    assert len(load_srl_bert(write_archive(tmp_path / "m.tgz", files)).pieces) == len(PIECES)


@pytest.mark.parametrize(("name", "kind"), [("srl-lstm", "srl"), ("coref-lstm-0.9", "coref")])
def test_other_models_of_allennlp_are_refused(data, name, kind):
    with pytest.raises(ModelError, match=f"is a model of the kind '{kind}'. Expected the kind"):
        load_srl_bert(data / "allennlp_fixtures" / f"{name}.tar.gz")


def test_damaged_files(tmp_path):
    whole = write_archive(tmp_path / "whole.tar.gz", members()).read_bytes()
    bad = bytearray(whole)
    bad[len(bad) // 2] ^= 0xFF
    for data in (whole[: len(whole) // 2], whole[:20], bytes(bad), b"", b"no archive at all"):
        path = tmp_path / "broken.tar.gz"
        path.write_bytes(data)
        with pytest.raises(ModelError, match=r"broken\.tar\.gz: "):
            load_srl_bert(path)


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


HOSTILE = {
    "up": [("../evil.txt", b"x")],
    "up again": [("a/../../evil.txt", b"x")],
    "link": [special("vocabulary2", tarfile.SYMTYPE, "../../../etc")],
    # how tarfile's own filter is led out of the folder before Python 3.11.13
    "through a link": [
        special("d" * 200, tarfile.SYMTYPE, "/".join(["."] * 2000)),
        special("out", tarfile.SYMTYPE, "d" * 200 + "/../.."),
        ("out/evil.txt", b"x"),
    ],
    "hard link": [special("weights2.th", tarfile.LNKTYPE, "/etc/passwd")],
    "the weights are a link": [special("x/weights.th", tarfile.SYMTYPE, "/etc/passwd")],
    "device": [special("null", tarfile.CHRTYPE)],
    "pipe": [special("pipe", tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("extra", HOSTILE.values(), ids=HOSTILE)
def test_nothing_is_ever_written_and_links_are_refused(tmp_path, monkeypatch, extra):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (tmp_path / "evil.txt").write_text("mine")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.chdir(folder)
    path = folder / "m.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for entry in (*members().items(), *extra):
            info = tarfile.TarInfo(entry[0]) if isinstance(entry, tuple) else entry
            data = entry[1] if isinstance(entry, tuple) else b""
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(ModelError, match="not safe to unpack"):
        load_srl_bert(path)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_small_archives_that_would_fill_the_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("litepyramid.units.parsers.allennlp._ROOM", 1 << 20)
    zeros = bytes(8 << 20)
    header = tarfile.TarInfo("./PaxHeaders/x")
    header.type, header.size = tarfile.XHDTYPE, len(zeros)
    for extra in (("notes.txt", zeros), ("weights.th", zeros), (header, zeros)):
        with tarfile.open(tmp_path / "m.tgz", "w:gz") as archive:
            info = extra[0] if isinstance(extra[0], tarfile.TarInfo) else tarfile.TarInfo(extra[0])
            info.size = len(zeros)
            archive.addfile(info, io.BytesIO(zeros))
        with pytest.raises(ModelError, match="too much for its size"):
            load_srl_bert(tmp_path / "m.tgz")
    data = write_archive(tmp_path / "m.tgz", members()).read_bytes()
    (tmp_path / "m.tgz").write_bytes(data + gzip.compress(zeros))
    with pytest.raises(ModelError, match="too much for its size"):
        load_srl_bert(tmp_path / "m.tgz")
    parts = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(saved(random_weights()))) as whole,
        zipfile.ZipFile(parts, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in whole.namelist():
            packed.writestr(name, whole.read(name))
    files = {**members(), "weights.th": parts.getvalue()}
    with pytest.raises(ModelError, match="holds compressed weights"):
        load_srl_bert(write_archive(tmp_path / "m.tgz", files))
    files["weights.th"] = saved({"a": torch.zeros(1).expand(1 << 40)})
    with pytest.raises(ModelError, match="larger than itself"):
        load_srl_bert(write_archive(tmp_path / "m.tgz", files))


def test_archives_with_too_many_or_doubled_members(tmp_path, monkeypatch):
    monkeypatch.setattr("litepyramid.units.parsers.allennlp._MEMBERS", 20)
    path = write_archive(tmp_path / "m.tgz", members(extra={f"m{i}": b"" for i in range(20)}))
    with pytest.raises(ModelError, match="more than 20 members"):
        load_srl_bert(path)
    with pytest.raises(ModelError, match="holds a file twice"):
        load_srl_bert(write_archive(path, {"config.json": b"", "./config.json": b""}))


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_weights_with_code_are_refused_and_the_code_is_not_run(tmp_path):
    trap = tmp_path / "trap"
    for data in (
        pickle.dumps(Evil(trap), protocol=2),
        saved({"weights": Evil(trap)}),
        saved(torch.nn.Linear(2, 2)),
    ):
        files = {**members(), "weights.th": data}
        with pytest.raises(ModelError, match=r"damaged or holds more than plain tensors") as error:
            load_srl_bert(write_archive(tmp_path / "m.tgz", files))
        assert "\n" not in str(error.value)
    assert not trap.exists()


def without(*keys: str) -> dict[str, torch.Tensor]:
    return {k: v for k, v in random_weights().items() if not k.startswith(keys)}


FAR = "bert_model.encoder.layer.999999.output.dense.bias"  # no reason to make a million layers
WRONG = [
    ({"config.json": None}, "holds no config.json"),
    ({"weights.th": None}, "holds no weights.th"),
    ({"vocabulary/labels.txt": None}, "holds no vocabulary/labels.txt"),
    ({"config.json": b"{"}, "config.json:1: not valid JSON"),
    ({"config.json": b'{"model": {"type": ["srl_bert"]}}'}, "names no model type"),
    ({"config.json": b'{"model": {"type": "srl_bert"}}'}, "does not name the BERT"),
    ({"weights.th": saved([1, 2])}, "not a table of tensors"),
    ({"weights.th": saved(random_weights())[:-3000]}, "damaged or holds more"),
    ({"weights.th": saved(random_weights(labels=7))}, "has 9 labels, the weights have 7"),
    ({"weights.th": saved(without("tag_projection"))}, "holds no tag_projection_layer"),
    ({"weights.th": saved(without("bert_model."))}, "holds no BERT"),
    ({"weights.th": saved(without("bert_model.encoder.layer.1.output"))}, "Missing key"),
    ({"weights.th": saved({**random_weights(), "crf.start": torch.zeros(3)})}, "crf.start"),
    ({"weights.th": saved({**random_weights(), FAR: torch.zeros(16)})}, "hidden_layers is 2"),
    ({"weights.th": saved(random_weights(vocab_size=8))}, "vocab_size is 21 in its config"),
    ({"vocabulary/labels.txt": b"O\nB-V\nV\n"}, "label 2 in vocabulary/labels.txt is 'V'"),
    ({"vocabulary/labels.txt": b"O\nB-V\nB-V\n"}, "a label twice"),
    ({"tiny-bert-uncased/vocab.txt": b"a\nb\n"}, "not a BERT vocabulary"),
]


@pytest.mark.parametrize(("changes", "says"), WRONG, ids=[says for _, says in WRONG])
def test_wrong_parts(tmp_path, changes, says):
    files = {**members(), **changes}
    files = {name: data for name, data in files.items() if data is not None}
    with pytest.raises(ModelError, match=says) as error:
        load_srl_bert(write_archive(tmp_path / "m.tgz", files))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("bert_model", "says"),
    [
        ("tiny-bert-uncased", "number of attention heads of 'tiny-bert-uncased' is not known"),
        ({**SIZES, "num_attention_heads": 3}, "3 attention heads do not divide 16"),
        ({**SIZES, "hidden_act": "bent"}, "its BERT configuration is not valid"),
        ({**SIZES, "num_hidden_layers": 3}, "num_hidden_layers is 3 in its configuration, 2"),
        ({**SIZES, "position_embedding_type": "relative_key"}, "relative positions"),
    ],
)
def test_wrong_configurations(tmp_path, bert_model, says):
    path = write_archive(tmp_path / "m.tgz", members(bert_model=bert_model))
    with pytest.raises(ModelError, match=says):
        load_srl_bert(path)


def test_labels_that_allennlp_pads(tmp_path):
    folder = tmp_path / "vocabulary"
    folder.mkdir()
    (folder / "labels.txt").write_bytes(b"@@UNKNOWN@@\r\nO\r\nB-V\r\n")
    labels = ("@@UNKNOWN@@", "O", "B-V")
    assert read_labels(tmp_path, tmp_path) == labels
    for text, padding in (("*tags\n*labels\n", ()), ("*\n", ()), ("*tags\n", ("@@PADDING@@",))):
        (folder / "non_padded_namespaces.txt").write_text(text)
        assert read_labels(tmp_path, tmp_path) == (*padding, *labels)


def test_the_reader_used_for_prediction_is_the_validation_one(tmp_path):
    files = members(name="tiny-bert-cased")
    config = json.loads(files["config.json"])
    config["validation_dataset_reader"] = config["dataset_reader"]
    config["dataset_reader"] = {"type": "srl", "bert_model_name": "other-uncased"}
    files["config.json"] = json.dumps(config).encode()
    assert not load_srl_bert(write_archive(tmp_path / "m.tgz", files)).lowercase
