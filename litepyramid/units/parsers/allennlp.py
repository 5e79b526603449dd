"""SRL-BERT archives of AllenNLP, run with today's torch and transformers, its decoding
and all.

An archive is a gzipped tar file that holds ``config.json``, ``weights.th`` (a torch
state dict) and
``vocabulary/``. It is read in memory: nothing in it is unpacked, followed or run.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from io import BytesIO
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import file_type, read_json, read_lines, split_lines
from litepyramid.progress import bar
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parses import Frame, ParsedBatch, ParsedReference, with_frames

if TYPE_CHECKING:
    import torch

_WHAT = (
    "an AllenNLP archive of an SRL-BERT model (config.json, weights.th, "
    "vocabulary/labels.txt)"
)
_LABELS = "vocabulary/labels.txt"
_UNPADDED = "vocabulary/non_padded_namespaces.txt"
_NEEDED = ("config.json", "weights.th", _LABELS, _UNPADDED)
_ROOM = 256 << 20
"""Bytes that an archive may hold beyond twice its own size."""
_MEMBERS = 10_000
_PREDICATES = frozenset({"VERB", "AUX"})
"""What AllenNLP's predictor takes for a predicate in English."""
_UNUSED = ("bert_model.embeddings.position_ids", "bert_model.pooler.")
"""Weights that SRL does not use; other unknown ones are refused."""


@dataclass(frozen=True)
class AllenNlpBackend:
    """Frames by an SRL-BERT archive of AllenNLP, of the words that the embedded parser
    calls verbs.

    `bert` is where its BERT's word pieces are, if they are not found by themselves.
    """

    archive: str | Path
    bert: str | Path | None = None
    device: str = "cpu"

    languages: ClassVar[tuple[str, ...]] = ("en",)

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Labels every predicate of every sentence, all of them in common batches."""
        model = load_srl_bert(self.archive, bert=self.bert, device=self.device)
        sentences = [sentence.tokens for r in references for sentence in r.sentences]
        trees = EmbeddedBackend().words(sentences)
        verbs = [
            [i for i, word in enumerate(t) if word.upos in _PREDICATES] for t in trees
        ]
        tagged, cut = tag_predicates(model, sentences, verbs)
        frames = map(tuple, tagged)
        result = tuple(with_frames(reference, frames) for reference in references)
        name = f"allennlp:{Path(self.archive).name}@{model.revision}"
        signature = {"srl": name, "decoding": "allennlp", "verbs": "embedded"}
        counts = {}
        if cut:
            counts["frames of sentences truncated to the model's window"] = cut
        return ParsedBatch(result, signature, counts)


def open_allennlp(argument: str) -> AllenNlpBackend:
    """The backend of ``ARCHIVE,bert=FOLDER,device=cuda``."""
    archive, *options = argument.split(",")
    settings = {name: value for name, _, value in (o.partition("=") for o in options)}
    if (
        not archive
        or not settings.keys() <= {"bert", "device"}
        or "" in settings.values()
    ):
        raise InputError(
            f"the SRL backend 'allennlp' cannot be opened with '{argument}'",
            expected="allennlp:ARCHIVE[,bert=FOLDER][,device=cuda]",
        )
    return AllenNlpBackend(archive, **settings)


@dataclass(frozen=True)
class _Bert:
    """What a BERT's configuration says of how it computes."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12


@dataclass(frozen=True)
class _Model:
    type: str
    bert_model: str | dict[str, Any] | None = None


@dataclass(frozen=True)
class _Reader:
    bert_model_name: str = ""


@dataclass(frozen=True)
class _Config:
    """What is needed of an archive's config.json."""

    model: _Model
    dataset_reader: _Reader
    validation_dataset_reader: _Reader | None = None


@dataclass(frozen=True)
class SrlBert:
    """An SRL-BERT model ready to tag.

    `revision` is the start of the weights' SHA-256; `lowercase`, whether its BERT's
    name holds "uncased", AllenNLP's rule; `network` is the BERT and the projection from
    pieces to labels.
    """

    path: Path
    revision: str
    labels: tuple[str, ...]
    pieces: Mapping[str, int] = field(repr=False)
    lowercase: bool
    window: int
    network: Any = field(repr=False)


