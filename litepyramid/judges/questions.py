"""Questions in a text: what it asks is not what it says."""

import re

from litepyramid.sentences import sentence_spans

_LABEL = r"(?:(?:Q|A|Question|Answer)\s?\d*\s?[:.]\s*)?"
_ASKS = re.compile(
    rf"\W*{_LABEL}(?:(?:and|but|so|or|then)\s)?"
    r"(?:did|does|do|is|are|was|were|am|has|have|had|can|could|will|would|shall|should"
    r"|may|might|must)(?:n't|n’t)?\b",
    re.IGNORECASE,
)
_ANSWERED = re.compile(
    rf"\W*{_LABEL}(?P<answer>yes|yeah|yep|no|nope|not)\b", re.IGNORECASE
)
_QUESTION = re.compile(r"""\?["'”’)\s]*$""")
_BARE = 2
"""Words of an answer that says no and nothing else."""


def without_questions(text: str) -> str:
    """The text without its yes-or-no questions that nobody answers with yes.

    "Did Ann pay? Yes." says that Ann paid, and is read as it is; "Did Ann pay? No."
    says nothing by itself. Other questions, such as "Who paid?", stay.

    Example:
        >>> without_questions("Did Ann pay? No, Bob did. The bill was late.")
        'No, Bob did. The bill was late.'
    """
    if "?" not in text:
        return text

    spans = sentence_spans(text)
    dropped = set()
    for number, (start, end) in enumerate(spans):
        sentence = text[start:end]
        if not _QUESTION.search(sentence):
            continue

        rest = spans[number + 1 :]
        following = text[slice(*rest[0])] if rest else ""
        answer = _ANSWERED.match(following)
        asks = _ASKS.match(sentence) or answer
        if not asks or (answer and answer["answer"].lower().startswith("y")):
            continue
        dropped.add(number)
        if answer and len(following.split()) <= _BARE:
            dropped.add(number + 1)

    if not dropped:
        return text
    kept = [text[start:end] for n, (start, end) in enumerate(spans) if n not in dropped]
    return " ".join(kept)
