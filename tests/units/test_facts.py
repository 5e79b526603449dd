"""Facts: what a tree gives, what it must never give, and how it is written."""

import re
from pathlib import Path

import pytest
from cases import cases
from hypothesis import given
from hypothesis import strategies as st
from written import any_trees

from litepyramid.data.records import InputReferences, Unit
from litepyramid.easiness.gold import simulation_accuracy
from litepyramid.units.extract import extract
from litepyramid.units.facts import tree_facts
from litepyramid.units.making import weighted
from litepyramid.units.relations import RELATIONS
from litepyramid.units.spelling import spaces_before, spelled


def texts_of(*references):
    """The facts of references, those of each in a list."""
    made = extract({f"{n:03d}": [text] for n, text in enumerate(references)})
    return [list(entry.texts) for entry in made.units]


@pytest.mark.parametrize("row", RELATIONS, ids=lambda row: row.names.split()[0])
def test_each_relation_gives_what_its_example_says(row):
    assert texts_of(row.example) == [list(row.facts)]


KEPT_APART = """
The mayor never smoked and gave the money to the poor. | The mayor never smoked | The mayor gave the money | The mayor gave the money to the poor
Ann has never lost a match and won the cup in May. | Ann has never lost a match | Ann won the cup | Ann won the cup in May
He hardly ever drank and died at 90. | He hardly ever drank | He died at 90
She was discharged after four days and advised to stop smoking. | She was discharged | She was discharged after four days | She was advised to stop smoking
The coach asked players to rest and praised the fans. | The coach asked players to rest | The coach praised the fans
The assistant explains that coats on sale can't be refunded, but offers to exchange it for a larger one. | The assistant explains that coats on sale can't be refunded | coats on sale can't be refunded | The assistant offers to exchange it for a larger one
If the light stays green, the reset has failed and you should contact support. | If the light stays green, the reset has failed | If the light stays green you should contact support
A widow opens a cinema in a village without electricity. | A widow opens a cinema in a village without electricity
One sailor killed, 22 others rescued, seven of whom jumped overboard. | One sailor killed, 22 others rescued | seven of whom jumped overboard
Customers who registered their device within 30 days get a three-year warranty. | Customers who registered their device within 30 days get a three-year warranty
"""


@pytest.mark.parametrize("row", cases(KEPT_APART))
def test_conjuncts_keep_their_own_subject_negation_and_condition(row):
    text, *facts = row
    assert texts_of(text) == [facts]


def test_what_may_be_said_or_done_is_not_told_of_either():
    """Was it proposed, or did the treasurer propose it? Nothing is split off."""
    said = "The treasurer reported that 4,200 pounds had been raised"
    whole = f"{said} and proposed to spend half of it on benches"
    assert texts_of(f"{whole}.") == [[said, "4,200 pounds had been raised", whole]]


NOTHING_LOST = """
Sales rose. Ann won. | Sales rose | Ann won
The report came out. No refunds. Not included. | The report came out | No refunds | Not included
"""


@pytest.mark.parametrize("row", cases(NOTHING_LOST))
def test_short_sentences_are_units(row):
    text, *facts = row
    assert texts_of(text) == [facts]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "To cancel:\n1. Open Settings.\n2. Choose Plan.\n3. Press Cancel.\n",
            ["Open Settings", "Choose Plan", "Press Cancel"],
        ),
        (
            "- Free parking\n- Free Wi-Fi\n- Pets allowed\n- Breakfast included",
            ["Free parking", "Free Wi-Fi", "Pets allowed", "Breakfast included"],
        ),
        (
            "| City | Rain |\n|---|---|\n| Oslo | 12 mm |\n| Bergen | 40 mm |\n",
            ["City: Oslo; Rain: 12 mm", "City: Bergen; Rain: 40 mm"],
        ),
        (
            "Plan,Price\nPro,$29\nTeam,$99\n",
            ["Plan: Pro; Price: $29", "Plan: Team; Price: $99"],
        ),
        ("# Results\nSales rose in May.", ["Sales rose in May"]),
    ],
    ids=["steps", "list", "table", "csv", "heading"],
)
def test_steps_items_and_rows_are_facts_and_headings_are_counted(text, facts):
    made = extract([text])
    assert list(made.units[0].texts) == facts
    headed = len(text.strip().splitlines()) > len(facts) and "Free" not in text
    assert made.counts["headings, links and dates without a unit"] == headed


