"""Long sentences take time that grows as they do."""

import litepyramid as lp
from litepyramid.units.trees import Tree


def test_the_trees_of_a_long_sentence_are_walked_a_few_times_a_word(monkeypatch):
    under = Tree.under
    walked = []
    monkeypatch.setattr(
        Tree, "under", lambda self, *of: walked.append(1) or under(self, *of)
    )
    numbers = []
    for size in (60, 180):
        walked.clear()
        lp.extract([["he said that she told him " * (size // 6)]])
        numbers.append(len(walked))

    assert numbers[1] < 4 * numbers[0]
