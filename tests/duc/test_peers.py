"""Pyramid scores from peer annotations, against values counted by hand."""

import numpy as np
import pytest
from cases import refused, same
from duc_files import FOUND, SCUS, SUMMARY, pan, pyr

import litepyramid as lp
from litepyramid.duc.ducview import read_pyramid
from litepyramid.duc.peers import read_pyramid_files, score_peers
from litepyramid.units.align import align_all, sentences_of


@pytest.fixture
def folder(tmp_path):
    """Two inputs; system 17 on both, system 4 on one, and system 9 with nothing
    marked."""
    place = tmp_path / "tac"
    place.mkdir()
    pyr(place / "D0901-A.pyr")
    pan(place / "D0901-A.M.100.E.17.pan", FOUND)
    pan(place / "D0901-A.M.100.E.4.pan", {"5": [["cracks"]]})
    pan(place / "D0901-A.M.100.E.9.pan", {}, ["Nothing of it."])
    pan(place / "D0902-A.M.100.E.17.pan", {uid: [["cracks"]] for uid, _, _ in SCUS})
    return place


def test_scores_counted_by_hand(folder):
    """Weights 3 3 2 1 1 1: 11 contributors, 3 references, so an ideal of floor(3.67 +
    .5) = 4."""
    result = score_peers(read_pyramid_files([folder]))
    assert result.scores.systems == ("17", "4", "9")
    assert result.scores.inputs == ("D0901-A", "D0902-A")
    modified, original = result.scores.values
    ideal = 3 + 3 + 2 + 1
    # system 17: 3 + 1 + 3 = 7; it holds 3 SCUs, one of them twice, and one more: 5 in
    # all
    same(
        modified,
        [
            [7 / ideal, 11 / ideal],
            [1 / ideal, np.nan],
            [0, np.nan],
        ],
    )
    same(
        original,
        [
            [7 / (3 + 3 + 2 + 1 + 1), 11 / 11],
            [1 / 3, np.nan],
            [np.nan, np.nan],
        ],
    )
    assert result.counts == ((2, 9, 1), (1, 1, 0), (1, 0, 0))
    text = result.to_table()
    assert "2 summaries were not annotated" in text
    assert "1 summary has no SCU marked at all" in text


def test_files_that_do_not_say_how_many_references(tmp_path):
    path = pan(
        tmp_path / "a.1.pan",
        {"1": [["closed"]]},
        ["closed"],
        references={"A": ["The bridge at Lune was closed; cracks."]},
        scus=[("1", "The bridge was closed", [(0, ["closed"])])],
    )
    text = path.read_text()
    path.write_text(text.replace("-----------------", ""))
    folder = read_pyramid_files([path])
    with refused("number of references"):
        score_peers(folder)
    assert score_peers(folder, references=1).scores.values[0, 0, 0] == 1.0


def test_labels_units_and_references_are_what_the_readers_read(folder, tmp_path):
    for to in ("units", "labels", "summaries", "references"):
        lp.convert([folder], to=to, complete=True).save(tmp_path / f"{to}.jsonl")

    data = lp.load(
        tmp_path / "summaries.jsonl",
        tmp_path / "units.jsonl",
        labels=tmp_path / "labels.jsonl",
        references=tmp_path / "references.jsonl",
    )
    assert (data.systems, data.inputs) == (("17",), ("D0901-A", "D0902-A"))
    units = [*data.units]
    assert sorted([unit.weight for unit in units[0].units]) == [1, 1, 1, 2, 3, 3]
    # SCUs 1, 2 and 4 of the first input are in the summary, all of the second's.
    found = {SCUS[n][1] for n in (0, 1, 3)}
    of_first = [float(text in found) for text in units[0].texts]
    same(data.labels.values, [[*of_first, 1, 1, 1, 1, 1, 1]])
    assert data.summaries.texts[0][0] == " ".join(SUMMARY)
    references = data.references
    assert [len(entry.references) for entry in references] == [3, 3]

    # Aligned, the units are where their contributors are.
    contributors = set()
    for scu in read_pyramid(folder / "D0901-A.pyr").scus:
        contributors.update(scu.places)
    aligned = align_all(units[:1], sentences_of(references)[:7])
    placed = aligned[0].units.units
    assert {(unit.reference, unit.sentence) for unit in placed} == contributors
    assert sum(unit.weight for unit in placed) == 11


