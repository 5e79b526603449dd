"""The training script end to end, on three sentences of our own."""

import json
import subprocess
import sys
from pathlib import Path

from litepyramid.types import InputReferences
from litepyramid.units.extract import extract
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "train" / "parser.py"
SENTENCES = (
    (
        "Ann PROPN NNP 2 nsubj",
        "left VERB VBD 0 root",
        "Rome PROPN NNP 2 obj",
        ". PUNCT . 2 punct",
    ),
    (
        "They PRON PRP 2 nsubj",
        "saw VERB VBD 0 root",
        "the DET DT 4 det",
        "baker NOUN NN 2 obj",
    ),
    (
        "Go VERB VB 0 root",
        "to ADP IN 3 case",
        "Rome PROPN NNP 1 obl",
        "! PUNCT . 1 punct",
    ),
)


def treebank(folder):
    blocks = []
    for words in SENTENCES:
        rows = []
        for number, word in enumerate(words, start=1):
            form, upos, xpos, head, relation = word.split()
            rows.append(
                f"{number}\t{form}\t_\t{upos}\t{xpos}\t_\t{head}\t{relation}\t_\t_"
            )
        blocks.append("\n".join(rows) + "\n")

    for part, times in {"train": 12, "dev": 1, "test": 1}.items():
        text = "\n".join(blocks * times) + "\n"
        (folder / f"en_ewt-ud-{part}.conllu").write_text(text)


def test_train_and_use(tmp_path):
    treebank(tmp_path)
    out = tmp_path / "parser"
    done = subprocess.run(
        [
            sys.executable,
            SCRIPT,
            "--treebank",
            tmp_path,
            "-o",
            out,
            "--epochs",
            "4",
            "--invent",
            "--titles",
            "--batch-words",
            "6",
            "--rate",
            "0.01",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["test"]["las"] > 0.8
    assert (out / "bare_verbs.txt").read_text() == "go\n"
    assert json.loads((out / "meta.json").read_text())["license"] == "CC BY-SA 4.0"
    backend = EmbeddedBackend(out)
    entry = InputReferences("a", (("Ann left Rome .",),), (True,))
    assert extract([entry], srl=backend).units[0].texts == ("Ann left Rome",)
    assert backend.name == "parser-1.0.0"
