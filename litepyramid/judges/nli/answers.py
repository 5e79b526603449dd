"""What a model says that is asked about all units of a summary at once: some summaries
at a time, so that their judgements can be saved before the next are read."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from litepyramid.errors import loading
from litepyramid.judges.cache import Stored
from litepyramid.judges.nli.asking import (
    AskingBackend,
    Question,
    WordStates,
    frame,
    summary_room,
)
from litepyramid.judges.nli.encode import Pair, Tokenizer

_SUMMARIES = 32  # of one window of questions
_UNITS = 64  # that are read alone in one call
_MOST_UNITS = 2_048  # whose words are kept from one window to the next


def answers(
    backend: AskingBackend,
    pairs: Mapping[bytes, Pair],
    tokenizer: Tokenizer,
    max_length: int,
    threads: int,
) -> Iterator[dict[bytes, Stored]]:
    """The raw values of each pair by its key: logits, and the distance of words where
    the model has them.

    A unit's values are the same whatever else is asked.
    """
    texts = list(dict.fromkeys(text for pair in pairs.values() for text in pair))
    with loading("the model's tokenizer failed"):
        encodings = tokenizer.core.encode_batch(texts, add_special_tokens=False)
    tokens = {t: e.ids for t, e in zip(texts, encodings, strict=True)}

    # Units of one summary, but for those so long that less of it is read.
    groups: dict[tuple[str, int], dict[bytes, str]] = {}
    for key, (summary, unit) in pairs.items():
        room = summary_room(unit, len(tokens[unit]), max_length)
        groups.setdefault((summary, room), {})[key] = unit

    begin, end = frame(tokenizer)
    asked = list(groups.items())
    words: dict[str, WordStates] = {}
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(asked), _SUMMARIES):
            window = asked[start : start + _SUMMARIES]
            units = {
                unit: [begin, *tokens[unit], end]
                for _, several in window
                for unit in several.values()
            }
            if backend.near:
                words = _read_alone(backend, units, words, pool)

            questions = []
            for (summary, room), several in window:
                read = [begin, *tokens[summary][:room], end]
                ids = [units[unit] for unit in several.values()]
                own = [words[unit] for unit in several.values() if unit in words]
                questions.append(Question(read, ids, own))

            rows = {}
            said = pool.map(backend.ask, questions)
            for ((summary, room), several), values in zip(window, said, strict=True):
                truncated = len(tokens[summary]) > room
                for key, row in zip(several, values, strict=True):
                    rows[key] = Stored(row.astype("<f4").tobytes(), truncated)
            yield rows


def _read_alone(
    backend: AskingBackend,
    units: Mapping[str, Sequence[int]],
    known: dict[str, WordStates],
    pool: ThreadPoolExecutor,
) -> dict[str, WordStates]:
    """The words of units, each read alone, and of those read before, as far as memory
    goes."""
    if len(known.keys() | units.keys()) > _MOST_UNITS:
        known = {}
    missing = [unit for unit in units if unit not in known]
    missing.sort(key=lambda unit: len(units[unit]))
    batches = []
    for start in range(0, len(missing), _UNITS):
        batches.append(missing[start : start + _UNITS])

    read = pool.map(
        lambda batch: backend.words([units[unit] for unit in batch]), batches
    )
    words = dict(known)
    for batch, states in zip(batches, read, strict=True):
        words |= zip(batch, states, strict=True)
    return words
