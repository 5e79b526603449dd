"""SRL-BERT archives: tags and logits equal to AllenNLP's; which archives are read."""

import gzip
import io
import json
import os
import pickle
import shutil
import tarfile
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import ModelError
from litepyramid.units.extract import open_backend
from litepyramid.units.parses import ParsedReference, ParsedSentence

torch = pytest.importorskip("torch", reason="the extra nli is not installed")
pytest.importorskip("transformers")

import huggingface_hub.constants  # noqa: E402

from litepyramid.units.parsers.allennlp import (  # noqa: E402
    AllenNlpBackend,
    decode,
    forward,
    jobs,
    load_srl_bert,
    open_allennlp,
    tag_predicates,
    transitions,
)

OWN = Path(__file__).resolve().parents[1] / "data" / "allennlp"
BERT = OWN / "tiny-bert-uncased"
GOOD = OWN / "srl-bert-25-labels.tar.gz"

with tarfile.open(GOOD) as archive:
    FILES = {m.name: archive.extractfile(m).read() for m in archive if m.isreg()}
CONFIG = json.loads(FILES["config.json"])
WEIGHTS = torch.load(io.BytesIO(FILES["weights.th"]), weights_only=True)


def saved(value: Any) -> bytes:
    """What torch.save writes."""
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def configured(**changes: object) -> bytes:
    """The configuration with other parts."""
    return json.dumps(CONFIG | changes).encode()


def sized(**sizes: object) -> bytes:
    """The configuration with other sizes of its BERT."""
    model = CONFIG["model"]
    return configured(model={**model, "bert_model": model["bert_model"] | sizes})


def write_archive(
    folder: Path, files: dict[str, bytes], *more: tarfile.TarInfo
) -> Path:
    """Packs files and empty members."""
    path = folder / "srl.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in more:
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    return path


def load_archive(*parts):
    """The model of an archive that is written anew."""
    return load_srl_bert(write_archive(*parts), bert=BERT)


@pytest.mark.parametrize(
    ("labels", "batch_pieces"),
    [(14, 300), (37, 1000), (25, 1), (25, 300), (129, 1), (129, 1000)],
)
def test_tags_and_logits_are_allennlps(request, labels, batch_pieces):
    published = labels in (14, 37)
    folder = request.getfixturevalue("data") / "allennlp_fixtures" if published else OWN
    name = f"srl-bert-{labels}-labels"
    rows = [json.loads(line) for line in (folder / f"{name}.expected.jsonl").open()]
    words = [row["words"] for row in rows]
    verbs = [row["verb_indices"] for row in rows]
    model = load_srl_bert(folder / f"{name}.tar.gz")
    results, cut = tag_predicates(model, words, verbs, batch_pieces=batch_pieces)
    assert cut == 0

    for row, frames in zip(rows, results, strict=True):
        assert [frame.verb for frame in frames] == row["verb_indices"]
        for tags, frame in zip(row["tags"], frames, strict=True):
            ours = ["O" if tag.startswith("@@") else tag for tag in tags]
            assert tuple(ours) == frame.tags

        asked = jobs(model, [row["words"]], [row["verb_indices"]])
        for logits, job in zip(row.get("wordpiece_logits", ()), asked, strict=False):
            ours = forward(model, [job])[0].detach().numpy()
            assert np.abs(logits - ours).max() < 1e-4


def step_by_step(probabilities: torch.Tensor, allowed: torch.Tensor) -> list[int]:
    """One sequence, every transition, one topk a step: what AllenNLP does."""
    size = len(allowed)
    score = torch.zeros(size)
    score[-2] = 100000.0
    ends = torch.full((len(probabilities), 2), -torch.inf)
    pointers = []

    for row in [*torch.cat([probabilities, ends], dim=1), None]:
        best, index = torch.topk(score.unsqueeze(1) + allowed, k=1, dim=0)
        pointers.append(index[0])
        if row is not None:
            score = row + best[0]

    path = [size - 1]
    for index in reversed(pointers):
        path.append(int(index[path[-1]]))
    return path[-2:0:-1]


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10_000),
    roles=st.sampled_from([1, 3, 6, 40]),
    scale=st.sampled_from([0.0, 0.001, 0.1, 1.0, 8.0]),  # at 0 all is tied
)
def test_a_batch_is_decoded_as_its_rows_are_one_by_one(seed, roles, scale):
    rng = np.random.default_rng(seed)
    labels = ["O"]
    for role in range(roles):
        labels += [f"B-R{role}", f"I-R{role}"]
    allowed = transitions(labels)

    lengths = rng.integers(1, 12, size=4).tolist()
    values = rng.normal(0, scale, (4, max(lengths), len(labels)))
    logits = torch.tensor(values, dtype=torch.float32)
    expected = []
    for row, length in zip(torch.softmax(logits, -1), lengths, strict=True):
        expected.append(step_by_step(row[:length], allowed))
    assert decode(logits, lengths, allowed) == expected


