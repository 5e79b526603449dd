"""SCU-like units of references, written by a language model and checked against the sentences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.base import pair_key
from litepyramid.judges.lexical.recall import RecallJudge
from litepyramid.judges.llm.ask import Asker, Job
from litepyramid.judges.llm.client import Endpoint, Reply
from litepyramid.judges.llm.prompt import json_values, read_prompt
from litepyramid.progress import bar
from litepyramid.text import counted, fill, one_line
from litepyramid.types import InputReferences, InputUnits, Signature, Unit, fingerprint
from litepyramid.units.extract import Extraction
from litepyramid.units.sentences import make_splitter

_SCHEMA = {
    "type": "object",
    "properties": {
        "units": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"unit": {"type": "string"}, "sentence": {"type": "integer"}},
                "required": ["unit", "sentence"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["units"],
    "additionalProperties": False,
}


def write_units(
    references: Sequence[InputReferences],
    model: str,
    *,
    endpoint: str | None = None,
    prompt: str | Path = "units",
    splitter: str = "rules",
    concurrency: int = 16,
    timeout: float = 120.0,
    parameters: dict[str, Any] | None = None,
    prices: str | Path | None = None,
    max_cost: float | None = None,
    estimate: bool = False,
    cache: Path | Literal["default"] | None = "default",
) -> Extraction:
    """Units by a model behind an endpoint, one request per reference; see `LLMJudge` for the rest.

    Empty and repeated units are left out. A unit whose sentence is not named, or is none of the
    reference, is placed in the sentence that shares the largest part of its content words, and
    left out if none does. All that is counted, and so is the share of the units' content words
    (Snowball stems) that their reference does not hold.

    Args:
        references: As `read_references` gives them.
        model: As the endpoint calls it.
        endpoint: Like the others, as of `LLMJudge`.
        prompt: ``units``, or a file with ``{sentences}`` for the numbered sentences.
        splitter: Splits references that have no sentence marks.
        concurrency: As for `LLMJudge`.
        timeout: As for `LLMJudge`.
        parameters: As for `LLMJudge`.
        prices: As for `LLMJudge`.
        max_cost: As for `LLMJudge`.
        estimate: As for `LLMJudge`.
        cache: As for `LLMJudge`.

    Raises:
        InputError: No references, or a prompt without its placeholder.
        ModelError: A reference got no units; those of the others are kept.
        UnsentError: An estimate was asked for.
    """
    text, path = read_prompt(prompt)
    if "{sentences}" not in text:
        raise InputError("a prompt without its placeholder", path=path, expected="{sentences}")
    if not references:
        raise InputError("no references to write units for")
    split = make_splitter(splitter)
    texts = [
        (entry.input, number, [one_line(s) for s in (own if marked else split(" ".join(own)))])
        for entry in references
        for number, (own, marked) in enumerate(zip(entry.references, entry.marked, strict=True))
    ]
    sha = sha256(text.encode()).hexdigest()[:8]
    asker = Asker(
        Endpoint(model, endpoint, concurrency, timeout, parameters=parameters or {}),
        {"prompt": sha},
        prices=prices,
        max_cost=max_cost,
        cache=cache,
    )
    keys = {pair_key("units", "\n".join(own)): own for _, _, own in texts}
    found = asker.stored(list(keys))
    jobs = [_job(key, text, own) for key, own in keys.items() if key not in found]
    asker.plan(jobs, len(keys), estimate=estimate, batch=None)
    with bar(len(jobs), "writing units", "references") as shown:
        found |= asker.ask(jobs, shown)
    asker.cache.close()
    if missing := len(keys) - len(found):
        raise ModelError(
            f"{counted(missing, 'reference')} of {len(keys)} got no units: {asker.why}",
            hint="The others are kept. Run again to request the rest.",
        )
    counts: Counter[str] = Counter({"references": len(texts)})
    by_input: dict[str, list[Unit]] = {entry.input: [] for entry in references}
    foreign = 0.0
    for name, number, own in texts:
        rows = json.loads(found[pair_key("units", "\n".join(own))])
        placed, strange = _placed(rows, own, number, counts)
        by_input[name] += placed
        foreign += strange
    if empty := [name for name, units in by_input.items() if not units]:
        raise ModelError(f"the model wrote no unit for input '{empty[0]}'", hint="See --prompt.")
    total = sum(map(len, by_input.values()))
    return Extraction(
        tuple(InputUnits(name, tuple(units)) for name, units in by_input.items()),
        (),
        Signature.of(
            units="scu",
            llm=model,
            revision=asker.signature()["revision"],
            prompt=f"{Path(prompt).stem}-{sha}",
            splitter=splitter if any(not all(entry.marked) for entry in references) else None,
            references_sha=fingerprint(entry.references for entry in references),
        ),
        {
            "inputs": len(by_input),
            "sentences": sum(len(own) for _, _, own in texts),
            "units": total,
            "share of content words not in the reference": foreign / total,
            **counts,
            **dict(zip(("requests", "tokens in", "tokens out"), asker.spent, strict=True)),
        },
    )


def _job(key: bytes, prompt: str, sentences: Sequence[str]) -> Job:
    numbered = "\n".join(f"{n}. {sentence}" for n, sentence in enumerate(sentences, 1))
    request = fill(prompt, sentences=numbered)
    return Job((key,), request, _SCHEMA, _read, tuple, 20 + len(numbered.encode()) // 2)


def _read(reply: Reply) -> list[bytes] | None:
    """The last list of units in an answer."""
    for value in reversed(list(json_values(reply.text))):
        rows = value.get("units") if isinstance(value, dict) else value
        if isinstance(rows, list) and rows:
            rows = [row if isinstance(row, dict) else {"unit": row} for row in rows]
            if all(isinstance(row.get("unit"), str) for row in rows):
                return [json.dumps(rows).encode()]
    return None


def _placed(
    rows: Sequence[dict[str, Any]], sentences: Sequence[str], number: int, counts: Counter[str]
) -> tuple[list[Unit], float]:
    """The units of one reference that can stay, and how much of them is foreign to it."""
    judge = RecallJudge().judge
    there: dict[str, Unit] = {}
    foreign = 0.0
    for row in rows:
        text, sentence = one_line(row["unit"]).strip(), row.get("sentence")
        if not text or text.casefold() in there:
            counts["repeated units left out" if text else "empty units left out"] += 1
            continue
        if type(sentence) is not int or not 1 <= sentence <= len(sentences):
            shares = [float(own[0]) for own in judge([(s, [text]) for s in sentences]).presence]
            if not max(shares, default=0):
                counts["units without a sentence left out"] += 1
                continue
            counts["units assigned by their words"] += 1
            sentence = shares.index(max(shares)) + 1
        there[text.casefold()] = Unit(text, reference=number, sentence=sentence - 1)
        foreign += 1 - float(judge([(" ".join(sentences), [text])]).presence[0][0])
    return list(there.values()), foreign