def test_each_annotation_is_scored_by_the_pyramid_that_it_carries(folder):
    """As in the update sets of 2007: the topic's .pyr was changed after the peers were
    annotated.

    In the .pan the bridge has three contributors, in the .pyr one: 7 / 9, not 5 / 7.
    """
    other = [(uid, label, places[:1]) for uid, label, places in SCUS]
    pyr(folder / "D0901-A.pyr", scus=other)
    pan(folder / "D0901-A.M.100.E.50.pan", {"3": [["Lune"]]}, scus=other)
    pyramids = read_pyramid_files([folder])
    scores = score_peers(pyramids).scores
    assert scores.systems == ("17", "4", "50", "9")
    # of 50 six SCUs of weight 1 from three references
    assert scores.values[0, [0, 2], 0] == pytest.approx([7 / 9, 1 / 2])
    assert [u.weight for u in pyramids.units()[0].units] == [3, 3, 2, 1, 1, 1]
    notes = " ".join(pyramids.notes)
    assert "1 .pyr files differ from the pyramid" in notes
    (folder / "D0901-A.pyr").unlink()
    alone = score_peers(read_pyramid_files([folder])).scores
    assert np.array_equal(alone.values, scores.values, equal_nan=True)


def test_the_same_thing_twice_is_an_error(folder, tmp_path):
    again = tmp_path / "again"
    again.mkdir()
    pyr(again / "D0901-A.pyr")
    with refused("is also in"):
        read_pyramid_files([folder, again])
    pan(again / "D0901-A.x.17.pan", {})
    with refused("system '17' on input 'D0901-A' is also in"):
        read_pyramid_files([folder, again])


PEERS = """
D0701.M.250.A.07.pan
d0702c.m.250.c.7.pan
D0701.M.250.A.15.pan
D0702.M.250.C.15.pan
D0702.M.250.C.24.PAN
"""


@pytest.fixture
def duc(tmp_path):
    """Two sets of DUC 2007 as NIST names them; peer 24 is annotated on one of them
    alone."""
    place = tmp_path / "DUC2007"
    place.mkdir()
    pyr(place / "D0701-AGHI.pyr")
    pyr(place / "D0702-BCFJ.pyr")
    (place / "allpans").mkdir()
    for name in PEERS.split():
        pan(place / "allpans" / name, {"3": [["Lune"]]})
    return place


def test_nist_names_of_one_set_are_one_input(duc):
    """Summarizers' letters, the assessor's, case and leading zeros do not part what is
    one."""
    folder = read_pyramid_files([duc])
    assert (folder.inputs, folder.systems) == (("D0701", "D0702"), ("15", "24", "7"))
    assert "D0701-AGHI.pyr belongs to D0701" in folder.notes[0]
    result = score_peers(folder)
    assert result.counts == ((2, 2, 0), (1, 1, 0), (2, 2, 0))
    assert "1 summary was not annotated" in result.to_table()
    notes = " ".join(lp.pyramid([duc], complete=True).notes)
    assert "1 system of 3 annotated on fewer than 2 inputs: 24 (1)" in notes
    assert "not annotated and" not in notes
    data = lp.convert([duc], complete=True).data
    assert (data.systems, data.inputs) == (("15", "7"), ("D0701", "D0702"))
    assert data.labels.values.sum(axis=1).tolist() == [2, 2]