def load_srl_bert(
    path: str | Path, *, bert: str | Path | None = None, device: str = "cpu"
) -> SrlBert:
    """Loads an archive of a ``srl_bert`` model (Shi & Lin 2019).

    `bert` is the folder, or the name on the hub, of its BERT's vocab.txt and
    config.json.
    """
    path = Path(path)
    for package in ("torch", "transformers"):
        require(package, extra="nli", purpose="reading AllenNLP archives")
    files = _read_archive(path)
    with loading("config.json cannot be read", path=path):
        text = files["config.json"].read().decode("utf-8-sig")
    values = parse_json(text, path=f"{path}/config.json", error=ModelError)
    config = as_type(
        _Config,
        values,
        what="a broken config.json",
        path=path,
        error=ModelError,
    )

    if config.model.type != "srl_bert":
        raise ModelError(
            f"is a model of the kind '{config.model.type}'",
            path=path,
            expected="the kind 'srl_bert'",
            hint="scripts/train/allennlp_parse.py runs other models in AllenNLP's "
            "environment.",
        )

    name = (config.validation_dataset_reader or config.dataset_reader).bert_model_name
    folder = _find_bert(name, bert, path)
    words = read_lines(folder / "vocab.txt")

    if missing := {"[CLS]", "[SEP]", "[UNK]"}.difference(words):
        raise ModelError(
            f"is not a BERT vocabulary: no {min(missing)}", path=folder / "vocab.txt"
        )

    stated = config.model.bert_model
    if not isinstance(stated, dict):
        stated = read_json(folder / "config.json", "a BERT's configuration", ModelError)
    settings = as_type(
        _Bert,
        stated,
        what="a broken BERT configuration",
        path=path,
        error=ModelError,
    )

    if len(words) > settings.vocab_size:
        what = f"the vocabulary of '{name}' has {len(words)} word pieces, its BERT has"
        raise ModelError(
            f"{what} {settings.vocab_size}",
            path=path,
            hint="It is another BERT's vocabulary: name the right folder with "
            "bert=FOLDER.",
        )

    labels = _read_labels(files, path)
    weights, revision = _read_weights(files["weights.th"], path)
    network = _build(path, settings, len(labels), weights)
    with loading(f"cannot be put on the device '{device}'", path=path):
        network.to(device)
    pieces = {piece: i for i, piece in enumerate(words)}
    window = settings.max_position_embeddings

    return SrlBert(
        path,
        revision,
        labels,
        pieces,
        "uncased" in name,
        window,
        network,
    )


def _read_archive(path: Path) -> dict[str, Any]:
    """The files needed of an archive, open."""
    if file_type(path) != "file":
        raise InputError(
            "no such file",
            path=path,
            expected=_WHAT,
            hint="Check the path.",
        )

    files = {}
    limit = _ROOM + 2 * path.stat().st_size
    hint = "Get the archive again from where it was published."

    with loading(
        "is damaged or not a gzipped tar file",
        path=path,
        expected=_WHAT,
        hint=hint,
    ):
        with gzip.open(path) as packed:
            data = packed.read(limit + 1)
        if len(data) > limit:
            raise ModelError(
                f"holds more than {limit >> 20} MiB, too much for its size",
                path=path,
                hint=hint,
            )

        with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
            for number, member in enumerate(archive):
                if number == _MEMBERS:
                    raise ModelError(
                        f"holds more than {_MEMBERS} files", path=path, hint=hint
                    )
                name = member.name.removeprefix("./")
                if name in _NEEDED and member.isreg() and not member.issparse():
                    files[name] = archive.extractfile(member)

    if missing := [name for name in _NEEDED if name not in files]:
        raise ModelError(f"holds no {missing[0]}", path=path, expected=_WHAT)
    return files


