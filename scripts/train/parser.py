"""Trains the small parser of the embedded extractor on Universal Dependencies English
EWT.

    python scripts/train/parser.py --treebank ../shared/data/ud_english_ewt -o FOLDER

A spaCy pipeline: hash embeddings without word vectors, a Penn tagger, a coarse tagger
(morphologizer holding the universal part of speech alone) and a transition-based parser
with universal dependencies. Training sentences are altered now and then so that the
parser meets what summaries look like: no capitals, no final full stop, quotes as single
marks, few articles. With --invent, words of the open classes are now and then replaced
by invented ones with the same first letter and the same last three, so that it learns
to go by endings where it does not know a word; with --titles, titles are put before
names. The best state on the dev part is kept in FOLDER, with its numbers on dev and
test in its meta.json. The one that ships was made in two steps (models/README.md has
the commands and the numbers): --start FOLDER goes on from a pipeline that was trained
before; --evaluate FOLDER only measures.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.converters import conllu_to_docs
from spacy.vocab import Vocab
from thinc.api import Adam, Config

META = {
    "name": "ud_ewt_small",
    "version": "1.0.0",
    "spacy_version": ">=3.8.0,<4.0.0",
    "description": "Tags and universal dependencies for litepyramid's embedded extractor",
    "author": "The litepyramid developers",
    "license": "CC BY-SA 4.0",
    "sources": [
        {
            "name": "Universal Dependencies English EWT",
            "url": "https://universaldependencies.org/treebanks/en_ewt/",
            "license": "CC BY-SA 4.0",
        }
    ],
}

CONFIG = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "tagger", "morphologizer", "parser"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"

[components.tok2vec.model.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 96
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [5000, 1000, 2500, 1500]
include_static_vectors = false

[components.tok2vec.model.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 96
depth = 4
window_size = 1
maxout_pieces = 3

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"

[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[components.morphologizer]
factory = "morphologizer"

[components.morphologizer.model]
@architectures = "spacy.Tagger.v2"

[components.morphologizer.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[components.parser]
factory = "parser"
min_action_freq = 10

[components.parser.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "parser"
extra_state_tokens = false
hidden_width = 96
maxout_pieces = 2
use_upper = true

[components.parser.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96
"""
SEED = 12345
DROPOUT = 0.2
PATIENCE = 8  # epochs without a better dev part


class Token(NamedTuple):
    """A word of a gold tree; `head` is a place in the sentence."""

    word: str
    tag: str
    pos: str
    head: int
    dep: str


def tokens_of(doc: Doc) -> list[Token]:
    """The tokens of a gold sentence, without morphology."""
    return [Token(t.text, t.tag_, t.pos_, t.head.i, t.dep_) for t in doc]


def built(vocab: Vocab, tokens: list[Token]) -> Doc:
    """One sentence of these tokens."""
    words, tags, pos, heads, deps = zip(*tokens, strict=True)
    starts = [i == 0 for i in range(len(words))]
    return Doc(
        vocab,
        words=words,
        tags=tags,
        pos=pos,
        heads=heads,
        deps=deps,
        sent_starts=starts,
    )


def read_treebank(path: Path, vocab: Vocab) -> list[Doc]:
    """One Doc a sentence, gold tokens, heads, labels and tags; morphology reduced to
    UPOS."""
    text = path.read_text(encoding="utf-8")
    docs = conllu_to_docs(text, n_sents=1, no_print=True)
    return [built(vocab, tokens_of(doc)) for doc in docs]


def without(doc: Doc, drop: set[int]) -> Doc:
    """The sentence without some of its leaves."""
    keep = [t.i for t in doc if t.i not in drop]
    place = {old: new for new, old in enumerate(keep)}
    tokens = tokens_of(doc)
    rest = [tokens[i]._replace(head=place[tokens[i].head]) for i in keep]
    return built(doc.vocab, rest)


def reworded(doc: Doc, words: list[str]) -> Doc:
    """The same tree over other words."""
    pairs = zip(tokens_of(doc), words, strict=True)
    return built(doc.vocab, [token._replace(word=word) for token, word in pairs])


def augmented(doc: Doc, rng: random.Random) -> Doc:
    """The sentence as it is (about two times in three), or altered towards summary
    style."""
    leaf = {t.i for t in doc if t.n_lefts + t.n_rights == 0 and t.head is not t}
    drop: set[int] = set()
    if (
        rng.random() < 0.12
        and len(doc) > 3
        and doc[-1].tag_ == "."
        and doc[-1].i in leaf
    ):
        drop.add(doc[-1].i)

    if rng.random() < 0.10:
        drop |= {t.i for t in doc if t.lower_ in {"a", "an", "the"} and t.i in leaf}
    if rng.random() < 0.04:
        drop |= {
            t.i for t in doc if t.dep_ in {"aux", "cop", "aux:pass"} and t.i in leaf
        }

    if drop and len(doc) - len(drop) >= 2:
        doc = without(doc, drop)
    words = [t.text for t in doc]
    if rng.random() < 0.15:
        words = ["'" if w in {'"', "``", "''", "“", "”"} else w for w in words]
    chance = rng.random()

    if chance < 0.07:
        words = [w.lower() for w in words]
    elif chance < 0.12:
        words = [w[:1].upper() + w[1:] for w in words]
    elif chance < 0.16:
        words = [words[0][:1].upper() + words[0][1:], *words[1:]]

    return doc if words == [t.text for t in doc] else reworded(doc, words)


