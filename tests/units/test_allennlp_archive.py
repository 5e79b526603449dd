"""Which archives are read, and what is said of those that are not."""

import gzip
import io
import json
import os
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest

from litepyramid.errors import ModelError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import huggingface_hub.constants  # noqa: E402
from allennlp_archives import (  # noqa: E402
    SIZES,
    members,
    random_weights,
    saved,
    write_archive,
    write_bert,
)

from litepyramid.units.parsers.allennlp import (  # noqa: E402
    load_srl_bert,
    read_labels,
    tag_predicates,
)


@pytest.fixture(autouse=True)
def _no_hub(monkeypatch):
    """Nothing is looked for on the network."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def tags(path: Path, **options: object):
    return tag_predicates(load_srl_bert(path, **options), [["the", "dog", "barked", "."]], [[2]])


def test_where_the_bert_is_found(tmp_path, monkeypatch):
    beside = tags(write_archive(tmp_path / "a.tgz", members()))
    named = members("/home/me/tiny-bert-uncased", "tiny-bert-uncased")  # by config.json beside it
    assert tags(write_archive(tmp_path / "b.tgz", named)) == beside
    lost = write_archive(tmp_path / "c.tgz", members("bert-base-uncased"))
    with pytest.raises(ModelError, match=r"'bert-base-uncased' were not found.*bert=FOLDER"):
        tags(lost)
    with pytest.raises(ModelError, match="'absent' were not found"):
        tags(lost, bert="absent")
    assert tags(lost, bert=tmp_path / "tiny-bert-uncased") == beside
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    stored = tmp_path / "hub" / "models--google-bert--bert-base-uncased"
    (stored / "snapshots").mkdir(parents=True)
    write_bert(stored / "snapshots" / ("0" * 40))
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text("0" * 40)
    assert tags(lost) == beside


def test_other_models_of_allennlp_are_refused(data):
    for name, says in (
        ("srl-lstm", "is a model of the kind 'srl'. Expected the kind 'srl_bert'"),
        ("coref-lstm-0.9", "Expected an AllenNLP archive of an SRL-BERT model"),
    ):
        with pytest.raises(ModelError, match=says):
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


def special(name: str, kind: bytes, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info


HOSTILE = (
    special("../evil.txt", tarfile.REGTYPE, size=3),
    special("vocabulary2", tarfile.SYMTYPE, "../../../etc"),
    special("config.json", tarfile.LNKTYPE, "/etc/passwd"),
    special("weights.th", tarfile.SYMTYPE, "/etc/passwd"),
    special("null", tarfile.CHRTYPE),
    special("vocabulary/labels.txt", tarfile.FIFOTYPE),
)


def test_nothing_is_ever_written_and_links_are_not_followed(tmp_path, monkeypatch):
    folder = tmp_path / "a"
    folder.mkdir()
    good = write_archive(folder / "good.tgz", members())
    path = write_archive(folder / "m.tgz", members(), *HOSTILE)
    monkeypatch.chdir(folder)
    before = sorted(tmp_path.rglob("*"))
    assert tags(path) == tags(good)
    with pytest.raises(ModelError, match=r"holds no config\.json"):
        load_srl_bert(write_archive(path, {}, *HOSTILE))
    assert sorted(tmp_path.rglob("*")) == before


def test_small_archives_that_would_fill_the_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("litepyramid.units.parsers.allennlp._ROOM", 1 << 20)
    for name, kind in (
        ("x", tarfile.REGTYPE),
        ("weights.th", tarfile.REGTYPE),
        ("x", tarfile.XHDTYPE),
    ):
        path = write_archive(tmp_path / "m.tgz", members(), special(name, kind, size=8 << 20))
        with pytest.raises(ModelError, match="too much for its size"):
            load_srl_bert(path)
    data = write_archive(path, members()).read_bytes()
    path.write_bytes(data + gzip.compress(bytes(8 << 20)))
    with pytest.raises(ModelError, match="too much for its size"):
        load_srl_bert(path)


def compressed(data: bytes) -> bytes:
    parts = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as whole,
        zipfile.ZipFile(parts, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in whole.namelist():
            packed.writestr(name, whole.read(name))
    return parts.getvalue()


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


def without(*keys: str) -> bytes:
    return saved({k: v for k, v in random_weights().items() if not k.startswith(keys)})


def configured(**changes: object) -> dict[str, bytes]:
    return {"config.json": members(bert_model={**SIZES, **changes})["config.json"]}


WRONG = [
    ({"config.json": None}, "holds no config.json"),
    ({"config.json": b"{"}, "config.json:1: not valid JSON"),
    ({"config.json": b'{"model": {"type": ["srl_bert"]}}'}, "a broken config.json"),
    ({"weights.th": saved([1, 2])}, "damaged or holds more"),
    ({"weights.th": saved(random_weights())[:-3000]}, "damaged or holds more"),
    ({"weights.th": compressed(saved(random_weights()))}, "holds compressed weights"),
    ({"weights.th": saved({"a": torch.zeros(1).expand(1 << 40)})}, "larger than itself"),
    ({"weights.th": saved(random_weights(labels=7))}, "size mismatch for tag_projection_layer"),
    ({"weights.th": without("bert_model.encoder.layer.1.output")}, "Missing key"),
    ({"weights.th": saved({**random_weights(), "crf.start": torch.zeros(3)})}, "crf.start"),
    ({"vocabulary/labels.txt": b"O\nB-V\nV\n"}, "label 2 in vocabulary/labels.txt is 'V'"),
    ({"vocabulary/labels.txt": b"O\nB-V\nB-V\n"}, "a label twice"),
    (configured(vocab_size=8), "has 21 word pieces, its BERT has 8"),
    (configured(num_attention_heads=3), "its BERT configuration is not valid"),
    (configured(hidden_act="bent"), "its BERT configuration is not valid"),
    (configured(num_hidden_layers=3), "Missing key"),
    (configured(num_hidden_layers=999_999), "holds no 999999 layers"),
]


@pytest.mark.parametrize(("changes", "says"), WRONG)
def test_wrong_parts(tmp_path, changes, says):
    files = {name: data for name, data in (members() | changes).items() if data is not None}
    with pytest.raises(ModelError, match=says) as error:
        load_srl_bert(write_archive(tmp_path / "m.tgz", files))
    assert "\n" not in str(error.value)


def test_labels_that_allennlp_pads():
    labels = ("@@UNKNOWN@@", "O", "B-V")
    for text, padding in ((b"*tags\n*labels\n", ()), (b"*\n", ()), (b"*tags\n", ("@@PADDING@@",))):
        files = {"labels.txt": b"@@UNKNOWN@@\r\nO\r\nB-V\r\n", "non_padded_namespaces.txt": text}
        opened = {f"vocabulary/{name}": io.BytesIO(data) for name, data in files.items()}
        assert read_labels(opened, Path("m.tgz")) == (*padding, *labels)


def test_the_reader_used_for_prediction_is_the_validation_one(tmp_path):
    config = json.loads(members("tiny-bert-cased")["config.json"])
    config["validation_dataset_reader"] = config["dataset_reader"]
    config["dataset_reader"] = {"type": "srl", "bert_model_name": "other-uncased"}
    files = members() | {"config.json": json.dumps(config).encode()}
    assert not load_srl_bert(write_archive(tmp_path / "m.tgz", files)).lowercase
