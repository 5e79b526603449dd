"""References in a language that no parser here reads are scored in one step."""

import pytest

import litepyramid as lp


@pytest.mark.parametrize(
    ("language", "reference", "summary"),
    [
        ("zh", "他今天去了北京。她留在家里。", "他今天去了北京。"),
        ("ja", "彼は今日東京に行った。彼女は家に残った。", "彼は今日東京に行った。"),
        (None, "उनी आज काठमाडौं गए। उनी घरमा बसिन्।", "उनी आज काठमाडौं गए।"),
    ],
)
def test_each_sentence_is_a_unit(language, reference, summary):
    result = lp.score(
        [summary], references=[reference], judge="recall", language=language, samples=50
    )
    assert len(result.units.facts) == 2
    assert any("Each sentence is a unit" in note for note in result.notes)
    assert 0 < result.scores["system"] < 1