@pytest.fixture(scope="module")
def model():
    return load_srl_bert(GOOD)


def test_case_is_the_names_matter(tmp_path):
    """In prediction that of the reader for validation, where there is one."""
    uncased = load_archive(tmp_path, FILES)
    reader = {"bert_model_name": "bert-cased"}
    config = {"config.json": configured(validation_dataset_reader=reader)}
    cased = load_archive(tmp_path, FILES | config)
    for model, equal in ((uncased, True), (cased, False)):
        one, other = jobs(model, [["Dog"], ["dog"]], [[0], [0]])
        assert (one == other) == equal


def test_a_long_sentence_is_cut_to_a_window_around_each_predicate(model):
    # 45 pieces; of the window's 24 two are the ends.
    model = replace(model, window=24)
    words = ["a", "b", "c"] * 15
    (frames,), cut = tag_predicates(model, [words], [[0, 20, 44]])
    assert cut == 3
    first, middle, last = (frame.tags for frame in frames)
    assert {*first[22:], *last[:23], *middle[:9], *middle[31:]} == {"O"}

    ((alone,),), cut = tag_predicates(model, [words[9:31]], [[11]])
    assert (middle[9:31], cut) == (alone.tags, 0)
    with refused("longer than the model's 24 word pieces"):
        tag_predicates(model, [["a", "bark" + "s" * 30]], [[1]])


def test_verbs_and_auxiliaries_get_frames(model):
    sentences = []
    for text in ("the dog barked .", "a dog .", "it was the cat ."):
        sentences.append(ParsedSentence(tuple(text.split())))
    batch = AllenNlpBackend(GOOD).parse([ParsedReference("a", 0, tuple(sentences))])
    frames = [list(sentence.frames) for sentence in batch.references[0].sentences]
    words = [sentence.tokens for sentence in sentences]
    assert (frames, 0) == tag_predicates(model, words, [[2], [], [1]])
    assert batch.signature["srl"].startswith("allennlp:srl-bert-25-labels.tar.gz@")
    assert (batch.signature["decoding"], batch.counts) == ("allennlp", {})


def test_options():
    backend = AllenNlpBackend("a.tar.gz", device="cuda")
    assert open_allennlp("a.tar.gz,device=cuda") == backend
    for spec in ("allennlp", "allennlp:a.tar.gz,beam=3", "allennlp:a.tar.gz,bert="):
        with refused("Expected allennlp:ARCHIVE"):
            open_backend(spec)
    with refused("cannot be put on the device 'nowhere'", ModelError):
        load_srl_bert(GOOD, device="nowhere")


def test_where_the_bert_is_found(tmp_path, monkeypatch):
    shutil.copytree(BERT, tmp_path / BERT.name)
    reader = {"bert_model_name": f"/home/me/{BERT.name}"}
    beside = FILES | {"config.json": configured(dataset_reader=reader)}
    load_srl_bert(write_archive(tmp_path, beside))

    reader["bert_model_name"] = "bert-base-uncased"
    away = FILES | {"config.json": configured(dataset_reader=reader)}
    path = write_archive(tmp_path, away)
    with refused(r"'bert-base-uncased' were not found.*bert=FOLDER", ModelError):
        load_srl_bert(path)
    with refused("'absent' were not found", ModelError):
        load_srl_bert(path, bert="absent")
    load_srl_bert(path, bert=BERT)

    hub = tmp_path / "hub"
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(hub))
    stored = hub / "models--google-bert--bert-base-uncased"
    shutil.copytree(BERT, stored / "snapshots" / ("0" * 40))
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text("0" * 40)
    load_srl_bert(path)


def test_other_models_of_allennlp_are_refused(data):
    for name, says in (
        ("srl-lstm", "is a model of the kind 'srl'. Expected the kind 'srl_bert'"),
        ("coref-lstm-0.9", "Expected an AllenNLP archive of an SRL-BERT model"),
    ):
        with refused(says, ModelError):
            load_srl_bert(data / "allennlp_fixtures" / f"{name}.tar.gz")


