"""The NLI judge: any sequence classifier from the hub or a folder, exact, fast, cached."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.base import Items, JudgedBatch, note_kept, pair_key, pairs_of, windows
from litepyramid.judges.cache import LogitCache, StoredLogits
from litepyramid.judges.evidence import Spans, best_parts
from litepyramid.judges.nli.checkpoint import Checkpoint, file_sha256, open_checkpoint
from litepyramid.judges.nli.encode import Pair
from litepyramid.judges.nli.engine import Engine, automatic_precision, find_devices
from litepyramid.judges.nli.forward import Precision, load_tokenizer
from litepyramid.judges.nli.modes import presence
from litepyramid.judges.nli.split import parts
from litepyramid.progress import bar
from litepyramid.text import counted, fill, one_line
from litepyramid.types import FloatArray

_POLL_SECONDS = 0.1


class TransformersJudge:
    """Asks an NLI model whether each summary (premise) entails each unit (hypothesis).

    The raw logits of every pair are kept in the cache, so that another mode, other weights or
    another mix of units costs no further judgement, and does not even load torch.

    Args:
        model: Hub id or folder of a sequence classifier.
        mode: p3c, l3c, p2c or l2c (SPEC: ZB21 §3.1); None for the one that fits the model: l3c
            for a zero-shot NLI model, p2c for one tuned on presence labels.
        revision: Branch, tag or commit of the hub; the commit is named in the signature.
        max_length: The most tokens of a pair; a longer pair has its summary cut, and is counted.
            None for 400, or the most that the model can read if that is less.
        device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda:1``, ``mps``.
        devices: Several devices, each with a model of its own; ``("all",)`` for every GPU.
        dtype: ``auto`` is float32 on CPU and bfloat16 (float16 on older chips) on a GPU.
            ``int8`` quantises the linear layers, on CPU only; it is refused if it moves the
            presence of a sample of the pairs by more than .005 on average.
        batch_tokens: The most tokens of a batch, padding included; None for 4,096 on CPU and
            32,768 on a GPU. A batch that does not fit into memory is halved.
        threads: Threads of a model on CPU; None for as many as cores that nobody uses now.
        label_map: Which of the model's labels is entailment, neutral, contradiction (or present,
            absent), for models that do not name them so.
        offline: Look only in the local hub cache.
        long: What becomes of a summary that does not fit: ``cut`` at its end, or ``split`` at
            sentences into parts that fit, of which each unit's best counts.
        cache: The cache's file; None for a store in memory that ends with this object;
            ``"default"`` for the user's own, see `cache_file.default_cache_path`.
        progress: Show a progress bar on stderr; None to show it on a terminal only.

    Raises:
        ModelError: There is no such model, or it cannot judge.
        InputError: A parameter does not fit the model.

    Example:
        ```python
        judge = TransformersJudge("shiyue/roberta-large-tac08")
        batch = judge.judge([("The cat sat on the mat.", ["A cat sat.", "A dog sat."])])
        batch.presence[0]  # two values in [0, 1]
        ```
    """

    def __init__(
        self,
        model: str,
        *,
        mode: str | None = None,
        revision: str | None = None,
        max_length: int | None = None,
        device: str = "auto",
        devices: Sequence[str] | None = None,
        dtype: str = "auto",
        batch_tokens: int | None = None,
        threads: int | None = None,
        label_map: Mapping[str, str] | None = None,
        offline: bool = False,
        long: Literal["cut", "split"] = "cut",
        cache: Path | Literal["default"] | None = "default",
        progress: bool | None = None,
    ) -> None:
        precisions: dict[str, Precision] = {name: name for name in get_args(Precision)}
        if dtype not in ("auto", *precisions):
            raise InputError(f"unknown dtype '{dtype}'", expected=", ".join(["auto", *precisions]))
        if batch_tokens is not None and batch_tokens < 1:
            raise InputError(f"{counted(batch_tokens, 'token')} a batch", expected="at least 1")
        if long not in ("cut", "split"):
            raise InputError(f"long is '{long}'", expected="cut or split")
        self._cache = LogitCache(cache)
        self.checkpoint: Checkpoint = open_checkpoint(
            model,
            revision=revision,
            offline=offline,
            label_map=label_map,
            digest=lambda path: self._cache.file_digest(path, file_sha256),
        )
        self.mode = self.checkpoint.mode(mode)
        self.max_length = self.checkpoint.max_length(max_length)
        self._precision = precisions.get(dtype)
        self._device, self._devices = device, devices
        self._batch_tokens, self._threads = batch_tokens, threads
        self._long, self._progress = long, progress
        self._engine: Engine | None = None

    def __enter__(self) -> TransformersJudge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the model and the cache."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        self._cache.close()

    def forget(self) -> None:
        """Empties the store in memory; a cache in a file is left as it is."""
        if self._cache.path is None:
            self._cache.clear()

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary.

        Tabs and line breaks are read as a space: the models learn from texts of one line.

        Args:
            items: (summary, units) pairs.

        Returns:
            Presence per item, in order, with the logits (units, 3) as entailment, neutral,
            contradiction. An empty summary carries no unit: its presence is 0 and its logits are
            NaN. Counts: ``pairs`` asked for; ``truncated`` of them with a cut summary; ``empty``
            of them with an empty summary; and among the distinct pairs ``from_cache``, ``judged``
            by this run, and ``judged_elsewhere`` by another that shares the cache.

        Raises:
            InputError: A unit is too long to be judged at this maximum length.
            ModelError: The model cannot be loaded, or fails.
        """
        items = [(one_line(text), [one_line(unit) for unit in units]) for text, units in items]
        if self._long == "split":
            return best_parts(self._judge, items, self._parts(items))[0]
        return self._judge(items)

    def _parts(self, items: Items) -> list[Spans]:
        point = self.checkpoint
        tokenizer = load_tokenizer(point.source, point.revision, offline=point.offline)
        if point.card.template is None:
            fixed = tokenizer.num_special_tokens_to_add(pair=True)
        else:
            empty = fill(point.card.template, premise="", hypothesis="")
            fixed = 3 + len(tokenizer(empty).input_ids)

        @lru_cache(65_536)
        def length(text: str) -> int:
            return len(tokenizer.tokenize(text))

        def room(unit: str) -> int:
            return self.max_length - int(fixed) - length(unit)

        return [parts(text, units, room, length) for text, units in items]

    def _judge(self, items: Items) -> JudgedBatch:
        precision = self._precision = self._precision or self._choose_precision(items)
        counts = dict.fromkeys(
            ("pairs", "truncated", "empty", "from_cache", "judged", "judged_elsewhere"), 0
        )
        logits: list[FloatArray] = []
        counts["pairs"] = sum(len(units) for _, units in items)
        try:
            with bar(counts["pairs"], "judging", "pairs", shown=self._progress) as shown:
                for window in windows(items):
                    logits += self._logits(window, precision, counts, shown)
        except KeyboardInterrupt as stop:
            note_kept(stop, counts["judged"], self._cache.path)
            raise
        found = tuple(
            presence(rows, self.mode) if text.strip() else np.zeros(len(units))
            for rows, (text, units) in zip(logits, items, strict=True)
        )
        return JudgedBatch(found, self.signature(), counts, tuple(logits))

    def signature(self) -> dict[str, str]:
        """The judge's part of the signature."""
        point = self.checkpoint
        template = {"template": point.card.template_sha} if point.card.template else {}
        return {
            "judge": point.name,
            "revision": (point.revision or point.fingerprint.removeprefix("sha256:"))[:12],
            "mode": self.mode,
            "max_length": str(self.max_length),
            "dtype": self._precision or "auto",
            **({"long": "split"} if self._long == "split" else {}),
            **template,
        }

    def _logits(
        self, items: Items, precision: Precision, counts: dict[str, int], shown: Any
    ) -> Iterator[FloatArray]:
        """The logits of every item, as many items as are held in memory at once."""
        pairs = pairs_of(items)
        identity = self._identity(precision)
        stored = self._cache.get(identity, list(pairs))
        known = len(stored)
        counts["from_cache"] += known
        # Pairs that are known or repeated take no time and are not in the bar.
        shown.total -= sum(len(units) for _, units in items) - (len(pairs) - known)
        if known < len(pairs):
            engine = self._loaded(precision)
            shown.unpause()  # what the model took to load does not count
            judged = _judge_missing(self._cache, identity, engine, pairs, stored, counts, shown)
            counts["judged_elsewhere"] += len(pairs) - known - judged
        order = self.checkpoint.order
        for summary, units in items:
            if not summary.strip():
                counts["empty"] += len(units)
                yield np.full((len(units), 3), np.nan)
                continue
            found = [stored[pair_key(summary, unit)] for unit in units]
            counts["truncated"] += sum(kept.truncated for kept in found)
            raw = np.array([np.frombuffer(kept.raw, "<f4") for kept in found])
            yield order.logits(raw.reshape(len(units), -1 if found else len(order.classes)))

    def _loaded(self, precision: Precision) -> Engine:
        if self._engine is None:
            self._engine = Engine(
                self.checkpoint,
                self.mode,
                self.max_length,
                precision,
                find_devices(self._device, self._devices),
                self._batch_tokens,
                self._threads,
            )
        return self._engine

    def _identity(self, precision: str) -> str:
        """What the cache files judgements under; everything here can change a logit."""
        card = self.checkpoint.card
        template = {"template": (card.template_sha, card.answers)} if card.template else {}
        return json.dumps(
            {
                "model": self.checkpoint.fingerprint,
                "max_length": self.max_length,
                "dtype": precision,
                **template,
            },
            sort_keys=True,
        )

    def _choose_precision(self, items: Items) -> Precision:
        """The automatic precision, once for this object.

        If the cache holds every pair at one precision, that one, and torch is not loaded.
        """
        precisions: list[Precision] = ["float32", "bfloat16", "float16"]
        for precision in precisions[: 1 if self._device == "cpu" else 3]:
            identity = self._identity(precision)
            keys = (list(pairs_of(window)) for window in windows(items))
            if all(len(self._cache.get(identity, own)) == len(own) for own in keys):
                return precision
        return automatic_precision(find_devices(self._device, self._devices)[0])


