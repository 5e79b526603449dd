"""Writes all that commands read, and the same with everything that has an order in
another one."""

import json
import random
import shutil

import numpy as np
import pandas
from cases import write_lines
from duc_files import FOUND, pan, pyr

from litepyramid.annotation.tasks import read_tasks
from litepyramid.embedded.example import load_example, save_example

METRICS = ["rouge", "bert", "mini"]


def shuffled(values, seed):
    """Some values in the order of a seed; that of seed 0 is their own."""
    values = list(values)
    return random.Random(seed).sample(values, len(values)) if seed else values


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(folder):
    """A folder with the example, tables of rows, tables of scores and pyramids."""
    save_example(folder)
    write_units(folder)
    write_rows(folder)
    write_scores(folder)

    (folder / "duc").mkdir()
    pyr(folder / "duc" / "D0901-A.pyr")
    for number, left_out in enumerate(FOUND, 1):
        part = {uid: found for uid, found in FOUND.items() if uid != left_out}
        pan(folder / "duc" / f"D0901-A.M.100.E.{number}.pan", part)


def write_again(folder, goal, seed):
    """The folder with its rows and columns, and the units of an input, in another
    order."""
    shutil.copytree(folder, goal)

    for path in goal.rglob("*.jsonl"):
        rows = []
        for row in shuffled(read(path), seed):
            for column in {"units", "labels"} & {*row}:
                # Units and their labels come in the same new order; people see facts,
                # and answer them, in that of the file.
                if path.stem != "shown":
                    row[column] = shuffled(row[column], f"{seed} {row['input']}")
            rows.append({key: row[key] for key in shuffled(row, seed)})
        write_lines(path, rows)

    for path in goal.rglob("*.csv"):
        frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
        frame = frame.sample(frac=1, random_state=seed)
        frame[shuffled(frame, seed)].to_csv(path, index=False)


def write_units(folder):
    """The units with weights that differ, and as texts; labels of some inputs."""
    units = read(folder / "scus.jsonl")
    for row in units:
        for number, unit in enumerate(row["units"]):
            # Sums of these weights are such that rounding can tell their orders apart.
            unit["weight"] = 1 + number % 3
            unit["importance"] = "vital" if number % 2 else "okay"
    write_lines(folder / "units.jsonl", units)

    for row in units:
        row["units"] = [unit["text"] for unit in row["units"]]
    write_lines(folder / "facts.jsonl", units)
    write_lines(folder / "shown.jsonl", units)

    # People labelled three inputs of four.
    (folder / "some").mkdir()
    for path in (folder / "labels").iterdir():
        rows = read(path)
        del rows[::4]
        write_lines(folder / "some" / path.name, rows)


def write_rows(folder):
    """The same as tables of rows, with further columns."""
    data = load_example()
    answers = []
    labels = []
    pairs = []

    references = {one.input: " ".join(one.references[0]) for one in data.references}
    for (system, name), text in data.summaries.cells():
        about = {"system": system, "input": name}
        reference = references[name]
        answer = {"summary": text, "reference": reference, "words": len(text)}
        answers.append(about | answer)
        pair = {"premise": text, "hypothesis": reference}
        pairs.append(pair | {"present": data.inputs.index(name) % 2})
        by_input = data.units.split(data.labels.of_system(system))
        for unit, label in zip(data.units[name].texts, by_input[name], strict=True):
            labels.append(about | {"unit": unit, "label": int(label)})

    for name, rows in (("answers", answers), ("labels", labels)):
        pandas.DataFrame(rows).to_csv(folder / f"{name}.csv", index=False)
    write_lines(folder / "pairs.jsonl", pairs)
    topics = [f"{name},{'xyz'[n % 3]}" for n, name in enumerate(data.inputs)]
    (folder / "topics.csv").write_text("\n".join(["input,topic", *topics]))


def scores(systems, inputs):
    """Made-up scores of so many systems and inputs, by the metrics and two raters."""
    rng = np.random.default_rng(8)
    names = [[f"s{n}" for n in range(systems)], [f"i{n}" for n in range(inputs)]]
    index = pandas.MultiIndex.from_product(names, names=["system", "input"])
    quality = rng.random(systems).repeat(inputs)
    noise = rng.normal(0, 0.4, (5, len(index)))
    columns = dict(zip([*METRICS, "h1", "h2"], (quality + noise).round(2), strict=True))
    return pandas.DataFrame(columns, index).reset_index()


def write_scores(folder):
    """Scores of all inputs, and beside people's of some: wide, long, in parts."""
    names = ["system", "input"]
    full = scores(7, 18)
    wide = full[full.input.str[1:].astype(int) < 12]
    # One score of people in eleven is missing.
    human = wide[["h1", "h2"]].mean(axis=1).round(3)
    wide = wide.assign(human=human.where(wide.index % 11 > 0))
    long = wide.melt(names, [*METRICS, "human"], "metric", "score").dropna()
    long.to_json(folder / "long.jsonl", orient="records", lines=True)

    made = scores(60, 3)
    made = made.assign(human=made["h1"].where(made.system.str.len() == 2))
    for name, frame in {
        "full": full[[*names, *METRICS]],
        "wide": wide,
        "one": wide[[*names, "rouge", "human"]],
        "two": wide[[*names, "bert", "mini"]],
        "made": made[[*names, *METRICS, "human"]],
    }.items():
        frame.to_csv(folder / f"{name}.csv", index=False)


def write_answers(folder, seed):
    """The answers of two people to the exported tasks, each in a file."""
    tasks = read_tasks(folder)

    for worker in ("Ann", "Bob"):
        answers = []
        for task in tasks.tasks:
            answer = {"task": task.id, "finished": True, "scus": []}
            if tasks.kind == "writing":
                answer["scus"].append(f"{worker} says: {task.text}")
            else:
                answer["presence"] = {
                    str(n): says(worker, task.summary, fact)
                    for n, fact in enumerate(task.units)
                }
            answers.append(answer)

        form = {"format": "litepyramid-answers", "worker": worker, "saved": "now"}
        form["answers"] = shuffled(answers, seed)
        (folder / f"{worker}.json").write_text(json.dumps(form))


def says(worker, summary, fact):
    """What a made-up person says: that a fact is present if words of it are; Bob errs."""
    shared = {*summary.lower().split()} & {*fact.lower().split()}
    wrong = worker == "Bob" and len(fact) % 5 == 0
    return (len(shared) > 2) != wrong
