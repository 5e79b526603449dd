"""One gold tree a phenomenon: what stands before the verb, and how arguments are told apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.units.parsers.embedded.frames import dependency_frames
from litepyramid.units.parsers.embedded.tree import Word
from litepyramid.units.parses import ParsedReference, ParsedSentence, check_parse
from litepyramid.units.triplets import sentence_stus


def tree(text: str) -> list[Word]:
    """'word/UPOS/relation/head …', heads counted from 1, 0 for the root."""
    words = []
    for number, part in enumerate(text.split()):
        form, upos, relation, head = part.rsplit("/", 3)
        words.append(Word(form, upos, int(head) - 1 if head != "0" else number, relation))
    return words


def stus(text: str) -> list[str]:
    words = tree(text)
    return sentence_stus(ParsedSentence(tuple(w.text for w in words), dependency_frames(words)))


ROWS = {
    "passive with an agent": (
        "He/PRON/nsubj:pass/3 was/AUX/aux:pass/3 seen/VERB/root/0 by/ADP/case/5 "
        "Ann/PROPN/obl:agent/3 twice/ADV/advmod/3",
        ["He was seen by Ann", "He was seen twice"],
    ),
    "perfect passive keeps both auxiliaries": (
        "He/PRON/nsubj:pass/4 has/AUX/aux/4 been/AUX/aux:pass/4 seen/VERB/root/0 "
        "twice/ADV/advmod/4",
        ["He has been seen twice"],
    ),
    "negation of an auxiliary": (
        "They/PRON/nsubj/4 do/AUX/aux/4 n't/PART/advmod/4 feel/VERB/root/0 safe/ADJ/xcomp/4",
        ["They do n't feel safe"],
    ),
    "negation of a copula joins it": (
        "She/PRON/nsubj/4 is/AUX/cop/4 not/PART/advmod/4 racist/ADJ/root/0 now/ADV/advmod/4",
        ["She is not racist", "She is not now"],
    ),
    "copula, noun with what belongs to it": (
        "Rome/PROPN/nsubj/4 is/AUX/cop/4 the/DET/det/4 capital/NOUN/root/0 of/ADP/case/6 "
        "Italy/PROPN/nmod/4",
        ["Rome is the capital of Italy"],
    ),
    "an adjective keeps what it is about": (
        "Fans/NOUN/nsubj/3 were/AUX/cop/3 angry/ADJ/root/0 at/ADP/case/5 plans/NOUN/obl/3 "
        "now/ADV/advmod/3",
        ["Fans were angry at plans", "Fans were now"],
    ),
    "conjoined verbs share subject and what stands before it": (
        "Later/ADV/advmod/3 Ann/PROPN/nsubj/3 fell/VERB/root/0 down/ADV/advmod/3 and/CCONJ/cc/6 "
        "broke/VERB/conj/3 a/DET/det/8 leg/NOUN/obj/6",
        ["Later Ann fell down", "Later Ann broke a leg"],
    ),
    "infinitives give no STU, verbs joined to them do": (
        "He/PRON/nsubj/2 hopes/VERB/root/0 to/PART/mark/4 win/VERB/xcomp/2 gold/NOUN/obj/4 "
        "and/CCONJ/cc/7 take/VERB/conj/4 titles/NOUN/obj/7",
        ["He hopes to win gold and take titles", "He take titles"],
    ),
    "the object controls": (
        "Ann/PROPN/nsubj/2 left/VERB/root/0 him/PRON/obj/2 crying/VERB/xcomp/2 loudly/ADV/advmod/4",
        ["Ann left him crying loudly", "him crying loudly"],
    ),
    "the object of keeping controls what follows from": (
        "It/PRON/nsubj/2 kept/VERB/root/0 light/NOUN/obj/2 from/SCONJ/mark/5 "
        "reaching/VERB/advcl/2 us/PRON/obj/5",
        ["It kept light", "It kept from reaching us", "light reaching us"],
    ),
    "object and clause of wanting are one": (
        "Ann/PROPN/nsubj/2 wanted/VERB/root/0 them/PRON/obj/2 to/PART/mark/5 leave/VERB/xcomp/2 "
        "now/ADV/advmod/5",
        ["Ann wanted them to leave now"],
    ),
    "an adverbial clause takes the subject of its main clause": (
        "Ann/PROPN/nsubj/2 left/VERB/root/0 before/SCONJ/mark/4 seeing/VERB/advcl/2 "
        "Rome/PROPN/obj/4",
        ["Ann left before seeing Rome", "Ann seeing Rome"],
    ),
    "a finite adverbial clause keeps its when": (
        "He/PRON/nsubj/2 ran/VERB/root/0 when/ADV/advmod/5 it/PRON/nsubj/5 hit/VERB/advcl/2 "
        "him/PRON/obj/5",
        ["He ran when it hit him", "when it hit him"],
    ),
    "a relative clause has its noun and pronoun": (
        "Stars/NOUN/nsubj/2 gave/VERB/root/0 a/DET/det/4 ball/NOUN/obj/2 which/PRON/nsubj/6 "
        "raised/VERB/acl:relcl/4 money/NOUN/obj/6",
        ["Stars gave a ball which raised money", "a ball which raised money"],
    ),
    "a participle has its noun, without the preposition before it": (
        "He/PRON/nsubj/2 was/VERB/root/0 among/ADP/case/4 those/PRON/obl/2 sold/VERB/acl/4 "
        "by/ADP/case/7 Porto/PROPN/obl:agent/5",
        ["He was among those sold by Porto", "those sold by Porto"],
    ),
    "a particle beside its verb is part of it": (
        "He/PRON/nsubj/2 picked/VERB/root/0 up/ADP/compound:prt/2 an/DET/det/5 injury/NOUN/obj/2",
        ["He picked up an injury"],
    ),
    "a modal keeps be": (
        "It/PRON/nsubj:pass/4 could/AUX/aux/4 be/AUX/aux:pass/4 used/VERB/root/0 "
        "in/ADP/case/6 cars/NOUN/obl/4",
        ["It could be used in cars"],
    ),
    "has goes before a past form, stays before another participle": (
        "It/PRON/nsubj/3 has/AUX/aux/3 joined/VERB/root/0 Rome/PROPN/obj/3 and/CCONJ/cc/7 "
        "has/AUX/aux/7 taken/VERB/conj/3 Nice/PROPN/obj/7",
        ["It joined Rome", "It has taken Nice"],
    ),
    "a form of be that is parted from its verb": (
        "She/PRON/nsubj:pass/4 was/AUX/aux:pass/4 also/ADV/advmod/4 told/VERB/root/0 "
        "twice/ADV/advmod/4",
        ["She was also told twice"],
    ),
    "what a modal verb is joined to is a verb": (
        "It/PRON/nsubj/3 will/AUX/aux/3 cost/VERB/root/0 money/NOUN/obj/3 and/CCONJ/cc/6 "
        "open/ADJ/conj/3 in/ADP/case/8 May/PROPN/obl/6",
        ["It will cost money", "It will open in May"],
    ),
    "object and name of calling are one": (
        "He/PRON/nsubj/2 called/VERB/root/0 it/PRON/obj/2 a/DET/det/5 step/NOUN/xcomp/2",
        ["He called it a step"],
    ),
    "a month and its year": (
        "It/PRON/nsubj/2 opens/VERB/root/0 in/ADP/case/4 April/PROPN/obl/2 "
        "2027/NUM/nmod:unmarked/4",
        ["It opens in April 2027"],
    ),
    "what was done without is not said to have happened": (
        "It/PRON/nsubj/2 ran/VERB/root/0 without/SCONJ/mark/4 losing/VERB/advcl/2 power/NOUN/obj/4",
        ["It ran without losing power"],
    ),
    "existential there is no subject": (
        "There/PRON/expl/3 had/AUX/aux/3 been/VERB/root/0 rain/NOUN/nsubj/3",
        ["There had been rain"],
    ),
    "a clause that is said": (
        "He/PRON/nsubj/2 says/VERB/root/0 that/SCONJ/mark/6 it/PRON/nsubj/6 is/AUX/cop/6 "
        "hot/ADJ/ccomp/2 ./PUNCT/punct/2",
        ["He says that it is hot", "it is hot"],
    ),
    "said after the quotation, its subject after it": (
        "It/PRON/nsubj/3 's/AUX/cop/3 fun/ADJ/root/0 ,/PUNCT/punct/5 said/VERB/parataxis/3 "
        "Ann/PROPN/nsubj/5",
        ["It 's fun", "It 's fun said Ann"],
    ),
    "attributive participles have no frame": (
        "missing/VERB/amod/2 girl/NOUN/nsubj/3 slept/VERB/root/0 here/ADV/advmod/3",
        ["missing girl slept here"],
    ),
    "a bare time after an object is the verb's": (
        "Rebels/NOUN/nsubj/2 attacked/VERB/root/0 towns/NOUN/obj/2 last/ADJ/amod/5 "
        "week/NOUN/nmod:tmod/3",
        ["Rebels attacked towns", "Rebels attacked last week"],
    ),
    "a phrase with as after an object is the verb's": (
        "They/PRON/nsubj/2 named/VERB/root/0 poison/NOUN/obj/2 as/ADP/case/6 the/DET/det/6 "
        "cause/NOUN/nmod/3",
        ["They named poison", "They named as the cause"],
    ),
    "no verb": ("CLICK/PROPN/root/0 HERE/ADV/advmod/1 ./PUNCT/punct/1", ["CLICK HERE ."]),
}


@pytest.mark.parametrize(("text", "expected"), ROWS.values(), ids=ROWS.keys())
def test_mapping(text, expected):
    assert stus(text) == expected


RELATIONS = ["nsubj", "nsubj:pass", "obj", "obl", "xcomp", "ccomp", "advcl", "acl", "acl:relcl"]
RELATIONS += ["conj", "cop", "aux", "aux:pass", "mark", "case", "cc", "parataxis", "advmod"]
RELATIONS += ["punct", "expl", "root", "nmod"]
TOKENS = ["Ann", "was", "to", "not", "which", "wanted", "from", ",", "there", "."]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(TOKENS),
            st.sampled_from(["VERB", "NOUN", "PROPN", "AUX", "ADV", "PUNCT"]),
            st.integers(-1, 11),
            st.sampled_from(RELATIONS),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_any_tree_even_one_with_circles_gives_valid_frames(rows):
    words = [Word(*row) for row in rows]
    frames = dependency_frames(words)
    sentence = ParsedSentence(tuple(w.text for w in words), frames)
    check_parse(ParsedReference("a", 0, (sentence,)))
    assert all(frame.tags[frame.verb] == "B-V" for frame in frames)
    assert sentence_stus(sentence)
