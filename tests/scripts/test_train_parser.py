"""The training script end to end, on three sentences of our own."""

import json
import subprocess
import sys
from pathlib import Path

from litepyramid.units.extract import extract
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "train" / "parser.py"
SENTENCES = """
1 Ann    PROPN NNP 2 nsubj
2 left   VERB  VBD 0 root
3 Rome   PROPN NNP 2 obj
4 .      PUNCT .   2 punct

1 They   PRON  PRP 2 nsubj
2 saw    VERB  VBD 0 root
3 the    DET   DT  4 det
4 baker  NOUN  NN  2 obj

1 Go     VERB  VB  0 root
2 to     ADP   IN  3 case
3 Rome   PROPN NNP 1 obl
4 !      PUNCT .   1 punct
"""


def treebank(folder):
    """The sentences as a treebank, the morphology and further columns left empty."""
    lines = []
    for line in SENTENCES.lstrip().splitlines():
        if line:
            number, form, upos, xpos, head, relation = line.split()
            columns = [number, form, "_", upos, xpos, "_", head, relation, "_", "_"]
            line = "\t".join(columns)
        lines.append(line + "\n")
    text = "".join(lines) + "\n"

    for part, times in {"train": 12, "dev": 1, "test": 1}.items():
        (folder / f"en_ewt-ud-{part}.conllu").write_text(text * times)


def test_train_and_use(tmp_path):
    treebank(tmp_path)
    options = "--epochs 4 --invent --titles --batch-words 6 --rate 0.01"
    done = subprocess.run(
        [sys.executable, SCRIPT, "--treebank", ".", "-o", "parser", *options.split()],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["test"]["las"] > 0.8

    out = tmp_path / "parser"
    assert (out / "bare_verbs.txt").read_text() == "go\n"
    assert json.loads((out / "meta.json").read_text())["license"] == "CC BY-SA 4.0"
    backend = EmbeddedBackend(out)
    assert backend.name == "parser-1.0.0"
    [units] = extract(["Ann left Rome ."], srl=backend).units
    assert units.texts == ("Ann left Rome",)
