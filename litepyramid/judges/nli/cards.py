"""Known public judge checkpoints: their mode and class order.

The mode is the one that the paper found best for the kind of model (ZB21 §3.1): l3c for a
zero-shot NLI model, p2c for one tuned on presence labels. The same table, with licences and
sizes, stands in models/README.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from litepyramid.checked import as_type
from litepyramid.errors import ModelError
from litepyramid.files import read_json
from litepyramid.judges.nli.labels import THREE, TWO
from litepyramid.judges.nli.modes import Mode

Kind = Literal["zero-shot", "presence"]

_PLACES = ("{premise}", "{hypothesis}")

#: A folder that holds a fine-tuned judge says here what it is.
CARD_FILE = "litepyramid.json"

DEFAULT_MODE: Mapping[Kind, Mode] = {"zero-shot": "l3c", "presence": "p2c"}


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """What the judge must know about a checkpoint that its `config.json` does not contain.

    Attributes:
        kind: ``"zero-shot"`` (an NLI model that never saw summaries) or ``"presence"`` (tuned on
            presence labels).
        order: The classes in the order of the model's outputs; used only where the model's own
            labels are ``LABEL_0`` and so on.
        mode: The mode to use unless the user names one.
        template: The one text that the model reads in place of a pair, with ``{premise}``,
            ``{hypothesis}``, and ``{eos}`` for the tokenizer's end-of-sequence token.
        answers: Of a model that writes: the ids of the tokens that begin "no" and "yes". Presence
            is judged by their logits in its first step.
        max_length: The most tokens of a pair unless the user says otherwise.
        languages: Codes of the languages that it reads; empty if that is not known, or many.
    """

    kind: Kind
    order: tuple[str, ...] | None = None
    mode: Mode | None = None
    template: str | None = None
    answers: tuple[int, int] | None = None
    max_length: int | None = None
    languages: tuple[str, ...] = ()

    @property
    def default_mode(self) -> Mode:
        """The card's mode, else that of its kind."""
        return self.mode or DEFAULT_MODE[self.kind]

    @property
    def template_sha(self) -> str:
        """Eight hexadecimal digits that name the template."""
        return sha256((self.template or "").encode()).hexdigest()[:8]


_ENC = ("entailment", "neutral", "contradiction")
_CNE = ("contradiction", "neutral", "entailment")
_CEN = ("contradiction", "entailment", "neutral")
_TUNED = JudgeCard("presence", _ENC)

_JOINED = "{premise}{eos}{hypothesis}"
_CHOICE = (
    "{premise}\n\nChoose your answer: based on the paragraph above can we conclude that "
    '"{hypothesis}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is '
)
_AP = ("absent", "present")
_T5 = (3, 209)  # what 0 and 1 begin with

_ENGLISH: Mapping[str, JudgeCard] = {
    "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli": JudgeCard("zero-shot", _ENC),
    "shiyue/roberta-large-tac08": _TUNED,
    "shiyue/roberta-large-tac09": _TUNED,
    "shiyue/roberta-large-tac08-tac09": _TUNED,
    "shiyue/roberta-large-realsumm": _TUNED,
    "shiyue/roberta-large-pyrxsum": _TUNED,
    **{
        f"shiyue/roberta-large-realsumm-by-{split}-fold{fold}": _TUNED
        for split in ("examples", "systems")
        for fold in range(1, 6)
    },
    "FacebookAI/roberta-large-mnli": JudgeCard("zero-shot", _CNE),
    "facebook/bart-large-mnli": JudgeCard("zero-shot", _CNE),
    "microsoft/deberta-large-mnli": JudgeCard("zero-shot", _CNE),
    "microsoft/deberta-xlarge-mnli": JudgeCard("zero-shot", _CNE),
    "cross-encoder/nli-deberta-v3-base": JudgeCard("zero-shot", _CEN),
    "cross-encoder/nli-deberta-v3-large": JudgeCard("zero-shot", _CEN),
    "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli": JudgeCard("zero-shot", _ENC),
    "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli": JudgeCard("zero-shot", _ENC),
    "lytang/MiniCheck-RoBERTa-Large": JudgeCard("presence", _AP, None, _JOINED, None, 512),
    "lytang/MiniCheck-DeBERTa-v3-Large": JudgeCard("presence", _AP, None, _JOINED, None, 2048),
    "lytang/MiniCheck-Flan-T5-Large": JudgeCard(
        "presence", _AP, None, "predict: " + _JOINED, _T5, 2048
    ),
    "yaxili96/FactCG-DeBERTa-v3-Large": JudgeCard("presence", _AP, None, _CHOICE, None, 2048),
    "google/t5_xxl_true_nli_mixture": JudgeCard(
        "presence", _AP, None, "premise: {premise} hypothesis: {hypothesis}", _T5, 512
    ),
}
CARDS: Mapping[str, JudgeCard] = {
    **{name: replace(card, languages=("en",)) for name, card in _ENGLISH.items()},
    "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7": JudgeCard("zero-shot", _ENC),
    "MoritzLaurer/multilingual-MiniLMv2-L6-mnli-xnli": JudgeCard("zero-shot", _ENC),
}


def find_card(name: str, folder: Path | None = None) -> JudgeCard | None:
    """The card of a model: its own `litepyramid.json`, else the entry of its hub id.

    Example:
        >>> find_card("shiyue/roberta-large-tac08").default_mode
        'p2c'
    """
    if folder is not None and (folder / CARD_FILE).is_file():
        return read_card(folder / CARD_FILE)
    return CARDS.get(name)


@dataclass(frozen=True)
class _CardFile:
    """What a card's file may hold."""

    kind: Kind = "presence"
    mode: Mode | None = None
    order: list[str] | None = None
    template: str | None = None
    answers: tuple[int, int] | None = None
    max_length: int | None = None
    languages: list[str] = field(default_factory=list)


def read_card(path: Path) -> JudgeCard:
    """Reads ``{"kind": "presence", "mode": "p2c"}``; other fields are left alone."""
    expected = '{"kind": "zero-shot" or "presence", "mode": one of p3c, l3c, p2c, l2c}'
    value = read_json(path, expected, ModelError)
    card = as_type(_CardFile, value, what="not a judge's card", path=path, error=ModelError)
    if card.order is not None and sorted(card.order) not in (sorted(THREE), sorted(TWO)):
        raise ModelError(
            f"the order is {card.order!r:.80}", path=path, expected="the classes' names"
        )
    if card.template is not None and not all(p in card.template for p in _PLACES):
        raise ModelError(
            "a template without placeholders", path=path, expected="{premise} and {hypothesis}"
        )
    if card.answers is not None and card.template is None:
        raise ModelError("answers without a template", path=path, expected="both")
    order = None if card.order is None else tuple(card.order)
    length = card.max_length or None
    return JudgeCard(
        card.kind, order, card.mode, card.template, card.answers, length, tuple(card.languages)
    )
