"""Units from parsed references: facts or triplets, their weights, and what gives
none."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from math import fsum

from litepyramid.data.records import InputReferences, Unit
from litepyramid.judges.lexical.lexical_judge import RecallJudge
from litepyramid.language import SPACELESS
from litepyramid.progress import track
from litepyramid.sentences import headings
from litepyramid.types import Rules, Weights
from litepyramid.units.align import sentence_texts
from litepyramid.units.coreference import (
    Render,
    certain,
    is_quoted,
    renderer,
    resolve,
)
from litepyramid.units.facts import tree_facts
from litepyramid.units.parses import (
    QUOTES,
    ParsedBatch,
    ParsedReference,
    ParsedSentence,
)
from litepyramid.units.relations import DAYS, SAYING
from litepyramid.units.spelling import spaces_before, spelled
from litepyramid.units.triplets import sentence_stus
from litepyramid.wording import MONTHS

LEAST_COVERED = 2 / 3
_LINKS = re.compile(
    r"(click here|scroll down|read ?:|watch ?:|https?://)", re.IGNORECASE
)


@dataclass(frozen=True)
class Made:
    """The units of references.

    Attributes:
        units: By input.
        covered: The share of each sentence's content words that its units hold.
        without: Sentences that give no unit: headings, links and dates.
        counts: What is told of them.
    """

    units: Mapping[str, list[Unit]]
    covered: list[float] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def make_units(
    batch: ParsedBatch,
    references: Sequence[InputReferences],
    rules: Rules,
    weights: Weights,
    language: str,
) -> Made:
    """The units of parsed references, each with its sentence and weight."""
    texts = {entry.input: sentence_texts(entry) for entry in references}
    heads = {entry.input: _headings(entry) for entry in references}
    stanza = batch.signature["srl"].startswith("stanza")
    joint = "" if stanza and language in SPACELESS else " "
    # The rules of facts are of English; other languages have frames of their own.
    facts = rules == "facts" and language == "en"
    made = Made(defaultdict(list), counts=Counter(batch.counts))
    recall = RecallJudge(language).judge

    for parse in track(batch.references, "making units", "references"):
        resolution = resolve(parse)
        if facts:
            resolution = certain(parse, resolution)
        render = renderer(parse, resolution, once=facts)
        write: Write = partial(_joined, render, joint)
        if facts:
            spaces = _spaces(parse, texts[parse.input][parse.reference])
            write = partial(_spelled, render, spaces)
        units: list[Unit] = []
        quotation: list[str] = []
        # What states nothing is left out only beside what does.
        silent = [_states_nothing(s, heads[parse.input]) for s in parse.sentences]

        for number, sentence in enumerate(parse.sentences):
            offset = parse.offsets[number]
            text = write(range(offset, offset + len(sentence.tokens)))
            if facts and silent[number] and not all(silent):
                made.without.append(text)
                continue

            if facts:
                stus = _facts(sentence, offset, write, bool(quotation))
                quotation = _open_quotation([*quotation, *sentence.tokens])
            else:
                stus = _triplets(sentence, offset, write, rules == "zb21-footnote")
            share = recall([(" ".join(stus), [text])]).presence[0][0]
            # What the rules leave out of a sentence would be scored nowhere.
            if facts and (not stus or share < LEAST_COVERED):
                made.counts["sentences added as units"] += bool(stus)
                stus.setdefault(text, False)
            made.counts["sentences that are their own unit"] += list(stus) == [text]
            made.covered.append(1.0 if text in stus else float(share))
            for stu, said in stus.items():
                units.append(_unit(parse, stu, number, said))

        made.counts["mentions replaced"] += len(resolution.names)
        for identity in (*parse.identities, *resolution.identities):
            units.append(_unit(parse, identity.text, identity.sentence))
        made.units[parse.input] += weighted(units, weights, language)

    return made


def _unit(parse: ParsedReference, text: str, sentence: int, said: bool = False) -> Unit:
    return Unit(
        text, kind="stu", reference=parse.reference, sentence=sentence, said=said
    )


def weighted(
    units: Sequence[Unit], weights: Weights, language: str = "en"
) -> list[Unit]:
    """The units of one reference with their weights, which are 1 on average.

    Each unit weighs the same (``equal``); each sentence does, a share for each of its
    units (``sentences``); or each content word of each sentence does, a share for each
    unit of the sentence that holds it (``words``): what several facts repeat counts
    once.

    Example:
        >>> units = [Unit("Ann won", sentence=0), Unit("Ann won in Rome", sentence=0)]
        >>> [unit.weight for unit in weighted(units, "words")]
        [0.6666666666666666, 1.3333333333333333]
    """
    if weights == "equal" or not units:
        return [*units]

    stems = RecallJudge(language).stems()
    # A unit of function words alone counts all of them.
    words = [next(filter(None, stems(unit.text)), {""}) for unit in units]
    holding: Counter[tuple[int | None, str]] = Counter()
    for unit, own in zip(units, words, strict=True):
        holding.update((unit.sentence, word) for word in own)

    shares = []
    sizes = Counter(unit.sentence for unit in units)
    for unit, own in zip(units, words, strict=True):
        if weights == "sentences":
            shares.append(1 / sizes[unit.sentence])
        else:
            shares.append(fsum(1 / holding[unit.sentence, word] for word in own))

    mean = fsum(shares) / len(shares)
    return [replace(u, weight=s / mean) for u, s in zip(units, shares, strict=True)]


def _headings(entry: InputReferences) -> frozenset[str]:
    """The headings of an input's references, as their sentences."""
    found: frozenset[str] = frozenset()
    for texts, marked in zip(entry.references, entry.marked, strict=True):
        if not marked:
            found = found.union(*map(headings, texts))
    return found


