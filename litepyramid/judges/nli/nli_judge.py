"""The NLI judge: any sequence classifier from the hub or a folder, exact, fast,
cached."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from litepyramid.errors import InputError, ModelError, choose
from litepyramid.judges.base import (
    Closing,
    Items,
    JudgedBatch,
    Spans,
    best_parts,
    note_cached,
    pair_key,
    windows,
)
from litepyramid.judges.cache import JudgementCache, Stored, check_cache
from litepyramid.judges.nli.answers import answers
from litepyramid.judges.nli.asking import (
    AskingBackend,
    unit_room,
)
from litepyramid.judges.nli.backends import (
    ONNX_TOKENS,
    OnnxBackend,
    TorchBackend,
    as_tokenizer,
    automatic_precision,
    find_device,
    load_tokenizer,
    onnx_threads,
    read_onnx_tokenizer,
)
from litepyramid.judges.nli.checkpoint import Checkpoint, open_checkpoint
from litepyramid.judges.nli.encode import (
    EncodedBatch,
    Pair,
    Tokenizer,
    encode,
    plan_batches,
    split_summary,
)
from litepyramid.judges.nli.modes import presence
from litepyramid.progress import bar
from litepyramid.stats import check_whole
from litepyramid.text import fill, one_line
from litepyramid.types import FloatArray

_PRECISIONS = ("float32", "bfloat16", "float16")


class Backend(Protocol):
    """A loaded classifier."""

    def logits(self, batch: EncodedBatch) -> FloatArray:
        """Logits (pairs, classes) float32 in the model's own class order."""
        ...


