"""Mixed files as ZB21's own code writes them, for comparison with the files they published.

    python scripts/mix_as_authors.py SCUs.txt STUs.txt references.txt 0.5 --easiness easiness.jsonl

Without --easiness it is that of the embedded regressor; --by gold and --by reversed as for
``litepyramid units mix``. --output takes the units.

What it does otherwise than the paper (and than `litepyramid.easiness.mix`):

* A sentence carries STUs if its easiness is *strictly above* that of the last one of the top
  share: that one, and all tied with it, keep their SCUs.
* The size of the share is ``int(n * percentage / 100)``.
* A sentence to which no SCU belongs is dropped, STUs and all.
* A coreference unit ("name is mention") belongs to the sentence that shares most words with the
  text between its first and second "is", be it inside a word, and stands before the other STUs.
* Words are NLTK's, with commas and full stops taken out of the SCUs; sentences are split at spaces.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from litepyramid.easiness.files import read_sources, sentence_easiness
from litepyramid.easiness.gold import check_same_inputs, gold_easiness
from litepyramid.easiness.mix import BoolArray, Mix
from litepyramid.easiness.scores import Easiness
from litepyramid.errors import InputError
from litepyramid.io.inputs import read_ids
from litepyramid.io.units import write_units
from litepyramid.tables import emit
from litepyramid.types import FloatArray, InputUnits, Signature, Unit
from litepyramid.units.align import Sentence, sentences_of


def mix_as_authors(
    scus: Sequence[InputUnits],
    stus: Sequence[InputUnits],
    sentences: Sequence[Sentence],
    easiness: Easiness,
    percentage: float,
) -> Mix:
    """Mixes as the authors' code does, for a percentage of the sentences.

    Their code knows the sentence of an STU from its own parse, which is not published. STUs that do
    not say it themselves, as in ``STUs.txt``, are placed by their words, in the order of the
    sentences; those at the end of an input that read "name is mention" are taken for coreference
    units, and the mention for replaced by the name.

    Raises:
        InputError: The inputs differ, an easiness is missing, the share rounds to no sentence, or
            an input loses all its units.
    """
    check_same_inputs(scus, stus)
    wanted = {entry.input for entry in scus}
    kept = tuple(s for s in sentences if s.input in wanted)
    values = easiness.of(kept)
    chosen = above_threshold(values, percentage)
    machine = {entry.input: entry for entry in stus}
    units, dropped = [], 0
    for entry in scus:
        mine = [i for i, s in enumerate(kept) if s.input == entry.input]
        own = [kept[i] for i in mine]
        ordinary, coreference = split_coreference(machine[entry.input].units)
        texts = _resolved([s.text for s in own], coreference)
        human = _grouped(
            [_place(u, _scu_words(u.text), own, texts) for s in entry.units for u in s.entries()]
        )
        placed = [_place(u, _words(between_is(u.text)), own, texts) for u in coreference]
        made = _grouped([*placed, *_place_in_order(ordinary, own, texts)])
        row: list[Unit] = []
        for i, s in zip(mine, own, strict=True):
            place = (s.reference, s.sentence)
            dropped += place not in human
            if place in human:
                row += made.get(place, []) if chosen[i] else human[place]
        if not row:
            raise InputError(f"input '{entry.input}' is left without a unit")
        units.append(InputUnits(entry.input, tuple(row)))
    notes = (
        f"As the authors' code does it: {int(chosen.sum())} of {len(kept)} sentences lie strictly "
        f"above the threshold; {dropped} without an SCU are dropped.",
    )
    signature = Signature.of(
        mix="authors",
        percentage=percentage,
        easiness=dict(easiness.signature.fields).get("easiness"),
    )
    return Mix(tuple(units), kept, chosen, values, "authors", notes, signature)


def above_threshold(values: FloatArray, percentage: float) -> BoolArray:
    """Which values are strictly above that of the last one of the top share.

    Raises:
        InputError: A value is missing, or the share rounds to nothing.

    Example:
        >>> above_threshold(np.array([0.1, 0.4, 0.3, 0.2]), 50).tolist()
        [False, True, False, False]
    """
    if np.isnan(values).any():
        raise InputError(
            f"{int(np.isnan(values).sum())} sentences have no easiness",
            expected="a value for each, as their code has",
        )
    count = int(len(values) * percentage / 100)
    if not 1 <= count <= len(values):
        raise InputError(
            f"{percentage} % of {len(values)} sentences is {count}",
            expected="at least one sentence, and at most all",
            hint="The authors' code fails here; mix without its quirks.",
        )
    threshold = float(np.sort(values)[::-1][count - 1])
    return np.greater(values, threshold)


def between_is(text: str) -> str:
    """The text between the first and second "is", letters in a word included.

    Example:
        >>> between_is("coins is the money"), between_is("Paris is the capital")
        (' the money', ' ')
    """
    return text.lower().split("is")[1] if "is" in text.lower() else ""


def split_coreference(units: Sequence[Unit]) -> tuple[list[Unit], list[Unit]]:
    """Ordinary STUs, and those at the end that read "name is mention" and name no sentence.

    Example:
        >>> u = [Unit("he is ill"), Unit("Ann sang"), Unit("Ann is the mayor")]
        >>> [x.text for x in split_coreference(u)[1]]
        ['Ann is the mayor']
    """
    end = len(units)
    while end and units[end - 1].sentence is None and _is_identity(units[end - 1].text):
        end -= 1
    return list(units[:end]), list(units[end:])


def _is_identity(text: str) -> bool:
    return " is " in text and " is not " not in text


def _resolved(texts: Sequence[str], coreference: Sequence[Unit]) -> list[str]:
    """The sentences with each mention replaced by its name, as far as the units tell."""
    changed = [f" {text} " for text in texts]
    for unit in coreference:
        name, mention = unit.text.split(" is ", 1)
        changed = [text.replace(f" {mention} ", f" {name} ") for text in changed]
    return changed


def _place(
    unit: Unit, words: set[str], sentences: Sequence[Sentence], texts: Sequence[str]
) -> Unit:
    if unit.reference is not None and unit.sentence is not None:
        return unit
    overlaps = [len(words & set(text.lower().split())) for text in texts]
    best = sentences[overlaps.index(max(overlaps))]
    return replace(unit, reference=best.reference, sentence=best.sentence)


def _place_in_order(
    units: Sequence[Unit], sentences: Sequence[Sentence], texts: Sequence[str]
) -> list[Unit]:
    """Places STUs that stand in the order of their sentences, so that most words are shared.

    The best assignment that never goes back: a unit's gain in a sentence is the share of its
    words found there; ``best[j]`` is the highest total with the last unit in sentence j.
    """
    if not units:
        return []
    found = [set(text.lower().split()) for text in texts]
    best, ways = np.zeros(len(texts)), []
    for unit in units:
        words = set(unit.text.lower().split())
        before = np.maximum.accumulate(best)
        ways.append([int(np.argmax(best[: j + 1])) for j in range(len(texts))])
        best = before + [len(words & other) / len(words) for other in found]
    place = int(np.argmax(best))
    placed = []
    for unit, way in zip(reversed(units), reversed(ways), strict=True):
        s = sentences[place]
        named = unit.reference is not None and unit.sentence is not None
        placed.append(unit if named else replace(unit, reference=s.reference, sentence=s.sentence))
        place = way[place]
    return placed[::-1]


def _scu_words(text: str) -> set[str]:
    return _words(text.replace(",", " ").replace(".", " "))


def _words(text: str) -> set[str]:
    from importlib import import_module

    return set(import_module("nltk.tokenize").NLTKWordTokenizer().tokenize(text.lower()))


def _grouped(units: Sequence[Unit]) -> dict[tuple[int | None, int | None], list[Unit]]:
    found: dict[tuple[int | None, int | None], list[Unit]] = {}
    for unit in units:
        found.setdefault((unit.reference, unit.sentence), []).append(unit)
    return found


def mix_files(
    scus: Path,
    stus: Path,
    references: Path,
    share: float,
    *,
    by: str = "easiness",
    easiness: Path | None = None,
    ids: Sequence[str] | None = None,
) -> Mix:
    """`mix_as_authors` from files; `by` is easiness, reversed or gold."""
    human, texts, machine = read_sources(scus, references, stus, ids=ids)
    sentences = sentences_of(texts)
    if by == "gold":
        values = gold_easiness(human, machine, sentences)
    else:
        values = sentence_easiness(texts, stus=machine, easiness=easiness)
    if by == "reversed":
        values = Easiness(values.sentences, -values.values, values.signature)
    return mix_as_authors(human, machine, sentences, values, 100 * share)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for name in ("scus", "stus", "references"):
        parser.add_argument(name, type=Path)
    parser.add_argument("share", type=float)
    parser.add_argument("--by", choices=("easiness", "reversed", "gold"), default="easiness")
    parser.add_argument("--easiness", type=Path)
    parser.add_argument("--ids", type=Path)
    parser.add_argument("--output", type=Path)
    given = vars(parser.parse_args())
    output, ids = given.pop("output"), given.pop("ids")
    found = mix_files(**given, ids=None if ids is None else read_ids(ids))
    if output is not None:
        write_units(output, found.units, "lines" if output.suffix == ".txt" else "jsonl")
    emit(found)


if __name__ == "__main__":
    main()
