"""Writes all that commands read, with everything that has an order in another one."""

import csv
import json
import random
from pathlib import Path

import numpy as np
from duc_files import FOUND, pan, pyr

from litepyramid.embedded.example import load_example

EXAMPLE = load_example()
NAMES = sorted(entry.input for entry in EXAMPLE.units)


def shuffled(values, seed):
    return random.Random(seed).sample(list(values), len(values))


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
            place = self(range(len(entry.units)))
            places[entry.input] = place
            # Weights that differ, and importance, make sums that rounding can tell apart.
            units[entry.input] = [
                {
                    "text": entry.units[n].text,
                    "weight": 1 + n % 3,
                    "importance": "vital" if n % 2 else "okay",
                }
                for n in place
            ]

        labels = {}
        for entry in self(EXAMPLE.labels):
            rows = dict(zip(entry.inputs, entry.labels, strict=True))
            labels[entry.system] = {
                name: [rows[name][n] for n in places[name]] for name in self(rows)
            }

        summaries = {}
        for entry in self(EXAMPLE.summaries):
            texts = dict(zip(entry.inputs, entry.texts, strict=True))
            summaries[entry.system] = {name: texts[name] for name in self(texts)}

        references = {
            entry.input: [list(texts) for texts in entry.references]
            for entry in self(EXAMPLE.references)
        }
        return {
            "units": units,
            "summaries": summaries,
            "labels": labels,
            "references": references,
        }

    def rows(self, path, rows):
        """A table, its rows and columns in this order; the ending names its form."""
        rows = self(rows)
        columns = self([*rows[0]])

        if path.suffix == ".csv":
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(file, columns)
                writer.writeheader()
                writer.writerows(rows)
        else:
            write_lines(path, [{key: row[key] for key in columns} for row in rows])

    def write(self, folder):
        """A folder with the example, tables of scores and pyramids, in this order."""
        folder.mkdir()
        data = self.example()
        self.write_example(folder, data)
        self.write_tables(folder, data)
        write_scores(folder, self)

        (folder / "duc").mkdir()
        pyr(folder / "duc" / "D0901-A.pyr")
        for number in range(4):
            part = {uid: FOUND[uid] for n, uid in enumerate(FOUND) if n != number}
            pan(folder / "duc" / f"D0901-A.M.100.E.{number + 1}.pan", part)

    def write_example(self, folder, data):
        """The example as files: units, references, a file a system."""
        units = data["units"]
        write_lines(
            folder / "units.jsonl",
            [{"input": name, "units": row} for name, row in units.items()],
        )
        write_lines(
            folder / "facts.jsonl",
            [
                {"input": name, "units": [unit["text"] for unit in row]}
                for name, row in units.items()
            ],
        )
        # People see facts, and answer them, in the order that the file has.
        fixed = {entry.input: entry.texts for entry in EXAMPLE.units}
        write_lines(
            folder / "shown.jsonl",
            [{"input": name, "units": fixed[name]} for name in units],
        )
        write_lines(
            folder / "references.jsonl",
            [
                {"input": name, "references": texts}
                for name, texts in data["references"].items()
            ],
        )

        for name in ("texts", "labels", "some"):
            (folder / name).mkdir()
        for system, texts in data["summaries"].items():
            write_lines(
                folder / "texts" / f"{system}.jsonl",
                [{"input": name, "summary": text} for name, text in texts.items()],
            )
        for system, labels in data["labels"].items():
            rows = [{"input": name, "labels": row} for name, row in labels.items()]
            write_lines(folder / "labels" / f"{system}.jsonl", rows)
            # People labelled three inputs of four.
            some = [row for row in rows if NAMES.index(row["input"]) % 4]
            write_lines(folder / "some" / f"{system}.jsonl", some)

    def write_tables(self, folder, data):
        """The same as tables of rows, with further columns."""
        answers = []
        for system, texts in sorted(data["summaries"].items()):
            for name in NAMES:
                answers.append(
                    {
                        "system": system,
                        "input": name,
                        "summary": texts[name],
                        "reference": " ".join(data["references"][name][0]),
                        "words": len(texts[name].split()),
                    }
                )
        self.rows(folder / "answers.csv", answers)

        labels = []
        for system, row in sorted(data["labels"].items()):
            for name in NAMES:
                units = [unit["text"] for unit in data["units"][name]]
                for unit, label in sorted(zip(units, row[name], strict=True)):
                    labels.append(
                        {
                            "system": system,
                            "input": name,
                            "unit": unit,
                            "label": label,
                        }
                    )
        self.rows(folder / "labels.csv", labels)

        topics = [
            {"input": name, "topic": "xyz"[n % 3]} for n, name in enumerate(NAMES)
        ]
        self.rows(folder / "topics.csv", topics)
        pairs = [
            {
                "premise": row["summary"],
                "hypothesis": row["reference"],
                "present": n % 2,
            }
            for n, row in enumerate(answers)
        ]
        self.rows(folder / "pairs.jsonl", pairs)


def write_lines(path, rows):
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text)


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
            row |= dict(zip(("rouge", "bert", "mini"), values, strict=False))
            full.append(row)
            if n < 12:
                raters = {"h1": values[3], "h2": values[4]}
                # One score in eleven is missing.
                human = "" if (n * 7 + s) % 11 == 0 else round(sum(values[3:]) / 2, 3)
                wide.append({**row, **raters, "human": human})

    order.rows(folder / "full.csv", full)
    order.rows(folder / "wide.csv", wide)
    for name, metrics in (("one", ["rouge", "human"]), ("two", ["bert", "mini"])):
        columns = ["system", "input", *metrics]
        order.rows(
            folder / f"{name}.csv", [{key: row[key] for key in columns} for row in wide]
        )

    long = []
    for row in wide:
        place = {"system": row["system"], "input": row["input"]}
        for metric in ("rouge", "bert", "mini", "human"):
            score = row[metric]
            if score != "":
                long.append({**place, "metric": metric, "score": score})
    order.rows(folder / "long.jsonl", long)

    made = []
    for n in range(3):
        for s in range(60):
            values = np.round(rng.random(4), 2).tolist()
            row = {"system": f"s{s}", "input": f"t{n}"}
            row |= dict(zip(("rouge", "bert", "mini"), values, strict=False))
            made.append({**row, "human": values[3] if s < 12 else ""})
    order.rows(folder / "made.csv", made)


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