def _states_nothing(sentence: ParsedSentence, heads: frozenset[str]) -> bool:
    """Whether a sentence is a heading ("To cancel:"), a date ("Friday, May 8, 2009"),
    or a link ("CLICK HERE for more")."""
    words = [token.lower() for token in sentence.tokens if token.isalnum()]
    dated = all(w in DAYS or w in MONTHS or w.isdecimal() for w in words)
    dated = dated and any(word in DAYS or word in MONTHS for word in words)
    spaceless = {head.replace(" ", "") for head in heads}
    headed = sentence.tokens[-1] == ":" or "".join(sentence.tokens) in spaceless
    return dated or headed or bool(_LINKS.match(sentence.text))


Write = Callable[[Iterable[int | str]], str]


def _open_quotation(tokens: Sequence[str]) -> list[str]:
    """The mark of a quotation that is not closed at the end, if there is one."""
    # A lone ' may be an apostrophe.
    marks = [token for token in tokens if token in QUOTES - {"'", "’"}]
    return marks[-1:] if is_quoted(marks) else []


def _is_reported(sentence: ParsedSentence, quoted: bool) -> bool:
    """Whether a sentence is what somebody says: in quotes, or "Police: he fled"."""
    tokens = sentence.tokens
    if {tokens[verb].lower() for verb in sentence.verbs} & SAYING:
        return False
    return quoted or tokens[0] in QUOTES or ":" in tokens[1:4]


def _facts(
    sentence: ParsedSentence, offset: int, write: Write, quoted: bool
) -> dict[str, bool]:
    """The facts of a sentence, and whether the sentence says that somebody said
    them."""
    reported = _is_reported(sentence, quoted)
    texts: dict[str, bool] = {}
    # A question states nothing of its own.
    if sentence.tokens[-1] == "?":
        return texts
    for fact in tree_facts(sentence.words or ()):
        words = [offset + t if isinstance(t, int) else t for t in fact.tokens]
        text = write(words)
        # "the gun Bob used": what opened the sentence may not open the fact.
        opening = sentence.tokens[0]
        common = sentence.words and sentence.words[0].upos in ("DET", "NOUN", "VERB")
        if fact.tokens[0] != 0 and common and opening.istitle():
            spaced = f"{text} ".replace(f" {opening} ", f" {opening.lower()} ", 1)
            text = spaced.rstrip()
        texts.setdefault(text, fact.said or reported)
    return texts


def _triplets(
    sentence: ParsedSentence, offset: int, write: Write, footnote: bool
) -> dict[str, bool]:
    """The triplets of a sentence."""

    def render(tokens: Iterable[int | str]) -> str:
        return write(offset + int(i) for i in tokens)

    return dict.fromkeys(
        sentence_stus(sentence, footnote=footnote, render=render), False
    )


def _spaces(parse: ParsedReference, texts: Sequence[str]) -> list[bool]:
    """Whether each token of a reference has a space before it there."""
    spaces = []
    # A parser, or a file of parses, may have split the text otherwise.
    same = len(texts) == len(parse.sentences)
    for number, sentence in enumerate(parse.sentences):
        text = texts[number] if same else sentence.text
        spaces += spaces_before(text, sentence.tokens)
    return spaces


def _spelled(
    render: Render, spaces: Sequence[bool], tokens: Iterable[int | str]
) -> str:
    """Tokens as the reference writes them, a space where some were left out."""
    words: list[tuple[str, bool]] = []
    last = -2
    for is_word, run in groupby(tokens, key=lambda token: isinstance(token, str)):
        if is_word:
            words += [(str(word), True) for word in run]
            last = -2
            continue
        for word, token in render([int(token) for token in run]):
            words.append((word, spaces[token] or token != last + 1))
            last = token
    text = spelled(words)
    # The end of a sentence is no part of a fact; a lone mark stays what it is.
    return text.rstrip(" .,;:") or text


def _joined(render: Render, joint: str, tokens: Iterable[int | str]) -> str:
    """Tokens with the same between all of them."""
    return joint.join(word for word, _ in render([int(t) for t in tokens]))
