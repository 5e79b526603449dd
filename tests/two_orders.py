"""Writes all that commands read, with everything that has an order in another one."""

import json
import random
from pathlib import Path

import numpy as np
import pandas
from cases import write_lines
from duc_files import FOUND, pan, pyr

from litepyramid.embedded.example import load_example

EXAMPLE = load_example()
METRICS = ("rouge", "bert", "mini")
NAMES = sorted(entry.input for entry in EXAMPLE.units)


def shuffled(values, seed):
    values = list(values)
    return random.Random(seed).sample(values, len(values))


class Order:
    """One order of everything; that of seed 0 is the order of the example's files."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self, values):
        """Some values in this order."""
        return shuffled(values, self.seed) if self.seed else list(values)

    def example(self):
        """The example as Python has it: inputs, systems, units, labels by name."""
        units = {}
        places = {}
        for entry in self(EXAMPLE.units):
            # Weights that differ, and importance, make sums that rounding can tell apart.
            rows = [
                {
                    "text": unit.text,
                    "weight": 1 + n % 3,
                    "importance": "vital" if n % 2 else "okay",
                }
                for n, unit in enumerate(entry.units)
            ]
            places[entry.input] = self(range(len(rows)))
            units[entry.input] = [rows[n] for n in places[entry.input]]

        labels = {}
        for entry in self(EXAMPLE.labels):
            labels[entry.system] = {}
            for name, row in self(zip(entry.inputs, entry.labels, strict=True)):
                labels[entry.system][name] = [row[n] for n in places[name]]

        summaries = {}
        for entry in self(EXAMPLE.summaries):
            texts = self(zip(entry.inputs, entry.texts, strict=True))
            summaries[entry.system] = dict(texts)

        references = {}
        for entry in self(EXAMPLE.references):
            references[entry.input] = [list(texts) for texts in entry.references]

        return {
            "units": units,
            "summaries": summaries,
            "labels": labels,
            "references": references,
        }

    def rows(self, path, rows):
        """A table, its rows and columns in this order; the ending names its form."""
        frame = pandas.DataFrame(self(rows), columns=self([*rows[0]]))
        if path.suffix == ".csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_json(path, orient="records", lines=True)

    def write(self, folder):
        """A folder with the example, tables of scores and pyramids, in this order."""
        folder.mkdir()
        data = self.example()
        write_example(folder, data)
        self.write_tables(folder, data)
        write_scores(folder, self)

        (folder / "duc").mkdir()
        pyr(folder / "duc" / "D0901-A.pyr")
        for number, left_out in enumerate(FOUND, 1):
            part = {uid: found for uid, found in FOUND.items() if uid != left_out}
            pan(folder / "duc" / f"D0901-A.M.100.E.{number}.pan", part)

    def write_tables(self, folder, data):
        """The same as tables of rows, with further columns."""
        answers = []
        labels = []
        for system, texts in sorted(data["summaries"].items()):
            for name in NAMES:
                about = {"system": system, "input": name}
                reference = " ".join(data["references"][name][0])
                answer = {"summary": texts[name], "reference": reference}
                answers.append(about | answer | {"words": len(texts[name].split())})
                for unit, label in zip(
                    data["units"][name], data["labels"][system][name], strict=True
                ):
                    labels.append(about | {"unit": unit["text"], "label": label})

        self.rows(folder / "answers.csv", answers)
        labels.sort(key=lambda row: (row["system"], row["input"], row["unit"]))
        self.rows(folder / "labels.csv", labels)
        topics = [
            {"input": name, "topic": "xyz"[n % 3]} for n, name in enumerate(NAMES)
        ]
        self.rows(folder / "topics.csv", topics)

        pairs = []
        for n, row in enumerate(answers):
            texts = {"premise": row["summary"], "hypothesis": row["reference"]}
            pairs.append(texts | {"present": n % 2})
        self.rows(folder / "pairs.jsonl", pairs)


def write_example(folder, data):
    """The example as files: units, references, a file a system."""
    # People see facts, and answer them, in the order that the file has.
    fixed = {entry.input: entry.texts for entry in EXAMPLE.units}
    facts = {}
    shown = {}
    for name, row in data["units"].items():
        facts[name] = [unit["text"] for unit in row]
        shown[name] = fixed[name]

    write_by_input(folder / "units.jsonl", "units", data["units"])
    write_by_input(folder / "facts.jsonl", "units", facts)
    write_by_input(folder / "shown.jsonl", "units", shown)
    write_by_input(folder / "references.jsonl", "references", data["references"])

    for name in ("texts", "labels", "some"):
        (folder / name).mkdir()
    for system, texts in data["summaries"].items():
        write_by_input(folder / "texts" / f"{system}.jsonl", "summary", texts)
    for system, labels in data["labels"].items():
        write_by_input(folder / "labels" / f"{system}.jsonl", "labels", labels)
        # People labelled three inputs of four.
        some = {name: row for name, row in labels.items() if NAMES.index(name) % 4}
        write_by_input(folder / "some" / f"{system}.jsonl", "labels", some)


def write_by_input(path, column, values):
    """A line for each input, with its value in that column."""
    write_lines(path, [{"input": name, column: one} for name, one in values.items()])


def write_scores(folder, order):
    """Scores of seven systems by three metrics and two raters, wide, long, in parts."""
    rng = np.random.default_rng(8)
    quality = rng.random(7)
    wide = []
    full = []
    for n in range(18):
        for s in range(7):
            values = np.round(quality[s] + rng.normal(0, 0.4, 5), 2).tolist()
            row = {"system": f"s{s}", "input": f"i{n}"}
            row |= dict(zip(METRICS, values, strict=False))
            full.append(row)
            if n < 12:
                # One score in eleven is missing.
                human = "" if (n * 7 + s) % 11 == 0 else round(sum(values[3:]) / 2, 3)
                wide.append(row | {"h1": values[3], "h2": values[4], "human": human})

    order.rows(folder / "full.csv", full)
    order.rows(folder / "wide.csv", wide)
    write_part(folder / "one.csv", order, wide, ("rouge", "human"))
    write_part(folder / "two.csv", order, wide, ("bert", "mini"))

    long = []
    for row in wide:
        for metric in (*METRICS, "human"):
            score = {"metric": metric, "score": row[metric]}
            if row[metric] != "":
                long.append({"system": row["system"], "input": row["input"]} | score)
    order.rows(folder / "long.jsonl", long)

    made = []
    for n in range(3):
        for s in range(60):
            values = np.round(rng.random(4), 2).tolist()
            row = {"system": f"s{s}", "input": f"t{n}"}
            row |= dict(zip(METRICS, values, strict=False))
            made.append(row | {"human": values[3] if s < 12 else ""})
    order.rows(folder / "made.csv", made)


def write_part(path, order, rows, metrics):
    """The table with some of its metrics."""
    columns = ("system", "input", *metrics)
    order.rows(path, [{key: row[key] for key in columns} for row in rows])


def write_answers(folder: Path, order: Order):
    """The answers of two people to the exported tasks, each in a file."""
    tasks = json.loads((folder / "tasks.json").read_text())
    units = {entry["input"]: entry["units"] for entry in tasks["units"]}
    from litepyramid.annotation.export import read_tasks

    ids = read_tasks(folder / "tasks.json").ids

    for worker in ("Ann", "Bob"):
        answers = []
        for task, name in zip(tasks["judging"] or tasks["writing"], ids, strict=True):
            answer = {"task": name, "finished": True, "scus": []}
            if tasks["judging"]:
                facts = units[task["input"]]
                facts = [facts[n] for n in task["facts"]] if task["facts"] else facts
                answer["presence"] = {
                    str(n): said(worker, task["summary"], fact["text"])
                    for n, fact in enumerate(facts)
                }
            else:
                answer["scus"] = [f"{worker} says: {task['text']}"]
            answers.append(answer)

        form = {"format": "litepyramid-answers", "worker": worker, "saved": "now"}
        text = json.dumps({**form, "answers": order(answers)})
        (folder / f"{worker}.json").write_text(text)


def said(worker, summary, fact):
    """What a made-up person says: that a fact is present if words of it are; Bob errs."""
    shared = {*summary.lower().split()} & {*fact.lower().split()}
    wrong = worker == "Bob" and len(fact) % 5 == 0
    return (len(shared) > 2) != wrong
