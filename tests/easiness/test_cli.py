import json
import shutil

import mix_as_authors
import pytest

from litepyramid.io.units import read_units

TREES = [
    "(S (NP (DT A) (NN cat)) (VP (VBD sat)) (. .))",
    "(S (NP (DT The) (NN dog)) (VP (VBD ran) (PP (TO to) (NP (DT the) (NN town)))) (. .))",
]
SENTENCES = ["A cat sat .", "The dog ran to the town ."]
SCUS = ["A cat sat.", "The dog ran.", "The dog was in the town."]
STUS = ["A cat sat", "The dog ran to the town"]


@pytest.fixture
def files(tmp_path):
    """Six inputs, alike but for a word, as line files, and their parses and easiness."""
    names = [f"n{k}" for k in range(6)]

    def lines(name, texts):
        (tmp_path / name).write_text("\n".join(texts) + "\n")

    lines("ids.txt", names)
    lines("refs.txt", [" ".join(f"<t> {s} </t>" for s in SENTENCES)] * 6)
    lines("scus.txt", ["\t".join(SCUS)] * 6)
    lines("stus.txt", ["\t".join(STUS)] * 6)
    rows = []
    for name in names:
        sentences = [
            {"tokens": s.split(), "tree": t} for s, t in zip(SENTENCES, TREES, strict=True)
        ]
        rows.append({"input": name, "reference": 0, "sentences": sentences})
    lines("parses.jsonl", map(json.dumps, rows))
    lines(
        "easiness.jsonl",
        (
            json.dumps(
                {"input": n, "reference": 0, "sentence": s, "easiness": 0.9 - s / 2 - k / 99}
            )
            for k, n in enumerate(names)
            for s in (0, 1)
        ),
    )
    (tmp_path / "sys").mkdir()
    (tmp_path / "labels").mkdir()
    texts = {"a": "A cat sat.", "b": "The dog ran to the town.", "c": "Nothing at all."}
    labels = {"a": "1\t0\t0", "b": "0\t1\t1", "c": "0\t0\t0"}
    for system in "abc":
        lines(f"sys/{system}.txt", [texts[system]] * 6)
        lines(f"labels/{system}.txt", [labels[system]] * 6)
    return tmp_path


def test_fit_predict_and_mix_with_the_papers_features(cli, files):
    sources = ["refs.txt", "-s", "scus.txt", "-t", "stus.txt", "--ids", "ids.txt"]
    common = ["--features", "constituency", "--parses", "parses.jsonl"]
    done = cli("easiness", "fit", *sources, *common, "-o", "r.ubj", cwd=files)
    assert "trained on 12 of 12 sentences, 69 features (constituency)" in done.stderr
    options = ["--ids", "ids.txt", "-g", "r.ubj", "--parses", "parses.jsonl"]
    done = cli(
        "easiness", "predict", "refs.txt", *options, "-o", "e.jsonl", "-f", "json", cwd=files
    )
    values = [s["easiness"] for s in json.loads(done.stdout)["sentences"]]
    assert len(values) == 12
    assert values[0] > values[1]
    rows = [json.loads(line) for line in (files / "e.jsonl").read_text().splitlines()]
    assert [row["easiness"] for row in rows] == values
    mixing = ["-r", "refs.txt", "-s", "scus.txt", "-t", "stus.txt", "--ids", "ids.txt"]
    cli(
        "units",
        "mix",
        *mixing,
        "--stu-share",
        0.5,
        "--easiness",
        "e.jsonl",
        "-o",
        "u.jsonl",
        cwd=files,
    )
    first = json.loads((files / "u.jsonl").read_text().splitlines()[0])
    assert [(u["text"], u["kind"]) for u in first["units"]] == [
        ("The dog ran.", "scu"),
        ("The dog was in the town.", "scu"),
        ("A cat sat", "stu"),
    ]
    scored = cli("score", "sys", "-u", "u.jsonl", "--ids", "ids.txt", "-f", "json", cwd=files)
    assert json.loads(scored.stdout)


@pytest.mark.parametrize(
    ("size", "expected"), [(["--stu-share", 0], "scus"), (["--share", 1], "stus")]
)
def test_both_ends_are_the_files_that_went_in(cli, files, size, expected):
    sources = ["-r", "refs.txt", "-s", "scus.txt", "-t", "stus.txt", "--by", "random"]
    cli("units", "mix", *sources, *size, "-o", "u.txt", cwd=files)
    assert (files / "u.txt").read_text() == (files / f"{expected}.txt").read_text()


