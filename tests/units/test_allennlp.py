"""SRL-BERT archives: tags and logits equal to AllenNLP's; which archives are read."""

import gzip
import io
import itertools
import json
import os
import pickle
import tarfile
import zipfile
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
from transformers import BertConfig, BertModel  # noqa: E402

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

LABELS = "O\nB-V\nI-V\nB-ARG0\nI-ARG0\nB-ARG1\nI-ARG1\nB-ARGM-TMP\nI-ARGM-TMP"
PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] the dog bark ##ed ##s Dog at cat . who was quick ##ly a b c"
SIZES = {
    "hidden_size": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 24,
    "vocab_size": len(PIECES.split()),
}


def random_weights(labels: int = 9) -> dict[str, torch.Tensor]:
    """A state dict as AllenNLP saves it."""
    torch.manual_seed(0)
    state = {
        f"bert_model.{k}": v.clone()
        for k, v in BertModel(BertConfig(**SIZES)).state_dict().items()
    }
    state["bert_model.embeddings.position_ids"] = torch.arange(24).unsqueeze(0)
    state["tag_projection_layer.weight"] = torch.zeros(labels, SIZES["hidden_size"])
    state["tag_projection_layer.bias"] = torch.zeros(labels)
    for value in state.values():
        if value.is_floating_point() and value.ndim > 1:
            value.normal_(0, 0.3)

    return state


def saved(value: Any) -> bytes:
    """What torch.save writes."""
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def members(
    name: str = "tiny-bert-uncased", bert_model: Any = SIZES
) -> dict[str, bytes]:
    """The files of a good archive."""
    config = {
        "dataset_reader": {"type": "srl", "bert_model_name": name},
        "model": {
            "type": "srl_bert",
            "bert_model": bert_model,
            "embedding_dropout": 0.1,
        },
    }
    return {
        "config.json": json.dumps(config).encode(),
        "weights.th": saved(random_weights()),
        "vocabulary/labels.txt": LABELS.encode(),
        "vocabulary/non_padded_namespaces.txt": b"*tags\n*labels\n",
    }


def write_archive(path: Path, files: dict[str, bytes], *more: tarfile.TarInfo) -> Path:
    """Packs files into a tar.gz, the BERTs of the tests beside it."""
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in more:
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    for name in ("tiny-bert-uncased", "tiny-bert-cased"):
        write_bert(path.parent / name)
    return path


def write_bert(folder):
    """The vocabulary and the configuration of a BERT."""
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text(PIECES.replace(" ", "\n"))
    (folder / "config.json").write_text(json.dumps(SIZES))


OWN = Path(__file__).resolve().parents[1] / "data" / "allennlp"
TEXTS = (
    "the quick dog barked at a cat .",
    "who was the cat",
    "",
    "Dog barks quickly at the the the dog who barked at b a .",
    "a",
)
SENTENCES = [text.split() for text in TEXTS]
VERBS = [[3], [1, 3, 1], [], [0, 1, 13], []]


@pytest.mark.parametrize(
    ("labels", "batch_pieces"),
    [(14, 300), (37, 1000), (25, 1), (25, 300), (129, 1), (129, 1000)],
)
def test_tags_and_logits_are_allennlps(request, labels, batch_pieces):
    ours = labels in (25, 129)
    folder = OWN if ours else request.getfixturevalue("data") / "allennlp_fixtures"
    name = f"srl-bert-{labels}-labels"
    rows = [json.loads(line) for line in (folder / f"{name}.expected.jsonl").open()]
    words, verbs = ([row[key] for row in rows] for key in ("words", "verb_indices"))
    model = load_srl_bert(folder / f"{name}.tar.gz")
    results, cut = tag_predicates(model, words, verbs, batch_pieces=batch_pieces)
    assert cut == 0

    for row, frames in zip(rows, results, strict=True):
        assert [frame.verb for frame in frames] == row["verb_indices"]
        for tags, frame in zip(row["tags"], frames, strict=True):
            assert ["O" if tag.startswith("@@") else tag for tag in tags] == list(
                frame.tags
            )

        expected = row.get("wordpiece_logits", ())
        asked = list(jobs(model, [row["words"]], [row["verb_indices"]]))[
            : len(expected)
        ]
        for logits, job in zip(expected, asked, strict=True):
            assert (
                np.abs(logits - forward(model, [job])[0].detach().numpy()).max() < 1e-4
            )


def labels_of(roles: int) -> list[str]:
    return ["O", *(f"{prefix}-R{i}" for i in range(roles) for prefix in "BI")]


