"""Facts: what a frame gives, what it must never give, and how it is written."""

from itertools import permutations

import pytest
from cases import cases
from hypothesis import given
from hypothesis import strategies as st
from written import any_frames, blocks, framed

from litepyramid.data.records import InputReferences
from litepyramid.units.coreference import ages
from litepyramid.units.extract import extract
from litepyramid.units.facts import sentence_facts
from litepyramid.units.spelling import spaces_before, spelled


@pytest.mark.parametrize(("frames", "expected"), blocks("facts.txt"))
def test_facts_of_frames(frames, expected):
    """What somebody said has "said: " before it."""
    parsed = framed(frames)
    facts = []
    for fact in sentence_facts(parsed):
        text = " ".join(parsed.tokens[i] for i in fact.tokens)
        facts.append(f"said: {text}" if fact.said else text)
    assert facts == expected


ALONE = """
Ann Lee won. CLICK HERE to see how she won. | Ann Lee won
Ann Lee won. READ: Who beat Bob? | Ann Lee won
Why did Ann Lee win? | Why did Ann Lee win?
It was ranked 16th in May. | It was ranked 16th in May
Ann Lee left. Bob ran for her life. | Ann Lee left | Bob ran for her life
Ann Lee won. Said she was happy. | Ann Lee won | she was happy | Said she was happy
Ann Lee won. Her son ran. | Ann Lee won | Ann Lee's son ran
Asked why, Ann Lee said: 'I won.' | Ann Lee said: I won
World War I ended in May. | World War I ended in May
It may go after Ann looks at it. | It may go after Ann looks at it
Ann left before Bob hit her. | Ann left before Bob hit her | Bob hit Ann
Ann won in 1943, when Bob was 13. | Ann won in 1943, when Bob was 13
Ann Lee won. Mr Lee ran with her. | Ann Lee won | Mr Lee ran with her
Ann Lee ran. A witness said she fell. | Ann Lee ran | A witness said she fell | she fell
Ann thought Bob fell. | Ann thought Bob fell
A 35-metre - long boat sank. | A 35-metre - long boat sank
Ann likes it more than Bob likes it. | Ann likes it more than Bob likes it
Ann saw a cat called Rex. | Ann saw a cat called Rex
Ann Lee and Bob Ray, who is ill, won. | Bob Ray is ill | Ann Lee and Bob Ray won
The gun Bob used was old. | Bob used the gun | The gun Bob used was old
Ann Lee, 57, was found dead. | Ann Lee was found dead | Ann Lee was 57
Singer Ann Lee won't sing here. | Singer Ann Lee won't sing here
Ann won in May, according to Bob. | Ann won in May, according to Bob
Ann pays $3 for every day. | Ann pays $3 for every day
Ann is hidden or offered to him. | Ann is hidden
She came after claims he lied. | She came after claims he lied
Ann won the parents ' vote. | Ann won the parents' vote
I 'm not sure he 'll win. | I'm not sure he'll win
Ann left. Nor did Bob stay. | Ann left | Nor did Bob stay
Nobody believes that Ann won. | Nobody believes that Ann won
Hardly anyone believes that Ann won. | Hardly anyone believes that Ann won
A few believe that Bob is ill. | A few believe that Bob is ill | Bob is ill
None of them said Ann lied, but Bob left. | None of them said Ann lied | Bob left
Ann stopped short of saying Bob was ill. | Ann stopped short of saying Bob was ill
Ann left without saying that Bob was ill. | Ann left without saying that Bob was ill
A short man said that Bob was ill. | A short man said that Bob was ill | Bob was ill
Reports that Ann resigned were false. | Reports that Ann resigned were false
Claims that Bob lied were rejected. | Claims that Bob lied were rejected
Ann neither helps nor harms us. | Ann neither helps nor harms us
Rarely does she smile. | Rarely does she smile
Not once did Bob complain. | Not once did Bob complain
He did not eat, drink or sleep. | He did not eat | He did not eat, drink or sleep
Except as provided in section 4.2(b), no party is liable for it. | Except as provided in section 4.2(b), no party is liable for it
Ann met Bob. He paid. She left. | Ann met Bob | He paid | She left
Bob met Alice. He paid. | Bob met Alice | Bob paid
Sarah Lee hit a man. He fell. | Sarah Lee hit a man | He fell
Lee met a man. He fell. | Lee met a man | He fell
Wei Chen sued Olga Ray. She won. | Wei Chen sued Olga Ray | She won
BST met Bob Lee. He won. | BST met Bob Lee | He won
Ann Lee, a singer, won. She ran. | Ann Lee, a singer, won | Ann Lee ran
Mr Lee sued Mrs Lee. Lee won. | Mr Lee sued Mrs Lee | Lee won
Ann Lee won. Bob said: "She ran well." | Ann Lee won | Bob said: She ran well | She ran well
Ann Lee won. Singer Eve Berg ran. She likes tea. | Ann Lee won | Singer Eve Berg ran | Singer Eve Berg likes tea
Ann Lee spoke of the mayor. She likes tea. | Ann Lee spoke of the mayor | She likes tea
Ann Lee left. Police told her. | Ann Lee left | Police told Ann Lee
Friday, May 8, 2009. Ann Lee, 33, left Rome. | Ann Lee left Rome | Ann Lee is 33
Ann Lee sold it. Maria, 72, left her husband. | Ann Lee sold it | Maria left her husband | Maria is 72
Ann Lee spoke for Eve Berg. Berg left her husband. | Ann Lee spoke for Eve Berg | Eve Berg left her husband
Ann Lee: Eve Berg won the vote. She likes tea. | Eve Berg won the vote | She likes tea
Ann and Bob Lee met in Rome. She likes tea. | Ann and Bob Lee met in Rome | She likes tea
Ann Lee met a woman in Rome. She likes tea. | Ann Lee met a woman in Rome | She likes tea
On Tuesday Ann Lee fell. Victim says she likes tea. | On Tuesday Ann Lee fell | Victim says she likes tea | she likes tea
"""


