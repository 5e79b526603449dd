"""Times native SRL: all predicates of all sentences in common batches against verb by verb.

Makes an archive of BERT-base's size with random weights, tags the same sentences with the same
loaded weights in both ways, checks that the tags are equal, and prints medians and their ratio.

    python scripts/bench/srl.py [--sentences 30] [--repeats 5] [--threads N]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np

LETTERS = list("abcdefghijklmnopqrstuvwxyz")
MODIFIERS = ["ADV", "CAU", "COM", "DIR", "DIS", "EXT", "GOL"]
MODIFIERS += ["LOC", "MNR", "MOD", "NEG", "PRD", "PRP", "TMP"]
ROLES = [
    *(f"ARG{i}" for i in range(6)),
    *(f"{prefix}ARG{i}" for prefix in ("R-", "C-") for i in range(5)),
    *(f"{prefix}ARGM-{name}" for prefix in ("", "R-", "C-") for name in MODIFIERS),
    *("ARGM-ADJ", "ARGM-LVB", "ARGM-REC", "ARGA", "ARGM-DSP"),
]


def words(rng: np.random.Generator, count: int) -> list[str]:
    """Made-up words."""
    return ["".join(rng.choice(LETTERS, size=rng.integers(2, 10))) for _ in range(count)]


def make_archive(path: Path, vocabulary: list[str], rng: np.random.Generator) -> None:
    """Writes an archive with random weights of BERT-base's size."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(int(rng.integers(2**31)))
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS]
    pieces += [f"##{letter}" for letter in LETTERS] + vocabulary
    config = BertConfig(vocab_size=len(pieces))
    labels = ["O", "B-V", "I-V", *(f"{p}-{role}" for role in ROLES for p in "BI")]
    state = {f"bert_model.{k}": v for k, v in BertModel(config).state_dict().items()}
    state["tag_projection_layer.weight"] = torch.randn(len(labels), config.hidden_size) * 0.2
    state["tag_projection_layer.bias"] = torch.randn(len(labels)) * 0.2
    weights = io.BytesIO()
    torch.save(state, weights)
    settings = {
        "dataset_reader": {"type": "srl", "bert_model_name": "random-bert-base"},
        "model": {"type": "srl_bert", "bert_model": config.to_dict()},
    }
    files = {
        "config.json": json.dumps(settings).encode(),
        "weights.th": weights.getvalue(),
        "vocabulary/labels.txt": "\n".join(labels).encode(),
        "vocabulary/non_padded_namespaces.txt": b"*labels\n*tags\n",
        "random-bert-base/vocab.txt": "\n".join(pieces).encode(),
    }
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sentences", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=None, help="torch's threads [its default]")
    parser.add_argument("--seed", type=int, default=12345)
    arguments = parser.parse_args()

    import torch
    import transformers

    from litepyramid.units.parsers.allennlp.srl_bert import load_srl_bert, tag_predicates

    transformers.utils.logging.set_verbosity_error()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    rng = np.random.default_rng(arguments.seed)
    vocabulary = words(rng, 4000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random-srl-bert-base.tar"
        make_archive(path, vocabulary, rng)
        start = time.perf_counter()
        model = load_srl_bert(path)
        loading = time.perf_counter() - start

    # Lengths and predicates as in news: about 23 words and 2.3 predicates a sentence, a word in
    # eight cut into pieces.
    sentences, verbs = [], []
    for length in np.clip(rng.normal(23, 10, arguments.sentences), 4, 60).astype(int):
        sentence = [str(w) for w in rng.choice(vocabulary, size=length)]
        sentences.append([w[:-1] + "zq" if rng.random() < 0.125 else w for w in sentence])
        count = min(length, 1 + rng.poisson(1.3))
        verbs.append(sorted(int(i) for i in rng.choice(length, size=count, replace=False)))

    ways = {"verb by verb": 1, "batched": 1000}
    found = {
        name: tag_predicates(model, sentences, verbs, batch_pieces=size, keep_logits=True)
        for name, size in ways.items()
    }
    pairs = [
        (a, b)
        for one, other in zip(*found.values(), strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    if any(a.tags != b.tags for a, b in pairs):
        raise SystemExit("the two ways give other tags")
    difference = max(float(np.abs(a.logits - b.logits).max()) for a, b in pairs)
    pieces = sum(len(a.logits) for a, _ in pairs)

    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(arguments.repeats):
        for name, size in ways.items():
            start = time.perf_counter()
            tag_predicates(model, sentences, verbs, batch_pieces=size)
            times[name].append(time.perf_counter() - start)
    ratios = np.array(times["verb by verb"]) / np.array(times["batched"])
    print(
        f"{len(sentences)} sentences, {len(pairs)} predicates, {pieces} word pieces;"
        f" {torch.get_num_threads()} torch threads on {os.cpu_count()} cores;"
        f" loading the archive {loading:.1f} s"
    )
    print(f"tags equal; logits within {difference:.1e}")
    for name, values in times.items():
        low, middle, high = np.percentile(values, [0, 50, 100])
        print(f"{name:13} {middle:6.2f} s  ({low:.2f} to {high:.2f}, {len(values)} runs)")
    low, middle, high = np.percentile(ratios, [0, 50, 100])
    print(f"batched is {middle:.2f} times as fast ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
