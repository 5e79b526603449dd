"""Fine-tuning from data sets to a judge with a card."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from litepyramid._version import __version__
from litepyramid.data.data import Data
from litepyramid.disk import new_folder
from litepyramid.errors import InputError, no_effect
from litepyramid.files import file_type
from litepyramid.judges.evaluate import QUALITY
from litepyramid.judges.labelled import label_notes, labelled
from litepyramid.judges.lexical.lexical_judge import save_lexical
from litepyramid.judges.nli.model_folder import CARD_FILE
from litepyramid.judges.registry import EMBEDDED, REFITTED, check_trainable
from litepyramid.judges.registry import judge as make_judge
from litepyramid.language import check_language, language_of
from litepyramid.tables import Result, Table, plain
from litepyramid.text import counted
from litepyramid.training.pairs import (
    Source,
    as_sources,
    by_summary,
    labelled_pairs,
    split_data,
    weighted_pairs,
    without,
)
from litepyramid.training.run import train_transformer
from litepyramid.training.settings import (
    FinetuneSettings,
    as_settings,
    check_used,
    made_from,
    read_note,
    run_facts,
    settled,
    write_card,
)
from litepyramid.training.trainer import EpochQuality
from litepyramid.training.validation import ValidationResult, validate
from litepyramid.types import (
    DataLike,
    Fields,
    LabelledSources,
    Names,
    OutPath,
    Signature,
)


@dataclass(frozen=True)
class FinetuneResult(Result):
    """The result of a fine-tuning run.

    Attributes:
        folder: The judge; `card` is its ``litepyramid.json``.
        held_out: For each data set with held-out inputs, the judge's quality on them.
        history: The figures of every evaluation set after every epoch.
        notes: What of the data was left out: it has no labels, or is tested on.
    """

    folder: Path
    card: Mapping[str, Any]
    held_out: tuple[ValidationResult, ...]
    history: tuple[EpochQuality, ...] = ()
    notes: Names = ()

    @property
    def signature(self) -> Signature:
        """The base, pairs (their SHA-256) and settings that the judge was made from."""
        return Signature.of(
            base=self.card["base"],
            base_sha=self.card.get("base_sha"),
            revision=self.card["revision"],
            pairs_sha=self.card["data"]["sha256"][:8],
            **self.card["settings"],
        )

    def to_tables(self) -> Sequence[Table]:
        """The figures after every epoch, and the held-out results of every data set."""
        # A folder may be called like a judge: by its whole path it is the folder.
        where = self.folder.absolute()
        note = f"The judge is in {where}: name this folder as the judge."
        if head := self.card.get("head"):
            note = f"Its head is {head}. {note}"
        tables: list[Table] = []
        for result in self.held_out:
            tables += result.to_tables()
        if self.history:
            columns = ("epoch", "set", "pairs", *QUALITY)
            tables.insert(0, Table.of("After every epoch", columns, self.history))

        if not tables:
            title = "Fine-tuned; nothing was held out"
            return [Table(title, (), (), (*self.notes, note))]

        last = tables[-1]
        notes = (*last.notes, *self.notes, note)
        return [*tables[:-1], replace(last, notes=notes)]


def finetune(
    base: str,
    data: DataLike = None,
    *,
    output: OutPath,
    pairs: Sequence[object] = (),
    evaluate: Sequence[object] = (),
    settings: Sequence[str] = (),
    **sources: Unpack[LabelledSources],
) -> FinetuneResult:
    """Fine-tune a judge on human presence labels; run again to continue a stopped run.

    Inputs of each data set are held out to measure what was learned (settings:
    held_out). Data sets and files of pairs are mixed; each goes into a pass as often as
    its weight says. A small model, and whatever mini becomes, is exported to ONNX and
    judges without torch.

    Args:
        base: lexical to refit its weights; mini; else a hub id or folder of an NLI
            model.
        data: Summaries with units and labels.
        output: The folder to create: the judge.
        pairs: Files of pairs to train on as well, JSON Lines or tables (premise,
            hypothesis, and present from 0 to 1 or label e, n, c), with a weight as in
            pairs.jsonl=0.5.
        evaluate: Files of pairs, or data sets, to evaluate on after every epoch.
        settings: Settings as KEY=VALUE: epochs, learning_rate (1e-4 suits mini),
            warmup, schedule, batch_size, batches, max_length, weight_decay, head,
            packed, early_stop, held_out, bf16, onnx, seed, device, revision,
            label_map.
        **sources: As for `load`; `data` may also be a list of data sets, each perhaps
            with a weight.

    Returns:
        The folder, its card, and the held-out accuracy, AUC, Brier score and
        correlations.

    Raises:
        InputError: Nothing to train on, or something is at `output` already (but a
            judge of this very run that was stopped while it was evaluated is evaluated
            again).
        ModelError: The base cannot be fine-tuned.
        MissingExtraError: The extra `train` is not installed.

    Command line:
        $ litepyramid finetune lexical example/summaries -u example/scus.jsonl \\
            -l example/labels -o my-judge
        $ litepyramid finetune mini example/summaries -u example/scus.jsonl \\
            -l example/labels --setting epochs=1 --setting learning_rate=1e-4 -o tuned
    """
    chosen, others = as_settings(settings)
    if others:
        names = ", ".join(field.name for field in fields(FinetuneSettings))
        raise InputError(f"unknown setting '{min(others)}'", expected=f"one of {names}")

    check_trainable(base)
    base, goal = str(base), Path(output)
    check_used(chosen, base)
    card = read_note(goal / CARD_FILE)
    # A run that was stopped while it evaluated left a model whose card lacks this.
    if file_type(goal) and (not card or "held_out" in card):
        raise InputError("already exists", path=goal, hint="Name a new folder.")
    language = sources.pop("language", None)
    mixture = []
    if sources:
        mixture = as_sources(labelled(data, **sources))
    elif data is not None:
        mixture = as_sources(data)
    mixture += as_sources(pairs)

    if not mixture:
        raise InputError(
            "nothing to learn from", expected="labelled data, or files of pairs"
        )

    tests = as_sources(evaluate)
    why = f"on {base}, which is fitted at once"
    no_effect(finetune, base in REFITTED, why, evaluate=tuple(tests))
    if len({test.name for test in tests}) < len(tests):
        names = ", ".join(test.name for test in tests)
        raise InputError(
            f"sets of one name to evaluate on ({names})", expected="names that differ"
        )

    return _run(base, mixture, tests, goal, settled(base, chosen), language)


def _run(
    base: str,
    mixture: Sequence[Source],
    tests: Sequence[Source],
    goal: Path,
    settings: FinetuneSettings,
    language: str | None,
) -> FinetuneResult:
    rng = np.random.default_rng(settings.seed)
    train = []
    held = []
    held_out: list[list[str]] = []
    notes: Names = ()

    for source in mixture:
        pairs = source.pairs
        away: Names = ()
        if source.data is not None:
            pairs, away = split_data(source.data, settings.held_out, rng)
            held += [(source.data, away)] if away else []
        held_out.append(_texts_of(source.data, away))
        train.append(weighted_pairs(pairs, source.weight, rng))

    # What one source holds out may stand in another.
    data = []
    for place, pairs in enumerate(train):
        others = chain(*held_out[:place], *held_out[place + 1 :])
        left, shared = without(pairs, others)
        data += left
        notes += shared

    data.sort()
    datasets = [source.data for source in mixture if source.data is not None]
    if base in EMBEDDED:
        told = [language, *[dataset.language for dataset in datasets]]
        texts = []
        for pair in data:
            texts += [pair.premise, pair.unit]
        code = language_of({"texts": texts}, next(filter(None, told), None))
        check_language("judge", code, f"the judge {base}")

    facts = run_facts(base, data, settings)
    history: tuple[EpochQuality, ...] = ()
    if made_from(goal, base, data, settings):
        pass  # a run that was stopped while it evaluated
    elif base in REFITTED:
        model = REFITTED[base][1](*by_summary(data))
        with new_folder(goal) as folder:
            save_lexical(model, folder / f"{base}.json")
            write_card(folder, {"updates": None, **facts})
    else:
        unseen = []
        for dataset, inputs in held:
            unseen += labelled_pairs(dataset, inputs)
        # Labels of people, or shares of presence, have taught it what summaries leave
        # out; a model that saw classes alone judges as any model of NLI.
        graded = datasets or any(pair.label < 1 for pair in data)
        presence = graded or settings.head != "three-class"
        history = train_transformer(
            base,
            data,
            goal,
            settings,
            development=unseen if settings.early_stop else None,
            evaluation={test.name: test.pairs for test in tests},
            kind="presence" if presence else "zero-shot",
        ).history

    device = {} if base in REFITTED else {"device": settings.device}
    judge = make_judge(str(goal.absolute()), **device)
    results = []
    measured = []
    for one, inputs in held:
        result = validate(one, {"tuned": judge}, inputs=inputs)
        name = f"{one.name}, {counted(len(inputs), 'held-out input')}"
        # Its notes are told once, of the whole data set.
        results.append(replace(result, dataset=name, notes=()))
        measured.append({"data_set": one.name, "inputs": [*inputs], **_numbers(result)})

    card = {
        **read_note(goal / CARD_FILE),
        **facts,
        "data": {
            "sets": [dataset.name for dataset in datasets],
            "pair_files": [source.name for source in mixture if source.data is None],
            "weights": [source.weight for source in mixture],
            **facts["data"],
        },
        "history": [plain(row) for row in history],
        "held_out": measured,
        "versions": _versions(),
    }
    write_card(goal, card)
    for dataset in datasets:
        notes += label_notes(dataset)

    return FinetuneResult(goal, card, tuple(results), history, notes)


def _texts_of(data: Data | None, inputs: Names) -> list[str]:
    """The summaries of some inputs; those that are missing are none."""
    if data is None:
        return []
    chosen = data.summaries.take(data.systems, inputs)
    return [text for row in chosen.texts for text in row if text is not None]


def _numbers(result: ValidationResult) -> Fields:
    """Accuracy, AUC, Brier, and the correlations of the judge's own mode."""
    correlations = {}
    for s in result.scores:
        if s.mode == result.default_mode("tuned"):
            correlations[f"{s.units}_{s.level}_{s.coefficient}"] = s.value
    means = plain(result.quality_means("tuned"))
    return {**means, "correlations": plain(correlations)}


def _versions() -> dict[str, str]:
    versions = {"litepyramid": __version__, "python": platform.python_version()}
    for package in ("torch", "transformers", "accelerate", "numpy"):
        if find_spec(package):
            versions[package] = version(package)
    return versions