@pytest.mark.parametrize("row", cases(ALONE))
def test_facts_that_a_reader_understands_alone(row):
    text, *facts = row
    assert [*extract({"a": text}).units[0].texts] == facts


AGES = """
Ann Lee , 33 , and Bob , 7 . | Ann Lee is 33 | Bob is 7
A man of Leeds , 33 , left in May 12 , 2020 .
Ann Lee , ² , left .
"""


@pytest.mark.parametrize("row", cases(AGES))
def test_ages_stand_behind_names(row):
    text, *expected = row
    tokens = text.split()
    texts = []
    for name, age in ages(tokens):
        texts.append(" ".join([*(tokens[i] for i in name), "is", tokens[age]]))
    assert texts == expected


@given(any_frames())
def test_any_frames_give_facts_of_their_own_words(parsed):
    facts = sentence_facts(parsed)
    assert facts

    for fact in facts:
        assert len(set(fact.tokens)) == len(fact.tokens) > 0
        assert set(fact.tokens) <= set(range(len(parsed.tokens)))
        assert fact.verb == -1 or fact.verb in fact.tokens

    for fact, other in permutations(facts, 2):
        contained = set(fact.tokens) < set(other.tokens)
        assert not (contained and fact.verb == other.verb)


@given(st.text("ab ,.'()", max_size=30))
def test_words_are_spelled_as_the_text_has_them(text):
    """All words of a text come back as the text, but for spaces before marks."""
    tokens = text.replace(",", " , ").replace(".", " . ").split()
    spaces = spaces_before(text, tokens)
    written = spelled(list(zip(tokens, spaces, strict=True)))
    assert " ," not in written
    assert " ." not in written
    assert set(written) - {" "} <= set(text)


def test_a_reference_is_written_with_its_own_spaces_and_quotes():
    text = 'The 27-year-old wasn\'t hurt (he said), but "very" tired; he left.'
    references = [InputReferences("a", ((text,),), (False,))]
    units = extract(references, srl="sentences").units[0]
    assert units.texts == (text.rstrip("."),)


QUOTED = """
He left. "They won," Ann said. "They ran. They fell." It rained. | They won | They ran | They fell
Police: Bob fled. Ann left. | Bob fled
"""


@pytest.mark.parametrize("row", cases(QUOTED))
def test_what_somebody_says_is_marked(row):
    text, *said = row
    units = extract({"a": text}).units[0].units
    assert [unit.text for unit in units if unit.said] == said