class NLIJudge(Closing):
    """Asks an NLI model whether each summary (premise) entails each unit (hypothesis).

    The raw logits of every pair are cached: another mode, other weights or another mix
    of units costs no further judgement, and does not even load the model.

    Args:
        model: Hub id or folder of a sequence classifier: safetensors, or model.onnx
            with tokenizer.json and config.json.
        mode: p3c, l3c, p2c or l2c; none for the one that fits the model: l3c for a
            zero-shot NLI model, p2c for one tuned on presence labels.
        revision: Branch, tag or commit of the hub; the commit is named in the
            signature.
        max_length: The most tokens of a pair; a longer pair has its summary cut, and is
            counted. None for 400, or the most that the model can read if that is less.
        long: What becomes of a summary that does not fit: cut at its end, or split at
            sentences into parts that fit, of which each unit's best counts.
        label_map: Which output is which class, for models that do not name them:
            entailment=0,neutral=1,contradiction=2 or present=1,absent=0.
        backend: torch, onnx, or auto: onnx on the CPU where the folder has a
            model.onnx.
        device: auto (a GPU if there is one), cpu, cuda:1, mps.
        dtype: auto is float32 on CPU and bfloat16 (float16 on older chips) on a GPU; an
            ONNX model has its own. bfloat16 is faster on CPUs that compute in it (AMX,
            AVX512-BF16); a folder with safetensors beside model.onnx is then run by
            torch.
        batch_tokens: The most tokens of a batch of torch, padding included; none for
            4,096 on CPU and 32,768 on a GPU. Fewer need less memory.
        threads: Threads on CPU; none for as many as cores (with torch, those that are
            idle).
        cache: The cache's file; none for a store in memory that ends with the judge;
            default for the user's own.
    """

    portable = True

    def __init__(
        self,
        model: str,
        *,
        mode: str | None = None,
        revision: str | None = None,
        max_length: int | None = None,
        long: Literal["cut", "split"] = "cut",
        label_map: str | None = None,
        backend: Literal["auto", "torch", "onnx"] = "auto",
        device: str = "auto",
        dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto",
        batch_tokens: int | None = None,
        threads: int | None = None,
        cache: str | Path | None = "default",
    ) -> None:
        settings = {k: v for k, v in locals().items() if k not in ("self", "model")}
        choose("dtype", dtype, ("auto", *_PRECISIONS))
        choose("value of long", long, ("cut", "split"))
        choose("backend", backend, ("auto", "torch", "onnx"))
        if batch_tokens is not None:
            check_whole("batch_tokens", batch_tokens)
        if threads is not None:
            check_whole("threads", threads)
        check_cache(cache)
        self.checkpoint: Checkpoint = open_checkpoint(
            str(model),
            revision=revision,
            label_map=label_map,
            backend=backend,
            device=device,
            dtype=dtype,
        )

        self.mode = self.checkpoint.mode(mode)
        self.max_length = self.checkpoint.max_length(max_length)
        self.device, self._precision = device, None if dtype == "auto" else str(dtype)

        if self.checkpoint.onnx:
            if device not in ("auto", "cpu") or dtype != "auto":
                raise InputError(
                    "a device or dtype for an ONNX model", expected="the CPU, auto"
                )
            self.device, self._precision = "cpu", "onnx"

        self._long, self._threads, self._batch_tokens = long, threads, batch_tokens
        # Codes of the languages that the model reads: () for many, None if that is not
        # known.
        self.languages = self.checkpoint.card.languages
        # An ONNX model is on as many threads as cores by itself: no further process
        # pays.
        self.start_cost = 10**12 if self.checkpoint.onnx else 0
        self._cache = JudgementCache(cache)
        # Whether the loaded model was seen to be the one that was opened.
        self._checked = False
        if self.checkpoint.revision is None:
            model = str(Path(model).expanduser().absolute())
        settings["cache"] = self._cache.path and self._cache.path.absolute()
        self._remake: partial[Any] = partial(NLIJudge, model, **settings)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes its own, from the same settings."""
        return self._remake, ()

    def close(self) -> None:
        """Frees the model and the cache."""
        self.__dict__.pop("_backend", None)
        self.__dict__.pop("_asking", None)
        self._checked = False
        self._cache.close()

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary.

        Tabs and line breaks are read as a space: the models learn from texts of one
        line.
        """
        return self._asked(items)

    def _asked(self, items: Items, each: float = 1.0) -> JudgedBatch:
        """`judge`, where one pair of the user is `each` pairs of these on average."""
        lines = [(one_line(text), [*map(one_line, units)]) for text, units in items]
        judge = partial(self._judge, each=each)
        if self._long == "split":
            return best_parts(judge, lines, self._parts(lines))[0]
        return judge(lines)

    def signature(self) -> dict[str, str]:
        """The judge's part of the signature."""
        point = self.checkpoint
        revision = point.revision or point.fingerprint
        return {
            "judge": point.label,
            "revision": revision.removeprefix("sha256:")[:12],
            "mode": self.mode,
            **({"classes": point.relabelled} if point.relabelled else {}),
            "max_length": str(self.max_length),
            "dtype": self._precision or "auto",
            **({"long": "split"} if self._long == "split" else {}),
            **({"template": point.card.template_sha} if point.card.template else {}),
        }

    def _parts(self, items: Items) -> list[Spans]:
        """Each summary's parts that fit next to its units."""
        core = self._tokenizer.core
        template = self.checkpoint.card.template
        if template is None:
            fixed = int(core.num_special_tokens_to_add(True))
        else:
            # Three to spare: tokens at the seams may part when the texts are put in.
            fixed = 3 + len(core.encode(fill(template, premise="", hypothesis="")).ids)

        @lru_cache(65_536)
        def length(text: str) -> int:
            return len(core.encode(text, add_special_tokens=False).ids)

        once = self.checkpoint.reading is not None
        least = unit_room(self.max_length) - fixed + 2 if once else 0
        parts = []

        for text, units in items:
            longest = max(map(length, units), default=0)
            room = self.max_length - fixed - max(least, longest)
            parts.append(split_summary(text, room, length) if units else [(0, 0)])

        return parts

    def _judge(self, items: Items, each: float) -> JudgedBatch:
        self._precision = self._precision or self._choose_precision(items)
        counts = dict.fromkeys(
            ("pairs", "truncated", "empty", "from_cache", "judged"), 0
        )
        counts["pairs"] = sum(len(units) for _, units in items)
        raw: list[FloatArray] = []

        try:
            with bar(
                counts["pairs"], "judging", "pairs", each=each, judging=True
            ) as shown:
                for window in windows(items):
                    raw += self._raw(window, counts, shown)
        except KeyboardInterrupt as stop:
            note_cached(stop, counts["judged"], self._cache.path)
            raise

        values = []
        logits = []
        distances = []
        for rows, (text, units) in zip(raw, items, strict=True):
            if text.strip():
                logits.append(self.checkpoint.order.logits(rows))
                values.append(presence(logits[-1], self.mode))
                distances.append(rows[:, 3:].sum(axis=1))
            else:
                # An empty summary carries no unit, whatever a model would say of it.
                logits.append(np.full((len(units), 3), np.nan))
                values.append(np.zeros(len(units)))
                distances.append(np.ones(len(units)))

        batch = JudgedBatch(tuple(values), self.signature(), counts, tuple(logits))
        if self.checkpoint.reading is None:
            return batch
        return replace(batch, distances=tuple(distances))

    def _raw(
        self, items: Items, counts: dict[str, int], shown: Any
    ) -> Iterator[FloatArray]:
        """What the model says of every item, as many items as are held in memory at
        once."""
        pairs = _pairs_of(items)
        identity = self._identity(str(self._precision))
        stored = self._cache.get(identity, list(pairs))
        counts["from_cache"] += len(stored)
        # Pairs that are cached or repeated take no time and are not in the bar.
        shown.total -= sum(len(units) for _, units in items) - (
            len(pairs) - len(stored)
        )

        # Where nothing is missing the model is not even loaded.
        missing: Iterator[dict[bytes, Stored]] = iter(())
        if len(stored) < len(pairs):
            reads = self._judge_missing
            if self.checkpoint.reading is not None:
                reads = self._ask_missing
            missing = reads(pairs, stored)

        for rows in missing:
            self._cache.put(identity, rows)
            stored |= rows
            counts["judged"] += len(rows)
            shown.update(len(rows))

        classes = len(self.checkpoint.order.classes)
        for summary, units in items:
            if not summary.strip():
                counts["empty"] += len(units)
                yield np.zeros((len(units), classes))
                continue
            judged = [stored[pair_key(summary, unit)] for unit in units]
            counts["truncated"] += sum(row.truncated for row in judged)
            raw = np.array([np.frombuffer(row.value, "<f4") for row in judged])
            yield raw.reshape(len(units), -1 if judged else classes)

    def _judge_missing(
        self, pairs: Mapping[bytes, Pair], stored: Mapping[bytes, Stored]
    ) -> Iterator[dict[bytes, Stored]]:
        """Judges those pairs that are not in `stored`, batch by batch.

        Batches are planned over all pairs: a run that continues after a break makes
        those of an unbroken one, and so the very same numbers.
        """
        keys = list(pairs)
        texts = list(pairs.values())
        backend, budget = self._backend
        template = self.checkpoint.card.template
        encoded = encode(self._tokenizer, self.max_length, texts, template)
        self._check_loaded()

        for batch in plan_batches(encoded.lengths, budget):
            missing = [index for index in batch if keys[index] not in stored]
            if not missing:
                continue
            raw = np.asarray(backend.logits(encoded.batch(missing)), dtype="<f4")
            if not np.isfinite(raw).all():
                raise ModelError(
                    "the model's logits are not finite numbers",
                    hint="Its weights are damaged, or need more precision: "
                    "dtype=float32.",
                )
            rows = zip(missing, raw, encoded.truncated[missing].tolist(), strict=True)
            yield {keys[index]: Stored(row.tobytes(), cut) for index, row, cut in rows}

    def _ask_missing(
        self, pairs: Mapping[bytes, Pair], stored: Mapping[bytes, Stored]
    ) -> Iterator[dict[bytes, Stored]]:
        """Judges those pairs that are not in `stored`, all units of a summary in a
        call.

        A unit's logits are the same whatever else is asked.
        """
        missing = {key: pair for key, pair in pairs.items() if key not in stored}
        backend = self._asking
        self._check_loaded()
        threads = self._threads or onnx_threads()
        yield from answers(backend, missing, self._tokenizer, self.max_length, threads)

    def _check_loaded(self) -> None:
        """Sees, once, that what was loaded is what the signature names."""
        if not self._checked:
            self.checkpoint.check_unchanged()
            self._checked = True

    @cached_property
    def _asking(self) -> AskingBackend:
        path = self.checkpoint.onnx
        if path is None:
            raise ModelError(
                "a model of this kind runs as ONNX alone",
                path=self.checkpoint.source,
                expected="model.onnx, on the CPU",
            )
        return AskingBackend(path, self.checkpoint.match_from)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        point = self.checkpoint
        if point.onnx is not None:
            return read_onnx_tokenizer(point.onnx.parent)
        return as_tokenizer(load_tokenizer(point.source, point.revision))

    @cached_property
    def _backend(self) -> tuple[Backend, int]:
        """The model, and the most tokens of its batches."""
        if self.checkpoint.onnx is not None:
            return OnnxBackend(self.checkpoint.onnx, self._threads), ONNX_TOKENS
        device = find_device(self.device)
        backend = TorchBackend(
            self.checkpoint, str(self._precision), device, self._threads
        )
        return backend, self._batch_tokens or (4_096 if device == "cpu" else 32_768)

    def _identity(self, precision: str) -> str:
        """What the cache files judgements under; everything here can change a logit."""
        card = self.checkpoint.card
        fields = {
            "model": self.checkpoint.fingerprint,
            "max_length": self.max_length,
            "dtype": precision,
            **({"template": card.template_sha} if card.template else {}),
        }
        return json.dumps(fields, sort_keys=True)

    def _choose_precision(self, items: Items) -> str:
        """The automatic precision; that of the cache if it holds every pair, without
        torch."""
        if self.device == "cpu":
            return "float32"
        for precision in _PRECISIONS:
            identity = self._identity(precision)
            keys = (list(_pairs_of(window)) for window in windows(items))
            if all(len(self._cache.get(identity, some)) == len(some) for some in keys):
                return precision
        return automatic_precision(self.device)


def _pairs_of(items: Items) -> dict[bytes, Pair]:
    """The distinct (summary, unit) pairs of summaries that are not empty, by their
    keys."""
    pairs = ((text, unit) for text, units in items if text.strip() for unit in units)
    return {pair_key(*pair): pair for pair in pairs}