ALONE = """
Ann Lee won. CLICK HERE to see how she won. | Ann Lee won
Ann Lee won. READ: Who beat Bob? | Ann Lee won
Why did Ann Lee win? | Why did Ann Lee win?
It was ranked 16th in May. | It was ranked 16th | It was ranked 16th in May
Ann Lee left. Bob ran for her life. | Ann Lee left | Bob ran for her life
Ann Lee won. Said she was happy. | Ann Lee won | Said she was happy | she was happy
Ann Lee won. Her son ran. | Ann Lee won | Ann Lee's son ran
Asked why, Ann Lee said: 'I won.' | Asked why, Ann Lee said: I won
World War I ended in May. | World War I ended in May
It may go after Ann looks at it. | It may go | It may go after Ann looks at it
Ann left before Bob hit her. | Ann left before Bob hit her
Ann won in 1943, when Bob was 13. | Ann won in 1943 | Ann won when Bob was 13 | Bob was 13
Ann Lee won. Mr Lee ran with her. | Ann Lee won | Mr Lee ran with her
Ann Lee ran. A witness said she fell. | Ann Lee ran | A witness said she fell | she fell
Ann thought Bob fell. | Ann thought Bob fell
A 35-metre - long boat sank. | A 35-metre - long boat sank
Ann saw a cat called Rex. | Ann saw a cat | a cat was called Rex
Ann Lee, 57, was found dead. | Ann Lee was found dead | Ann Lee was 57
Singer Ann Lee won't sing here. | Singer Ann Lee won't sing here
Ann won in May, according to Bob. | Ann won in May, according to Bob
Ann pays $3 for every day. | Ann pays $3 for every day
Ann is hidden or offered to him. | Ann is hidden or offered to him
She came after claims he lied. | She came after claims he lied
Ann won the parents ' vote. | Ann won the parents' vote
I 'm not sure he 'll win. | I'm not sure he'll win
Ann left. Nor did Bob stay. | Ann left | Nor did Bob stay
Nobody believes that Ann won. | Nobody believes that Ann won
Hardly anyone believes that Ann won. | Hardly anyone believes that Ann won
A few believe that Bob is ill. | Bob is ill | A few believe that Bob is ill
None of them said Ann lied, but Bob left. | None of them said Ann lied | Bob left
Ann stopped short of saying Bob was ill. | Ann stopped short of saying Bob was ill
Ann left without saying that Bob was ill. | Ann left without saying that Bob was ill
A short man said that Bob was ill. | A short man said that Bob was ill | Bob was ill
Reports that Ann resigned were false. | Reports that Ann resigned were false
Claims that Bob lied were rejected. | Claims that Bob lied were rejected
Ann neither helps nor harms us. | Ann neither helps nor harms us
Rarely does she smile. | Rarely does she smile
Not once did Bob complain. | Not once did Bob complain
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
Ann Lee: Eve Berg won the vote. She likes tea. | Ann Lee: Eve Berg won the vote | She likes tea
Ann and Bob Lee met in Rome. She likes tea. | Ann and Bob Lee met in Rome | She likes tea
Her chief work is Hydra, published in 1738. | Her chief work is Hydra | Hydra was published | Hydra was published in 1738
Eight prison officers and a prisoner have been taken to hospital. | Eight prison officers have been taken | a prisoner has been taken | Eight prison officers and a prisoner have been taken to hospital
Police are treating a fire at a children's toy store as suspicious. | Police are treating a fire as suspicious | Police are treating a fire at a children's toy store as suspicious
City leader Anderson has pulled out of the race to become the new MP. | Anderson has pulled out of the race | Anderson has pulled out of the race to become the new MP | Anderson is a City leader
Royal Mail has apologised to a man after a parcel fell down his toilet. | Royal Mail has apologised to a man after a parcel fell down his toilet
Mr Brandt will ask three firms. | Mr Brandt will ask three firms
Ann Lee met a woman in Rome. She likes tea. | Ann Lee met a woman | Ann Lee met a woman in Rome | She likes tea
"""


@pytest.mark.parametrize("row", cases(ALONE))
def test_facts_that_a_reader_understands_alone(row):
    text, *facts = row
    assert texts_of(text) == [facts]


@given(any_trees())
def test_any_tree_gives_facts_of_its_own_words(words):
    tokens = range(len(words))
    for fact in tree_facts(words):
        own = [token for token in fact.tokens if isinstance(token, int)]
        put = {token for token in fact.tokens if isinstance(token, str)}
        assert set(own) <= set(tokens)
        assert len(set(own)) == len(own) > 0
        assert put <= {"is", "are", "was", "were", "a", "an", "has"}


WEIGHTS = """
equal | 1 1 1
sentences | .75 .75 1.5
words | .75 1.5 .75
"""


@pytest.mark.parametrize("row", cases(WEIGHTS))
def test_what_weighs_the_same(row):
    """Ann and won are in two facts and count half in each; Rome counts once."""
    weights, expected = row
    texts = [("Ann won", 0), ("Ann won in Rome", 0), ("Rain", 1)]
    units = [Unit(text, sentence=number) for text, number in texts]
    made = [unit.weight for unit in weighted(units, weights)]
    assert made == pytest.approx([float(value) for value in expected.split()])


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
Police: Bob fled. Ann left.
"""


@pytest.mark.parametrize("row", cases(QUOTED))
def test_what_somebody_says_is_marked(row):
    text, *said = row
    units = extract({"a": text}).units[0].units
    assert [unit.text for unit in units if unit.said] == said


def own_references():
    """60 short references, each with the facts that a person wrote of it."""
    text = (Path(__file__).parents[1] / "data" / "units" / "facts.txt").read_text()
    references = []
    for block in text.strip().split("\n\n"):
        lines = [line for line in block.split("\n") if not line.startswith("# ")]
        opening = [n for n, line in enumerate(lines) if re.match(r"\||- |\d\. ", line)]
        end = max(opening, default=0) + 1
        references.append(("\n".join(lines[:end]), lines[end:]))
    return references


def test_facts_are_those_that_a_person_writes():
    """News, dialogues, minutes, product answers, how-tos: a fact is found if one has
    nearly its words."""
    references = own_references()
    assert len(references) == 60
    found = []
    shared = []
    for ours, (_, facts) in zip(
        texts_of(*[text for text, _ in references]), references, strict=True
    ):
        found += [simulation_accuracy(fact, ours) >= 0.8 for fact in facts]
        shared += [simulation_accuracy(fact, facts) >= 0.8 for fact in ours]
    assert sum(found) / len(found) >= 0.82
    assert sum(shared) / len(shared) >= 0.87