def special(name: str, kind: bytes, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = link
    info.size = size
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
    monkeypatch.chdir(folder)
    model = load_archive(folder, FILES, *HOSTILE)
    assert model.revision == load_srl_bert(GOOD).revision
    assert model.labels == load_srl_bert(GOOD).labels
    with refused(r"holds no config\.json", ModelError):
        load_archive(folder, {}, *HOSTILE)
    assert [*tmp_path.rglob("*")] == [folder, folder / "srl.tar.gz"]


def test_small_archives_that_would_fill_the_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("litepyramid.units.parsers.allennlp._ROOM", 1 << 20)
    for name, kind in (
        ("x", tarfile.REGTYPE),
        ("weights.th", tarfile.REGTYPE),
        ("x", tarfile.XHDTYPE),
    ):
        large = special(name, kind, size=8 << 20)
        with refused("too much for its size", ModelError):
            load_archive(tmp_path, FILES, large)

    path = tmp_path / "appended.tar.gz"
    path.write_bytes(GOOD.read_bytes() + gzip.compress(bytes(8 << 20)))
    with refused("too much for its size", ModelError):
        load_srl_bert(path)

    monkeypatch.setattr("litepyramid.units.parsers.allennlp._MEMBERS", 4)
    with refused("more than 4 files", ModelError):
        load_srl_bert(GOOD)


def test_halves_are_computed_with_as_singles(tmp_path):
    weights = {}
    for name, value in WEIGHTS.items():
        weights[name] = value.half() if value.is_floating_point() else value
    model = load_archive(tmp_path, FILES | {"weights.th": saved(weights)})
    kinds = {parameter.dtype for parameter in model.network.parameters()}
    assert kinds == {torch.float32}


def compressed(data) -> bytes:
    """A zip archive with its one part packed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("archive/data.pkl", data)
    return packed.getvalue()


@dataclass
class Evil:
    path: Path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_weights_with_code_are_refused_and_the_code_is_not_run(tmp_path):
    trap = tmp_path / "trap"
    for data in (
        pickle.dumps(Evil(trap), protocol=2),
        saved({"weights": Evil(trap)}),
        saved(torch.nn.Linear(2, 2)),
    ):
        with refused(r"damaged or holds more than plain tensors", ModelError):
            load_archive(tmp_path, FILES | {"weights.th": data})
    assert not trap.exists()


ONE_NUMBER = {"a": torch.zeros(1).expand(1 << 40)}
UNKNOWN = WEIGHTS | {"crf.start": torch.zeros(3)}
OTHERS_LABELS = WEIGHTS | {"tag_projection_layer.bias": torch.zeros(7)}
WRONG = [
    ("config.json", b"{", "config.json:1: not valid JSON"),
    ("config.json", b'{"model": {"type": ["srl_bert"]}}', "a broken config.json"),
    ("weights.th", saved([1, 2]), "damaged or holds more"),
    ("weights.th", FILES["weights.th"][:-3000], "damaged or holds more"),
    ("weights.th", compressed(FILES["weights.th"]), "holds compressed weights"),
    ("weights.th", saved(ONE_NUMBER), "larger than itself"),
    ("weights.th", saved(UNKNOWN), "crf.start"),
    ("weights.th", saved(OTHERS_LABELS), "size mismatch for tag_projection_layer"),
    ("vocabulary/labels.txt", b"O\nB-V\nV\n", "label 3 in .* is 'V'"),
    ("vocabulary/labels.txt", b"O\nB-V\nB-V\n", "a label twice"),
    ("config.json", sized(vocab_size=8), "has 189 word pieces, its BERT has 8"),
    ("config.json", sized(num_attention_heads=3), "configuration is not valid"),
    ("config.json", sized(hidden_act="bent"), "configuration is not valid"),
    ("config.json", sized(num_hidden_layers=3), "Missing key"),
    ("config.json", sized(num_hidden_layers=999_999), "holds no 999999 layers"),
]


@pytest.mark.parametrize(("name", "data", "message"), WRONG)
def test_wrong_parts(tmp_path, name, data, message):
    with refused(message, ModelError) as error:
        load_archive(tmp_path, FILES | {name: data})
    assert "\n" not in str(error.value)