def _read_labels(files: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    """The labels by index; AllenNLP puts padding first in namespaces that it does not
    name."""
    with loading("its vocabulary cannot be read", path=path):
        labels = split_lines(files[_LABELS].read().decode("utf-8-sig"))
        patterns = files[_UNPADDED].read().decode().split()

    if not any(fnmatchcase("labels", pattern) for pattern in patterns):
        labels.insert(0, "@@PADDING@@")
    for number, label in enumerate(labels):
        if not re.fullmatch(r"O|@@(PADDING|UNKNOWN)@@|[A-Z]-\S+", label):
            raise ModelError(
                f"label {number} in vocabulary/labels.txt is '{label}'",
                path=path,
                expected="O, B-ROLE or I-ROLE",
            )

    if len(set(labels)) != len(labels) or not labels:
        raise ModelError(
            "vocabulary/labels.txt is empty or has a label twice", path=path
        )

    return tuple(labels)


def _read_weights(file: Any, path: Path) -> tuple[dict[str, torch.Tensor], str]:
    """The state dict, without what SRL does not use, and its fingerprint."""
    import torch

    size = file.seek(0, 2)
    what = "weights.th is damaged or holds more than plain tensors, and was not loaded"
    with loading(what, path=path, expected="a torch state dict"):
        # Compressed or overlapping parts can fill the memory.
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                parts = [
                    (part.file_size, part.compress_size) for part in archive.infolist()
                ]
            if any(a != b for a, b in parts) or sum(a for a, _ in parts) > size:
                raise ModelError("weights.th holds compressed weights", path=path)

        file.seek(0)
        revision = hashlib.file_digest(file, "sha256").hexdigest()[:12]
        file.seek(0)
        state = torch.load(file, map_location="cpu", weights_only=True)

        # Views of a few numbers can be as large as one likes.
        if sum(tensor.nbytes for tensor in state.values()) > 4 * size:
            raise ModelError("weights.th holds tensors larger than itself", path=path)

    return {
        str(k): v for k, v in state.items() if not str(k).startswith(_UNUSED)
    }, revision


def _find_bert(name: str, named: str | Path | None, archive: Path) -> Path:
    """The folder of a BERT: as named by the user, next to the archive, or on the
    hub."""
    folder = (
        archive.absolute().parent / Path(name).name if named is None else Path(named)
    )
    if file_type(folder / "vocab.txt") == "file":
        return folder
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    repository = str(named or name)
    if "/" not in repository:
        repository = f"google-bert/{repository}"
    with suppress(EntryNotFoundError, OSError, ValueError):
        hf_hub_download(repository, "config.json")
        return Path(hf_hub_download(repository, "vocab.txt")).parent

    what = f"the word pieces of '{named or name}' were not found as a folder"
    raise ModelError(
        f"{what} or on the hub",
        path=archive,
        expected="a folder with vocab.txt and config.json, or a name on the Hugging "
        "Face hub",
        hint="Name the BERT's folder: allennlp:ARCHIVE,bert=FOLDER.",
    )


def _build(
    path: Path, settings: _Bert, labels: int, weights: Mapping[str, torch.Tensor]
) -> Any:
    """The BERT and the projection with the archive's weights, checked by name and
    shape."""
    import torch
    from transformers import BertConfig, BertModel

    # A configuration that claims more layers would be built before it is refused.
    if settings.num_hidden_layers > len(weights):
        raise ModelError(f"holds no {settings.num_hidden_layers} layers", path=path)
    with (
        loading("its BERT configuration is not valid", path=path),
        torch.device("meta"),
    ):
        bert = BertModel(BertConfig(**asdict(settings)), add_pooling_layer=False)
        projection = torch.nn.Linear(settings.hidden_size, labels)
        network = torch.nn.ModuleDict(
            {"bert_model": bert, "tag_projection_layer": projection}
        )

    # On the device "meta" there is no memory for wrong shapes to fill.
    try:
        network.load_state_dict(weights, assign=True)
    except RuntimeError as error:
        why = " ".join(str(error).split())[:400]
        raise ModelError(
            f"its weights do not fit its BERT or labels ({why})", path=path
        ) from None

    # Halves would round on a CPU.
    network.to_empty(device="cpu").float()
    network.load_state_dict(weights)
    return network.train(False)


def tag_predicates(
    model: SrlBert,
    sentences: Sequence[Sequence[str]],
    verbs: Sequence[Sequence[int]],
    *,
    batch_pieces: int = 512,
) -> tuple[list[list[Frame]], int]:
    """Frames of every predicate of every sentence, in the order asked for; how many are
    cut.

    All predicates are sorted by length and run in batches of about `batch_pieces` word
    pieces. A sentence longer than the BERT's positions (512) is cut, predicate by
    predicate, to a window of whole words with the predicate in its middle (AllenNLP
    fails on such a sentence).
    """
    import torch

    waiting = list(jobs(model, sentences, verbs))
    order = sorted(range(len(waiting)), key=lambda number: len(waiting[number].pieces))
    matrix = transitions(model.labels)
    frames: dict[int, Frame] = {}

    with torch.inference_mode(), bar(len(order), "labelling", "predicates") as shown:
        while batch := order[len(frames) : len(frames) + batch_pieces]:
            # All are padded to the longest, which comes last.
            longest = len(waiting[batch[-1]].pieces)
            while len(batch) > 1 and len(batch) * longest > batch_pieces:
                batch.pop()
                longest = len(waiting[batch[-1]].pieces)
            with loading("the model failed", path=model.path):
                logits = forward(model, [waiting[number] for number in batch])
            lengths = [len(waiting[number].pieces) for number in batch]
            for number, path in zip(
                batch, decode(logits, lengths, matrix), strict=True
            ):
                job = waiting[number]
                # A word has its first piece's tag; AllenNLP's padding labels are no
                # roles.
                tags = [model.labels[path[offset]] for offset in job.offsets]
                inside = ["O" if tag.startswith("@@") else tag for tag in tags]
                outside = ["O"] * job.before, ["O"] * job.after
                frames[number] = Frame(job.verb, (*outside[0], *inside, *outside[1]))
            shown.update(len(batch))

    results = iter([frames[number] for number in range(len(order))])
    cut = sum(job.before + job.after > 0 for job in waiting)
    return [[next(results) for _ in row] for row in verbs], cut


@dataclass(frozen=True, slots=True)
class VerbInput:
    """One pass: word-piece ids, which of them are the predicate's, and each word's
    first piece.

    `before` and `after` are the numbers of words outside the window.
    """

    verb: int
    pieces: list[int]
    start: int
    end: int
    before: int
    after: int
    offsets: list[int]


def jobs(
    model: SrlBert, sentences: Sequence[Sequence[str]], verbs: Sequence[Sequence[int]]
) -> Iterator[VerbInput]:
    """One job a predicate; words are cut into pieces once."""
    from tokenizers.models import WordPiece

    cutter = WordPiece(
        dict(model.pieces), unk_token="[UNK]", max_input_chars_per_word=100
    )
    cls = model.pieces["[CLS]"]
    sep = model.pieces["[SEP]"]

    @cache
    def cut(word: str) -> list[int]:
        text = word.lower() if model.lowercase else word
        return [token.id for token in cutter.tokenize(text)]

    for words, indices in zip(sentences, verbs, strict=True):
        pieces = [cut(word) for word in words] if indices else []
        sizes = list(map(len, pieces))
        for verb in indices:
            low, high = _window(sizes, verb, model.window - 2)
            if low == high:
                raise InputError(
                    f"'{words[verb]}' is longer than the model's {model.window} word "
                    "pieces"
                )
            *offsets, _ = accumulate(sizes[low:high], initial=1)
            start = offsets[verb - low]
            ids = [cls, *chain.from_iterable(pieces[low:high]), sep]
            yield VerbInput(
                verb,
                ids,
                start,
                start + sizes[verb],
                low,
                len(words) - high,
                offsets,
            )


def _window(sizes: Sequence[int], verb: int, room: int) -> tuple[int, int]:
    """The words [low, high) around the verb that fit in `room` pieces, as even as can
    be."""
    if sum(sizes) <= room:
        return 0, len(sizes)
    low = high = verb
    used = 0
    grown = True

    while grown:
        grown = False
        # A word behind, a word before, in turn: the verb first of all.
        if high < len(sizes) and used + sizes[high] <= room:
            used, high, grown = used + sizes[high], high + 1, True
        if high > verb and low > 0 and used + sizes[low - 1] <= room:
            used, low, grown = used + sizes[low - 1], low - 1, True

    return low, high


def forward(model: SrlBert, batch: Sequence[VerbInput]) -> torch.Tensor:
    """Logits (rows, pieces, L) of a batch, on the CPU."""
    import torch

    pieces = [torch.tensor(job.pieces) for job in batch]
    ids = torch.nn.utils.rnn.pad_sequence(pieces, batch_first=True)
    places = torch.arange(ids.shape[1]).unsqueeze(0)
    start, end, size = torch.tensor(
        [(j.start, j.end, len(j.pieces)) for j in batch]
    ).T.unsqueeze(2)
    verb = ((start <= places) & (places < end)).long()
    mask = (places < size).long()
    bert, projection = model.network.values()
    inputs = {
        "input_ids": ids,
        "token_type_ids": verb,
        "attention_mask": mask,
    }
    inputs = {
        k: v.to(bert.device) for k, v in (inputs | {"position_ids": places}).items()
    }
    logits: torch.Tensor = projection(bert(**inputs).last_hidden_state)

    return logits.cpu()


def transitions(labels: Sequence[str]) -> torch.Tensor:
    """0 where a label may follow another, else -inf; a start and an end state are the
    last two."""
    import torch

    size = len(labels)
    matrix = torch.zeros(size + 2, size + 2)
    for column, label in enumerate(labels):
        if label.startswith("I"):
            allowed = (label, f"B{label[1:]}")
            forbidden = [
                row for row, previous in enumerate(labels) if previous not in allowed
            ]
            matrix[[*forbidden, size], column] = -torch.inf

    matrix[size + 1] = -torch.inf  # nothing follows the end
    matrix[size:, size:] = -torch.inf
    matrix[:, size] = -torch.inf  # nothing comes before the start
    return matrix


def decode(
    logits: torch.Tensor, lengths: Sequence[int], matrix: torch.Tensor
) -> list[list[int]]:
    """The best label sequence of every row of word pieces, all rows at once.

    As AllenNLP 2.10.1 (``SrlBert``) does it, from which the published models' numbers
    come: the score of a path is the *sum of its probabilities*, in float32, after a
    start of 100000; scores are therefore rounded to 1/128, paths tie, and a tie falls
    as ``torch.topk(k=1)`` lets it fall.

    Of each row of `logits` (rows, pieces, L) the first `lengths` pieces count; `matrix`
    comes from
    `transitions`.
    """
    import torch

    rows, width, size = logits.shape
    ends = torch.full((rows, width, 2), -torch.inf)
    emissions = torch.cat([torch.softmax(logits.float(), -1).cpu(), ends], -1)
    # All labels that are no I- may follow the same labels: equal columns are worked out
    # once.
    columns, of_column = torch.unique(matrix, dim=1, return_inverse=True)
    scores = torch.zeros(rows, size + 2)
    scores[:, size] = 100000.0
    back = torch.empty(width + 1, rows, size + 2, dtype=torch.long)

    for step in range(width + 1):
        best, previous = torch.topk(scores.unsqueeze(2) + columns, k=1, dim=1)
        back[step] = previous.squeeze(1)[:, of_column]
        if step < width:
            scores = emissions[:, step] + best.squeeze(1)[:, of_column]

    pointers = back.numpy()
    paths = []
    for row, length in enumerate(lengths):
        path = [size + 1]
        for step in range(length, 0, -1):
            path.append(int(pointers[step, row, path[-1]]))
        paths.append(path[:0:-1])

    return paths
