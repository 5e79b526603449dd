"""SCU-like units of references, written by a language model and checked against the
sentences."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from litepyramid.data.records import InputReferences, InputUnits, Unit
from litepyramid.errors import InputError, ModelError
from litepyramid.judges.base import pair_key
from litepyramid.judges.lexical.lexical_judge import RecallJudge
from litepyramid.judges.llm.llm_judge import (
    Job,
    LLMJudge,
    fenced,
    json_value,
    object_schema,
    read_prompt,
    with_line,
)
from litepyramid.judges.registry import judge as as_judge
from litepyramid.language import name_of, signed
from litepyramid.text import fill, one_line
from litepyramid.types import Signature
from litepyramid.units.align import references_sha, sentence_texts

_UNIT = object_schema({"unit": {"type": "string"}, "sentence": {"type": "integer"}})
_EXPECTED = "a list of facts, each with its sentence,"
_SCHEMA = object_schema({"units": {"type": "array", "items": _UNIT}})


@dataclass(frozen=True)
class _Source:
    """The sentences of one reference, numbered from 1, and the key of their request."""

    input: str
    reference: int
    sentences: tuple[str, ...]

    @property
    def key(self) -> bytes:
        return pair_key("units", "\n".join(self.sentences))


def written_units(
    references: Sequence[InputReferences], llm: Any, language: str = "en"
) -> tuple[tuple[InputUnits, ...], Signature, dict[str, float]]:
    """Units by a model behind an endpoint (`llm`, a judge or its name), one request a
    reference.

    Empty and repeated units are left out. A unit whose sentence is not named, or is
    none of the reference, is placed in the sentence that shares the largest part of its
    content words, and left out if none does. All that is counted, and so is the share
    of the units' content words (Snowball stems) that their reference does not hold.
    """
    writer = as_judge(llm)
    if not isinstance(writer, LLMJudge):
        raise InputError(
            "this judge writes no units", expected="llm:MODEL, a language model"
        )

    line = f"Reference and units are in {name_of(language)}: do not translate."
    prompt = with_line(read_prompt("units")[0], line, language)
    sources = []
    for entry in references:
        for number, sentences in enumerate(sentence_texts(entry)):
            lines = tuple(map(one_line, sentences))
            sources.append(_Source(entry.input, number, lines))
    sha = sha256(prompt.encode()).hexdigest()[:8]
    jobs = []

    # References of the same text are asked about once.
    for source in {source.key: source for source in sources}.values():
        numbered = fenced({str(n): text for n, text in enumerate(source.sentences, 1)})
        request = fill(prompt, sentences=numbered)
        size = 20 + len(numbered.encode()) // 2
        jobs.append(Job((source.key,), request, _SCHEMA, _read, size, _EXPECTED))

    with writer:
        answers, asker = writer.ask(jobs, {"prompt": sha}, "reference")
    counts = Counter({"references": len(sources)})
    by_input: dict[str, list[Unit]] = {entry.input: [] for entry in references}
    foreign = 0.0

    for source in sources:
        rows = json.loads(answers[source.key])
        placed, share, left_out = _placed(rows, source, language)
        by_input[source.input] += placed
        foreign += share
        counts.update(left_out)

    if empty := [name for name, units in by_input.items() if not units]:
        raise ModelError(f"the model wrote no unit for input '{empty[0]}'")
    total = sum(map(len, by_input.values()))
    signature = Signature.of(
        units="scu",
        **signed(language),
        llm=writer.signature()["judge"].removeprefix("llm:"),
        revision=asker.revision,
        prompt=f"units-{sha}",
        references_sha=references_sha(references),
    )
    totals = {
        "inputs": len(by_input),
        "sentences": sum(len(source.sentences) for source in sources),
        "units": total,
        "share of content words not in the reference": foreign / total,
    }
    units = tuple(
        InputUnits(e.input, tuple(by_input[e.input]), e.question) for e in references
    )

    return units, signature, totals | counts | asker.counts


def _read(answer: str) -> list[bytes] | None:
    """The list of units in an answer."""
    value = json_value(answer)
    # Some servers ignore the schema: a bare list, or one of texts, is read too.
    listed = value.get("units") if isinstance(value, dict) else value
    listed = listed if isinstance(listed, list) else []
    rows = [row if isinstance(row, dict) else {"unit": row} for row in listed]
    whole = rows and all(isinstance(row.get("unit"), str) for row in rows)
    return [json.dumps(rows).encode()] if whole else None


def _placed(
    rows: Sequence[dict[str, Any]], source: _Source, language: str
) -> tuple[list[Unit], float, Counter[str]]:
    """The units of one reference that can stay, how much of them is foreign to it, and
    what was left out or assigned."""
    recall = RecallJudge(language).judge
    sentences = source.sentences
    units = {}
    foreign = 0.0
    counts: Counter[str] = Counter()

    for row in rows:
        text = one_line(row["unit"]).strip()
        sentence = row.get("sentence")
        if not text or text.casefold() in units:
            counts["repeated units left out" if text else "empty units left out"] += 1
            continue

        if type(sentence) is not int or not 1 <= sentence <= len(sentences):
            judged = recall([(s, [text]) for s in sentences]).presence
            shares = [float(presence[0]) for presence in judged]
            if not max(shares, default=0):
                counts["units without a sentence left out"] += 1
                continue
            counts["units assigned by their words"] += 1
            sentence = shares.index(max(shares)) + 1

        units[text.casefold()] = Unit(
            text, reference=source.reference, sentence=sentence - 1
        )
        foreign += 1 - float(recall([(" ".join(sentences), [text])]).presence[0][0])

    return list(units.values()), foreign, counts