def test_the_old_word_for_shares_is_taken(cli, files):
    """--share was people's in one command and the STUs' in three: the two split alike now."""
    mixing = ["-r", "refs.txt", "-s", "scus.txt", "-t", "stus.txt", "--easiness", "easiness.jsonl"]
    plan = ["refs.txt", "--easiness", "easiness.jsonl", "-f", "json"]
    for command, new in (
        (["units", "mix", *mixing, "--ids", "ids.txt", "-f", "json"], "--stu-share"),
        (["budget", "plan", *plan, "--ids", "ids.txt"], "--human-share"),
    ):
        old, now = (cli(*command, share, 0.3, cwd=files) for share in ("--share", new))
        assert old.stdout == now.stdout
        assert new in cli(*command[:2], "--help").stdout
        assert "--share" not in cli(*command[:2], "--help").stdout
    split = json.loads(now.stdout)["sentences"]
    other = json.loads(cli(*command, "--human-share", 0.7, cwd=files).stdout)
    assert sum(s["annotate"] for s in split) == 4  # 12 - floor(.7 * 12)
    assert sum(s["annotate"] for s in other["sentences"]) == 9


def test_evaluate_writes_predictions_for_the_curve(cli, files):
    sources = ["refs.txt", "-s", "scus.txt", "-t", "stus.txt", "--ids", "ids.txt"]
    features = ["--features", "constituency", "--parses", "parses.jsonl", "--k", 3]
    done = cli("easiness", "evaluate", *sources, *features, "--predictions", "p.jsonl", cwd=files)
    assert "Each fold is predicted by a regressor trained on the others" in done.stdout
    curve = ["sys", "-s", "scus.txt", "-r", "refs.txt", "-t", "stus.txt", "-l", "labels"]
    options = ["--ids", "ids.txt", "--easiness", "p.jsonl", "--seeds", 3, "--figure", "c.svg"]
    done = cli("budget", "curve", *curve, *options, "-c", "kendall", "-f", "csv", cwd=files)
    assert len(done.stdout.splitlines()) == 1 + 2 * 11
    assert (files / "c.svg").read_text().startswith("<?xml")


def test_the_curve_takes_a_judge_for_each_fold(cli, files):
    (files / "folds").mkdir()
    for number, names in enumerate((["n0", "n1"], ["n2", "n3"], ["n4", "n5"]), start=9):
        (files / "folds" / f"fold{number}.id").write_text("\n".join(names))
    units = ["-u", "scus.txt", "-l", "labels", "--summaries", "sys"]
    cli("finetune", "lexical", *units, "-o", "judge1", cwd=files)
    for fold in (2, 3):
        shutil.copytree(files / "judge1", files / f"judge{fold}")
    curve = ["sys", "-s", "scus.txt", "-r", "refs.txt", "-t", "stus.txt", "-l", "labels"]
    options = ["--ids", "ids.txt", "--easiness", "easiness.jsonl", "--seeds", 0, "-f", "json"]
    judge = ["--judge", "judge{fold}"]
    done = cli("budget", "curve", *curve, *options, *judge, "--folds", "folds", cwd=files)
    one = cli("budget", "curve", *curve, *options, "-j", "judge1", "--folds", "folds", cwd=files)
    assert json.loads(done.stdout)["points"] == json.loads(one.stdout)["points"]
    done = cli("budget", "curve", *curve, *options, *judge, cwd=files, status=2)
    assert "but no folds. Expected --folds" in done.stderr


def test_as_the_authors(files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    sources = ["scus.txt", "stus.txt", "refs.txt", "0.5", "--ids", "ids.txt"]
    options = ["--easiness", "easiness.jsonl", "--output", "mixed.jsonl"]
    monkeypatch.setattr("sys.argv", ["mix_as_authors.py", *sources, *options])
    mix_as_authors.main()
    rows = capsys.readouterr().out.splitlines()  # the sixth is the threshold, and not above it
    assert (
        next(row.split()[1] for row in rows if row.lstrip().startswith("STUs")) == "5"
    )  # the sixth is the threshold
    assert len(read_units("mixed.jsonl", kind=None)) == 6


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["units", "mix"], "0 sizes of the mix are given"),
        (
            ["units", "mix", "--stu-share", 0.5, "--scu-sentences", 2],
            "2 sizes of the mix are given",
        ),
        (["units", "mix", "--stu-share", 2, "--by", "random"], "the share is 2.0"),
        (["units", "mix", "--stu-sentences", 13, "--by", "random"], "13 of 12 sentences"),
        (["units", "mix", "--stu-share", 0.5, "--easiness", "scus.txt"], "not valid JSON"),
        (
            ["units", "mix", "--stu-share", 0.5, "--regressor", "scus.txt"],
            "is not an XGBoost model",
        ),
    ],
)
def test_mistakes_are_one_message(cli, files, command, words):
    sources = ["-r", "refs.txt", "-s", "scus.txt", "-t", "stus.txt", "--ids", "ids.txt"]
    done = cli(*command, *sources, cwd=files, status=2)
    assert words in done.stderr


