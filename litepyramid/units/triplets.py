"""From semantic role frames to semantic triplet units (ZB21 §3.2 and its footnote 2).

The rules are those of the authors' code, which made the STUs they published:

1. ``before`` is every token tagged with any role before the first V token; ``verb`` is
   the V tokens; after the verb, consecutive tagged tokens of one role form one
   argument, also across untagged tokens and across a new B- tag of the same role.
2. A frame with nothing before its verb, or with no verb, gives nothing.
3. The token just before the last V token: if it is "to", the frame gives nothing; if it
   is one of am, are, is, was, were, been, it is put before the verb (once: not if it is
   tagged itself).
4. A verb that is one of ' will could can might should would gives nothing.
5. If the first argument after the verb is ARGM-NEG, it joins the verb and is not an
    argument.
6. One STU per argument after the verb: before, verb, argument; repeats in a sentence
    are dropped.
7. A sentence without STUs is its own one STU.

They differ from it in four cases, where it looks like an oversight there:

- A form of "be" that is tagged itself is not put before the verb again (rule 3): "is
    is".
- "to", "be" and the words of rule 4 are known in capitals too.
- A second V token ends an argument (rule 1): there an argument of the same role goes on
    behind it.
- A word of rule 4 gives nothing after a form of "be" either: there "was can" is another
    verb.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter

from litepyramid.units.parses import ParsedSentence

BE_BEFORE_VERB = frozenset({"am", "are", "is", "was", "were", "been"})
BE_OF_FOOTNOTE = BE_BEFORE_VERB | {"be", "being"}
NO_VERBS = frozenset({"'", "will", "could", "can", "might", "should", "would"})


def frame_triplets(
    tokens: Sequence[str], tags: Sequence[str], *, footnote: bool = False
) -> list[tuple[int, ...]]:
    """The triplets of one frame (rules 1 to 5), as token indices in the order they are
    written.

    With `footnote`, "be" and "being" before the verb are kept too, as the paper's
    footnote 2 says.
    """
    if any("-FREE" in tag for tag in tags):
        return _free_triplets(tags)
    # Rules 1 and 2: what stands before the verb, and behind it.
    verb = [i for i, tag in enumerate(tags) if tag[2:] == "V"]
    if not verb:
        return []
    before = [i for i in range(verb[0]) if tags[i] != "O"]
    arguments = _arguments(tags, verb[0])
    previous = tokens[verb[-1] - 1].lower() if verb[-1] > 0 else ""

    # Rules 3 and 4: infinitives and auxiliaries give nothing, a form of "be" joins in.
    if not before or previous == "to":
        return []
    if " ".join(tokens[i] for i in verb).lower() in NO_VERBS:
        return []
    be = BE_OF_FOOTNOTE if footnote else BE_BEFORE_VERB
    if previous in be and tags[verb[-1] - 1] == "O":
        verb.insert(0, verb[-1] - 1)

    # Rule 5: without its negation a triplet would say the opposite.
    if arguments and arguments[0][0] == "ARGM-NEG":
        verb += arguments.pop(0)[1]

    return [(*before, *verb, *argument) for _, argument in arguments]


def _free_triplets(tags: Sequence[str]) -> list[tuple[int, ...]]:
    """One triplet an argument, in the order of the text (`free_frames`)."""
    roles: dict[str, list[int]] = {}
    for i, tag in enumerate(tags):
        if tag != "O":
            roles.setdefault(tag[2:], []).append(i)
    first = roles.pop("FREE0", [])
    core = [*roles.pop("V", []), *roles.pop("FREE", [])]
    return [
        (*first, *sorted([*core, *argument])) for argument in roles.values() or [[]]
    ]


def _arguments(tags: Sequence[str], first_verb: int) -> list[tuple[str, list[int]]]:
    """Runs of one role after the verb; untagged tokens do not end a run, the verb
    does."""
    roles = [(tags[i][2:], i) for i in range(first_verb, len(tags)) if tags[i] != "O"]
    runs = groupby(roles, key=itemgetter(0))
    return [(role, [i for _, i in run]) for role, run in runs if role != "V"]


def sentence_stus(
    sentence: ParsedSentence,
    *,
    footnote: bool = False,
    render: Callable[[Sequence[int]], str] | None = None,
) -> list[str]:
    """The STUs of one sentence (rules 1 to 7), frames in their order.

    `render` writes token indices as text: coreference writes names in place of mentions
    there.
    """
    write = render or (lambda indices: " ".join(sentence.tokens[i] for i in indices))
    stus: dict[str, None] = {}
    for frame in sentence.frames or ():
        for triplet in frame_triplets(sentence.tokens, frame.tags, footnote=footnote):
            stus[write(triplet)] = None
    return list(stus) or [write(range(len(sentence.tokens)))]