def step_by_step(probabilities: torch.Tensor, labels: list[str]) -> list[int]:
    """One sequence, every transition, one topk a step: what AllenNLP does."""
    size = len(labels) + 2
    allowed = torch.zeros(size, size)
    for i, j in itertools.product(range(len(labels)), repeat=2):
        if labels[j][0] == "I" and labels[i] not in (labels[j], "B" + labels[j][1:]):
            allowed[i, j] = -torch.inf

    for j, label in enumerate(labels):
        if label[0] == "I":
            allowed[-2, j] = -torch.inf

    allowed[-2:, -2:] = -torch.inf
    allowed[-1, :] = -torch.inf
    allowed[:, -2] = -torch.inf
    score = torch.zeros(size)
    score[-2] = 100000.0
    pointers = []

    for row in [*probabilities, None]:
        best, index = torch.topk(score.unsqueeze(1) + allowed, k=1, dim=0)
        pointers.append(index[0])
        if row is not None:
            score = torch.cat([row, torch.full((2,), -torch.inf)]) + best[0]

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
    labels = labels_of(roles)
    lengths = [int(n) for n in rng.integers(1, 12, size=4)]
    logits = torch.tensor(
        rng.normal(0, scale, (4, max(lengths), len(labels))), dtype=torch.float32
    )
    probabilities = torch.softmax(logits, -1)
    expected = [
        step_by_step(probabilities[r, :n], labels) for r, n in enumerate(lengths)
    ]
    assert decode(logits, lengths, transitions(labels)) == expected


@pytest.fixture
def archive(tmp_path):
    return write_archive(tmp_path / "srl.tar.gz", members())


@pytest.fixture
def model(archive):
    return load_srl_bert(archive)


def test_the_order_of_the_answer_is_the_order_of_the_question(model):
    results, cut = tag_predicates(model, SENTENCES, VERBS)
    assert ([[frame.verb for frame in frames] for frames in results], cut) == (VERBS, 0)
    for words, verbs, frames in zip(SENTENCES, VERBS, results, strict=True):
        assert all(len(frame.tags) == len(words) for frame in frames)
        for verb, frame in zip(verbs, frames, strict=True):
            assert tag_predicates(model, [words], [[verb]]) == ([[frame]], 0)
    with refused("longer than the model's 24 word pieces"):
        tag_predicates(model, [["a", "bark" + "s" * 30]], [[1]])


def test_case_is_the_names_matter(tmp_path):
    answers = []
    for name in ("tiny-bert-uncased", "tiny-bert-cased"):
        model = load_srl_bert(write_archive(tmp_path / f"{name}.tgz", members(name)))
        one, other = jobs(model, [["Dog"], ["dog"]], [[0], [0]])
        answers.append(one == other)
    assert answers == [True, False]


def test_a_long_sentence_is_cut_to_a_window_around_each_predicate(model):
    # 45 pieces; the BERT has 24 positions, so 22 of them fit.
    words = ["a", "b", "at"] * 15
    (frames,), cut = tag_predicates(model, [words], [[0, 20, 44]])
    first, middle, last = (frame.tags for frame in frames)
    assert cut == 3
    assert {*first[22:], *last[:23], *middle[:9], *middle[31:]} == {"O"}
    ((alone,),), cut = tag_predicates(model, [words[9:31]], [[11]])
    assert (middle[9:31], cut) == (alone.tags, 0)


def test_verbs_and_auxiliaries_get_frames(archive, model):
    texts = "the dog barked .", "it was the cat ."
    asked = ParsedReference(
        "a", 0, tuple(ParsedSentence(tuple(t.split())) for t in texts)
    )
    batch = AllenNlpBackend(archive).parse([asked])
    sentences = batch.references[0].sentences
    assert [[f.verb for f in s.frames] for s in sentences] == [[2], [1]]
    direct, _ = tag_predicates(model, [s.tokens for s in sentences], [[2], [1]])
    assert [list(s.frames) for s in sentences] == direct
    assert batch.signature["srl"].startswith("allennlp:srl.tar.gz@")
    assert (batch.signature["decoding"], batch.counts) == ("allennlp", {})


def test_options(archive):
    assert open_allennlp("a.tar.gz,device=cuda") == AllenNlpBackend(
        "a.tar.gz", device="cuda"
    )
    for spec in ("allennlp", "allennlp:a.tar.gz,beam=3", "allennlp:a.tar.gz,bert="):
        with refused("Expected allennlp:ARCHIVE"):
            open_backend(spec)
    with refused("cannot be put on the device 'nowhere'", ModelError):
        load_srl_bert(archive, device="nowhere")


def tags(path, **options: object):
    return tag_predicates(
        load_srl_bert(path, **options), [["the", "dog", "barked", "."]], [[2]]
    )