LETTERS = "etaoinshrdlucmfwypvbgkqjxz"


def invented(word: str, rng: random.Random) -> str:
    """Another word with the same first letter, last three letters and shape."""
    middle = "".join(rng.choice(LETTERS) for _ in range(rng.randint(2, 6)))
    return word[0] + (middle.upper() if word.isupper() else middle) + word[-3:]


def with_invented_words(doc: Doc, rng: random.Random) -> Doc:
    """In every second sentence, one open-class word in five is an invented one."""
    if rng.random() < 0.5:
        return doc
    words = [
        invented(t.text, rng)
        if t.pos_ in {"NOUN", "PROPN", "VERB", "ADJ", "ADV"}
        and t.is_alpha
        and len(t.text) >= 4
        and rng.random() < 0.2
        else t.text
        for t in doc
    ]
    return reworded(doc, words)


class Titles:
    """Puts a title before a bare name, as news does: "Arsenal striker Jo Bell", "actor
    Jo Bell".

    The nouns are those of the treebank that look like persons' occupations, half of
    them turned into invented words; the names before them often look like plurals
    ("Rangers captain Jo Bell"). The annotation is the treebank's own for such titles
    (``nmod:desc``).
    """

    def __init__(self, docs: list[Doc]) -> None:
        tokens = [t for doc in docs for t in doc]
        endings = ("er", "or", "ist", "ian", "man")
        self.nouns = sorted(
            {
                t.text
                for t in tokens
                if t.tag_ == "NN" and t.text.endswith(endings) and t.is_lower
            }
        )
        self.names = sorted({t.text for t in tokens if t.tag_ == "NNP" and t.is_alpha})
        self.plural_names = [
            name for name in self.names if name.endswith("s") and len(name) > 4
        ]
        self.adjectives = sorted(
            {t.text for t in tokens if t.tag_ == "JJ" and t.is_alpha}
        )

    def __call__(self, doc: Doc, rng: random.Random) -> Doc:
        """The sentence with a title before one of its names, three times in five if it
        has one."""
        places = [
            t.i
            for t in doc
            if t.pos_ == "PROPN"
            and t.dep_ in {"nsubj", "nsubj:pass", "obj", "obl:agent", "conj"}
            and t.n_lefts == 0
        ]
        if not places or not self.nouns or rng.random() < 0.4:
            return doc
        place = rng.choice(places)
        noun = rng.choice(self.nouns)
        if rng.random() < 0.5:
            noun = invented(noun, rng)
        title = [(noun, "NN", "NOUN", "nmod:desc")]
        chance = rng.random()

        if chance < 0.45 and self.names:
            plural = self.plural_names and rng.random() < 0.4
            names = self.plural_names if plural else self.names
            title.insert(0, (rng.choice(names), "NNP", "PROPN", "compound"))
        elif chance < 0.6 and self.adjectives:
            title.insert(0, (rng.choice(self.adjectives), "JJ", "ADJ", "amod"))

        # Adjuncts of a title go with its last word, and that one with the name.
        size = len(title)
        heads = [place + size - 1] * (size - 1) + [place + size]
        before = [
            Token(word, tag, pos, head, dep)
            for (word, tag, pos, dep), head in zip(title, heads, strict=True)
        ]
        tokens = [
            t._replace(head=t.head + size if t.head >= place else t.head)
            for t in tokens_of(doc)
        ]
        return built(doc.vocab, tokens[:place] + before + tokens[place:])


def save(nlp: Language, folder: Path) -> None:
    """Writes the pipeline without the words that it met in training: embeddings go by
    hash."""
    nlp.to_disk(folder)
    strings = set(spacy.blank("en").vocab.strings)
    for name in nlp.pipe_names:
        strings.update(label for label in getattr(nlp.get_pipe(name), "labels", ()))
    strings |= {"ROOT", "dep", "POS"} | set(spacy.parts_of_speech.IDS)
    for label in nlp.get_pipe("parser").labels:
        strings.update(label.split("||"))
    for label in nlp.get_pipe("morphologizer").labels:
        strings.update(label.replace("=", " ").split())
    path = folder / "vocab" / "strings.json"
    path.write_text(
        json.dumps(sorted(strings), ensure_ascii=False) + "\n", encoding="utf-8"
    )