def _judge_missing(
    cache: LogitCache,
    identity: str,
    engine: Engine,
    pairs: Mapping[bytes, Pair],
    stored: dict[bytes, StoredLogits],
    counts: dict[str, int],
    shown: Any,
) -> int:
    """Judges those pairs that are not in `stored`, adds them, and counts those it judged.

    Batches are planned over all pairs, those in the cache too: a run that continues after a break
    makes the very batches of an unbroken one, and so the very same numbers.
    """
    keys = list(pairs)
    encoder, plan = engine.plan(list(pairs.values()))
    elsewhere: list[bytes] = []
    judged = counts["judged"]

    def claimed(batches: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        for batch in batches:
            wanted = {keys[index]: index for index in batch if keys[index] not in stored}
            mine = cache.claim(identity, list(wanted)) if wanted else []
            elsewhere.extend(wanted.keys() - set(mine))
            if mine:
                yield [wanted[key] for key in mine]

    def run(batches: Sequence[Sequence[int]]) -> None:
        for indices, logits in engine.run(encoder, claimed(batches)):
            raw = np.asarray(logits, dtype="<f4")
            if not np.isfinite(raw).all():
                raise ModelError(
                    "the model returns logits that are not finite numbers",
                    hint="Its weights are damaged, or need more precision: --dtype float32.",
                )
            fresh = {
                keys[index]: StoredLogits(row.tobytes(), bool(encoder.truncated[index]))
                for index, row in zip(indices, raw, strict=True)
            }
            cache.put(identity, fresh)
            stored.update(fresh)
            counts["judged"] += len(fresh)
            shown.update(len(fresh))

    run(plan)
    while elsewhere:  # what other processes have claimed: wait for it, or do it if they ended
        found = cache.get(identity, elsewhere)
        stored.update(found)
        shown.update(len(found))
        elsewhere.clear()
        rest = [[i for i in batch if keys[i] not in stored] for batch in plan]
        before = counts["judged"]
        run([batch for batch in rest if batch])
        if elsewhere and counts["judged"] == before and not found:
            time.sleep(_POLL_SECONDS)
    return counts["judged"] - judged