def test_where_the_bert_is_found(tmp_path, monkeypatch):
    beside = tags(write_archive(tmp_path / "a.tgz", members()))
    named = members(
        "/home/me/tiny-bert-uncased", "tiny-bert-uncased"
    )  # by config.json beside it
    assert tags(write_archive(tmp_path / "b.tgz", named)) == beside
    lost = write_archive(tmp_path / "c.tgz", members("bert-base-uncased"))

    with refused(r"'bert-base-uncased' were not found.*bert=FOLDER", ModelError):
        tags(lost)

    with refused("'absent' were not found", ModelError):
        tags(lost, bert="absent")
    assert tags(lost, bert=tmp_path / "tiny-bert-uncased") == beside
    monkeypatch.setattr(
        huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub")
    )
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
        with refused(says, ModelError):
            load_srl_bert(data / "allennlp_fixtures" / f"{name}.tar.gz")


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
    with refused(r"holds no config\.json", ModelError):
        load_srl_bert(write_archive(path, {}, *HOSTILE))
    assert sorted(tmp_path.rglob("*")) == before


def test_small_archives_that_would_fill_the_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("litepyramid.units.parsers.allennlp._ROOM", 1 << 20)
    for name, kind in (
        ("x", tarfile.REGTYPE),
        ("weights.th", tarfile.REGTYPE),
        ("x", tarfile.XHDTYPE),
    ):
        path = write_archive(
            tmp_path / "m.tgz", members(), special(name, kind, size=8 << 20)
        )
        with refused("too much for its size", ModelError):
            load_srl_bert(path)

    data = write_archive(path, members()).read_bytes()
    path.write_bytes(data + gzip.compress(bytes(8 << 20)))
    with refused("too much for its size", ModelError):
        load_srl_bert(path)
    monkeypatch.setattr("litepyramid.units.parsers.allennlp._MEMBERS", 4)
    with refused("more than 4 files", ModelError):
        load_srl_bert(write_archive(path, members(), tarfile.TarInfo("x")))


def test_halves_are_computed_with_as_singles(tmp_path):
    weights = {
        k: v.half() if v.is_floating_point() else v for k, v in random_weights().items()
    }
    path = write_archive(
        tmp_path / "m.tgz", {**members(), "weights.th": saved(weights)}
    )
    assert {p.dtype for p in load_srl_bert(path).network.parameters()} == {
        torch.float32
    }


def compressed(data) -> bytes:
    parts = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as whole,
        zipfile.ZipFile(parts, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in whole.namelist():
            packed.writestr(name, whole.read(name))
    return parts.getvalue()


class Evil:
    def __init__(self, path):
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
        with refused(r"damaged or holds more than plain tensors", ModelError) as error:
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
    (
        {"weights.th": saved({"a": torch.zeros(1).expand(1 << 40)})},
        "larger than itself",
    ),
    (
        {"weights.th": saved(random_weights(labels=7))},
        "size mismatch for tag_projection_layer",
    ),
    ({"weights.th": without("bert_model.encoder.layer.1.output")}, "Missing key"),
    (
        {"weights.th": saved({**random_weights(), "crf.start": torch.zeros(3)})},
        "crf.start",
    ),
    (
        {"vocabulary/labels.txt": b"O\nB-V\nV\n"},
        "label 2 in vocabulary/labels.txt is 'V'",
    ),
    ({"vocabulary/labels.txt": b"O\nB-V\nB-V\n"}, "a label twice"),
    (configured(vocab_size=8), "has 21 word pieces, its BERT has 8"),
    (configured(num_attention_heads=3), "its BERT configuration is not valid"),
    (configured(hidden_act="bent"), "its BERT configuration is not valid"),
    (configured(num_hidden_layers=3), "Missing key"),
    (configured(num_hidden_layers=999_999), "holds no 999999 layers"),
]


@pytest.mark.parametrize(("changes", "says"), WRONG)
def test_wrong_parts(tmp_path, changes, says):
    files = {
        name: data for name, data in (members() | changes).items() if data is not None
    }
    with refused(says, ModelError) as error:
        load_srl_bert(write_archive(tmp_path / "m.tgz", files))
    assert "\n" not in str(error.value)


def test_the_reader_used_for_prediction_is_the_validation_one(tmp_path):
    config = json.loads(members("tiny-bert-cased")["config.json"])
    config["validation_dataset_reader"] = config["dataset_reader"]
    config["dataset_reader"] = {"type": "srl", "bert_model_name": "other-uncased"}
    files = members() | {"config.json": json.dumps(config).encode()}
    assert not load_srl_bert(write_archive(tmp_path / "m.tgz", files)).lowercase