def write_bare_verbs(docs: list[Doc], folder: Path) -> None:
    """The forms that the treebank has as bare verbs (VB, VBP), one a line."""
    verbs = {
        t.lower_ for d in docs for t in d if t.tag_ in {"VB", "VBP"} and t.is_alpha
    }
    (folder / "bare_verbs.txt").write_text(
        "\n".join(sorted(verbs)) + "\n", encoding="utf-8"
    )


def evaluate(nlp: Language, gold: list[Doc]) -> dict[str, float]:
    """UAS, LAS (punctuation left out and counted in), XPOS and UPOS accuracy; gold
    tokens."""
    bare = (
        Doc(nlp.vocab, words=[t.text for t in d], sent_starts=[t.i == 0 for t in d])
        for d in gold
    )
    guesses = nlp.pipe(bare, batch_size=256)
    examples = [Example(guess, doc) for guess, doc in zip(guesses, gold, strict=True)]
    scores = Scorer(nlp).score(examples)
    trees = Scorer.score_deps(
        examples,
        "dep",
        getter=lambda token, _: token.dep_,
        head_attr="head",
    )

    return {
        "uas": float(trees["dep_uas"]),
        "las": float(trees["dep_las"]),
        "uas_without_punctuation": float(scores["dep_uas"]),
        "las_without_punctuation": float(scores["dep_las"]),
        "xpos": float(scores["tag_acc"]),
        "upos": float(scores["pos_acc"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--treebank", type=Path, default=Path("../shared/data/ud_english_ewt")
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("parser"))
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-words", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--start", type=Path, help="a pipeline to continue from")
    parser.add_argument(
        "--invent", action="store_true", help="replace words by invented ones"
    )
    parser.add_argument(
        "--titles", action="store_true", help="put titles before bare names"
    )
    parser.add_argument(
        "--evaluate", type=Path, help="measure this pipeline, train none"
    )
    arguments = parser.parse_args()

    if arguments.evaluate:
        nlp = spacy.load(arguments.evaluate)
        for part in ("dev", "test"):
            gold = read_treebank(
                arguments.treebank / f"en_ewt-ud-{part}.conllu", nlp.vocab
            )
            print(
                part,
                json.dumps({k: round(v, 4) for k, v in evaluate(nlp, gold).items()}),
            )
        return

    rng = random.Random(SEED)
    spacy.util.fix_random_seed(SEED)
    config = Config().from_str(CONFIG)
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    if arguments.start:
        nlp = spacy.load(arguments.start)
    parts = {
        part: read_treebank(arguments.treebank / f"en_ewt-ud-{part}.conllu", nlp.vocab)
        for part in ("train", "dev", "test")
    }

    train = parts["train"]
    titles = Titles(train)
    if not arguments.start:
        nlp.initialize(lambda: [Example(nlp.make_doc(d.text), d) for d in train])
    words = sum(len(d) for d in train)
    total = arguments.epochs * (words // arguments.batch_words + 1)
    optimizer = Adam(
        arguments.rate,
        beta1=0.9,
        beta2=0.999,
        L2=0.01,
        grad_clip=1.0,
        L2_is_weight_decay=True,
        use_averages=True,
    )

    nlp._optimizer = optimizer
    step = 0
    best = 0.0
    since = 0

    for epoch in range(1, arguments.epochs + 1):
        rng.shuffle(train)
        losses: dict[str, float] = {}
        batch: list[Example] = []
        size = 0
        began = time.perf_counter()

        for number, doc in enumerate(train):
            gold = augmented(titles(doc, rng) if arguments.titles else doc, rng)
            if arguments.invent:
                gold = with_invented_words(gold, rng)
            batch.append(Example(Doc(nlp.vocab, words=[t.text for t in gold]), gold))
            size += len(gold)
            if size < arguments.batch_words and number + 1 < len(train):
                continue
            step += 1
            warm = min(1.0, step / 200)
            optimizer.learn_rate = arguments.rate * warm * max(0.02, 1 - step / total)
            nlp.update(
                batch,
                sgd=optimizer,
                drop=DROPOUT,
                losses=losses,
            )
            batch = []
            size = 0

        with nlp.use_params(optimizer.averages):
            dev = evaluate(nlp, parts["dev"])
            row = {
                "epoch": epoch,
                "seconds": round(time.perf_counter() - began),
                **dev,
            }
            sys.stderr.write(
                json.dumps({k: round(v, 4) for k, v in row.items()}) + "\n"
            )
            since += 1
            if dev["las"] > best:
                best = dev["las"]
                since = 0
                nlp.meta["performance"] = {"dev": dev}
                save(nlp, arguments.output)

        if since >= PATIENCE:
            break

    nlp = spacy.load(arguments.output)
    nlp.meta.update(META)
    test = read_treebank(arguments.treebank / "en_ewt-ud-test.conllu", nlp.vocab)
    nlp.meta["performance"]["test"] = evaluate(nlp, test)
    save(nlp, arguments.output)
    write_bare_verbs(train, arguments.output)
    json.dump(nlp.meta["performance"], sys.stdout, indent=2)


if __name__ == "__main__":
    main()