def test_the_papers_features_need_trees(cli, files):
    sources = ["refs.txt", "-s", "scus.txt", "-t", "stus.txt", "--ids", "ids.txt"]
    done = cli(
        "easiness",
        "fit",
        *sources,
        "--features",
        "constituency",
        "-o",
        "r.ubj",
        cwd=files,
        status=2,
    )
    assert "need constituency trees" in done.stderr


def test_a_curve_needs_one_sort_of_human_scores(cli, files):
    curve = ["sys", "-s", "scus.txt", "-r", "refs.txt", "-t", "stus.txt", "--ids", "ids.txt"]
    done = cli("budget", "curve", *curve, cwd=files, status=2)
    assert "human scores must come from one place" in done.stderr
    done = cli("budget", "curve", *curve, "-l", "labels", "--figure", "x.gif", cwd=files, status=2)
    assert "unknown figure format '.gif'" in done.stderr


def test_scus_in_place_of_stus_are_refused_by_every_command(cli, files):
    cli("units", "convert", "scus.txt", "--ids", "ids.txt", "-o", "scus.jsonl", cwd=files)
    options = ["--kind", "stu", "--ids", "ids.txt", "-o", "stus.jsonl"]
    cli("units", "convert", "stus.txt", *options, cwd=files)
    ids = ["--ids", "ids.txt"]
    for said, scus, stus in [
        ("scus.jsonl:1: unit 1 is of kind 'scu'", "scus.txt", "scus.jsonl"),
        ("stus.jsonl:1: unit 1 is of kind 'stu'", "stus.jsonl", "stus.txt"),
    ]:
        both = ["--scus", scus, "--stus", stus, *ids]
        for command in (
            ["units", "mix", "-r", "refs.txt", "--stu-share", "0.5", *both],
            ["budget", "curve", "sys", "-r", "refs.txt", "--labels", "labels", *both],
            ["budget", "plan", "refs.txt", "--by", "gold", "--human-share", "0.5", *both],
            ["easiness", "evaluate", "refs.txt", *both],
        ):
            assert said in cli(*command, cwd=files, status=2).stderr
    done = cli("easiness", "predict", "refs.txt", "--stus", "scus.jsonl", *ids, cwd=files, status=2)
    assert "is of kind 'scu'" in done.stderr


def test_references_in_place_of_units_are_refused(cli, files):
    options = ["--references", "refs.txt", "--scus", "refs.txt", "--ids", "ids.txt"]
    done = cli("units", "mix", *options, "--stu-share", 0.5, cwd=files, status=2)
    assert "refs.txt:1: unit 1 has the sentence marks of a reference" in done.stderr


def test_a_few_sentences_centre_the_embedded_regressor(cli, tmp_path):
    cli("demo", "--save", "example", cwd=tmp_path)
    files = ["example/references.jsonl", "-s", "example/scus.jsonl"]
    alone = cli("easiness", "fit", *files, "-o", "alone.ubj", cwd=tmp_path)
    assert "38 sentences are few" in alone.stderr
    assert "--start embedded" in alone.stderr
    start = ["--start", "embedded", "--rounds", 0]
    centred = cli("easiness", "fit", *files, "-o", "mine.ubj", *start, cwd=tmp_path)
    assert "few" not in centred.stderr
    said = json.loads(
        cli("easiness", "evaluate", *files, "--k", 3, *start, "-f", "json", cwd=tmp_path).stdout
    )
    assert said["signature"]["start"] == "embedded"
    assert said["errors"][-1]["gain"] > 0
    names = ["example/references.jsonl", "-f", "json"]
    mine = json.loads(cli("easiness", "predict", *names, "-g", "mine.ubj", cwd=tmp_path).stdout)
    shipped = json.loads(cli("easiness", "predict", *names, cwd=tmp_path).stdout)
    moved = {
        round(one["easiness"] - other["easiness"], 9)
        for one, other in zip(mine["sentences"], shipped["sentences"], strict=True)
    }
    assert len(moved) == 1
    assert moved != {0.0}


def test_a_start_that_is_not_there_and_no_rounds_are_refused(cli, tmp_path):
    cli("demo", "--save", "example", cwd=tmp_path)
    files = ["example/references.jsonl", "-s", "example/scus.jsonl", "-o", "r.ubj"]
    for options, words in (
        (["--start", "other.ubj"], "other.ubj: no such file"),
        (["--rounds", 0], "rounds is 0"),
    ):
        done = cli("easiness", "fit", *files, *options, cwd=tmp_path, status=2)
        assert words in done.stderr
        assert not (tmp_path / "r.ubj").exists()