def test_all_annotations_of_a_summary_count(tmp_path):
    """DUC 2006: annotator 114 and another one did set D0631; human summaries have
    letters."""
    pyr(tmp_path / "d0631.pyr")
    pan(tmp_path / "114.D0631.M.250.F.10.pan", {"3": [["Lune"]]})
    pan(tmp_path / "20.D0631.M.250.F.10.pan", {"9": [["Monday"]]})
    pan(tmp_path / "20.D0631.M.250.F.a.pan", {"9": [["Monday"]]})
    folder = read_pyramid_files([tmp_path])
    result = score_peers(folder)
    rows = [(a.system, a.annotator, round(9 * a.modified)) for a in result.annotations]
    assert rows == [("10", "20", 1), ("10", "114", 3), ("A", "20", 1)]
    assert result.scores.values[0, :, 0] == pytest.approx([2 / 9, 1 / 9])
    assert result.counts == ((1, 2, 0), (1, 1, 0))
    assert "another person annotated too (D0631)" in " ".join(folder.notes)
    labels = folder.labels()
    texts = [fact.text for fact in labels.units.facts]
    closed, monday = map(texts.index, (SCUS[0][1], SCUS[3][1]))
    assert labels.systems == ("10", "A")
    of_10, of_a = labels.values
    assert of_10[[closed, monday]].tolist() == [0.5, 0.5]
    assert (of_10.sum(), of_a[monday], of_a.sum()) == (1, 1, 1)


def test_the_signature_names_what_the_scores_depend_on(folder):
    before = lp.pyramid([folder])
    (folder / "D0901-A.pyr").rename(folder / "D0901-A-XYZ.pyr")
    assert lp.pyramid([folder]).signature == before.signature
    pan(folder / "D0901-A.M.100.E.4.pan", {"3": [["Lune"]]})
    after = lp.pyramid([folder])
    assert after.signature != before.signature
    assert not np.array_equal(after.scores.values, before.scores.values, equal_nan=True)


def test_initial_and_update_sets_are_two_and_names_may_lack_an_ending(tmp_path):
    """TAC: parts A and B; its peer annotations have no .pan, like its plain
    summaries."""
    for part in "AB":
        pyr(tmp_path / f"D0901-{part}.pyr")
        pan(tmp_path / f"D0901-{part}.M.100.C.3", {"3": [["Lune"]]})
    (tmp_path / "D0901-A.M.100.C.4").write_text("A plain summary.")
    folder = read_pyramid_files([tmp_path])
    assert (folder.inputs, folder.systems) == (("D0901-A", "D0901-B"), ("3",))
    assert not folder.notes


def test_names_reach_both_kinds_of_files(tmp_path):
    pyr(tmp_path / "pyramid_of_rain_by_ann.pyr")
    pan(tmp_path / "rain_mine.pan", {"3": [["Lune"]]})
    names = r"^(?:pyramid_of_)?(?P<input>[a-z]+)_(?P<system>[a-z]+)"
    folder = read_pyramid_files([tmp_path], names=names)
    assert (folder.inputs, folder.systems) == (("rain",), ("mine",))
    pan(tmp_path / ("a" * 100 + ".2.pan"), {})
    with refused("takes longer than 1 s on this name"):
        lp.pyramid([tmp_path], names="^(?P<input>a|a|aa)*(?P<system>b?)$")


def test_no_complete_system_is_an_error(duc):
    for name in ("D0701.M.250.A.07", "D0702.M.250.C.15"):
        (duc / "allpans" / f"{name}.pan").unlink()
    with refused("no system was annotated on all of 2 annotated inputs"):
        read_pyramid_files([duc]).complete()
    for file in (duc / "allpans").glob("?0702*"):
        file.unlink()
    complete = read_pyramid_files([duc]).complete()
    assert (complete.inputs, complete.systems) == (("D0701",), ("15",))
    assert "Left out: 1 input without any annotation." in complete.notes
