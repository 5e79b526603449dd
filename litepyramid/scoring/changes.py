"""What changed between runs: tested differences of systems, facts lost and gained, a
gate."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import InputError, choose, require
from litepyramid.files import (
    atomic_write,
    in_turn,
    read_jsonl,
    read_text,
    split_lines,
)
from litepyramid.reports.score_page import write_page
from litepyramid.scoring.inference import (
    MEASURES,
    TestedDifference,
    as_differences,
    too_few_inputs,
    with_holm,
)
from litepyramid.scoring.pyramid import metric_title
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.runs import AlignedRuns, Settings, align_runs, names_of
from litepyramid.sentences import sentence_spans
from litepyramid.tables import Column, Result, Table, hidden, plain, record, row
from litepyramid.text import counted, cut
from litepyramid.types import Signature, fingerprint

_SHOWN, _NAMED = 10, 5  # facts of a table, names of a note
_LONGEST_COMMENT = 60_000  # characters of a comment on a pull request
_MARKUP = re.compile(r"[&<>@#|*_`\[\]\\~]")
_ROUNDING = 1e-9
_KINDS = ("lost", "gained")

Span = tuple[int, int]
ChangeRows = Literal["systems", "inputs", "facts", "groups"]


@dataclass(frozen=True, slots=True)
class FactChange:
    """A fact that a system lost or gained, with its presence in both runs.

    Attributes:
        unit: Number of the unit in the baseline's input, from 1.
        text: The fact; of a penalty (weight below zero) behind "penalty: ".
        old_sentence: The sentence that held it, or the nearest one; empty without
            texts.
        spans: Where both sentences stand in their summaries.
    """

    input: str
    unit: int
    text: str
    old: float
    new: float
    old_sentence: str = ""
    new_sentence: str = ""
    weight: float = 1.0
    spans: tuple[Span, Span] = hidden(default=((0, 0), (0, 0)))


@dataclass(frozen=True, slots=True)
class InputChange:
    """One input of a system: both scores, and its share of the system's difference."""

    input: str
    old: float
    new: float
    difference: float
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange(TestedDifference):
    """A system on the inputs of one group; p_holm is over all systems and groups."""

    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemChange(TestedDifference):
    """One system in the baseline (`old`) and in a new run, over the inputs scored in
    both.

    Attributes:
        system: The system's name in the new run; in the baseline it is `old_system`.
        better: How many inputs score more than in the baseline; `worse` score less.
        lost: Facts lost, worst input first.
        gained: Facts gained, best input first.
        texts: By input both texts, where facts were lost or gained.
    """

    run: str
    system: str
    old_system: str
    old: float
    new: float
    better: int
    worse: int
    lost: tuple[FactChange, ...]
    gained: tuple[FactChange, ...]
    by_input: tuple[InputChange, ...]
    by_group: tuple[GroupChange, ...] = ()
    texts: Mapping[str, tuple[str, str]] = hidden(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The system, and what it was called in the baseline if that is another
        name."""
        same = self.system == self.old_system
        return self.system if same else f"{self.system} (was {self.old_system})"

    @property
    def measured(self) -> str:
        """The difference with its interval and p, for people."""
        p = "p < .001" if self.p_holm < 0.001 else f"p = {_number(self.p_holm)}"
        ends = f"[{_number(self.low)}, {_number(self.high)}]"
        return f"{_number(self.difference)} {ends}, {p}"


@dataclass(frozen=True, slots=True)
class RunScores:
    """One run: its date as ISO 8601 writes it, perhaps empty; score, low, high by
    system."""

    run: str
    date: str
    metric: str
    signature: dict[str, str]
    scores: dict[str, tuple[float | None, float | None, float | None]]

    @classmethod
    def of(cls, name: str, result: ScoreResult, when: str) -> Self:
        """The scores of a result; `when` is its date."""
        ends = zip(result.scores.items(), result.intervals, strict=True)
        scores = {system: tuple(plain((score, *own))) for (system, score), own in ends}
        return cls(name, when, result.name, result.signature.to_json(), scores)


@dataclass(frozen=True, slots=True)
class History(Result):
    """The runs of a history file, in its order."""

    runs: tuple[RunScores, ...]

    def to_tables(self) -> Sequence[Table]:
        """One row per run and system."""
        rows = [
            (run.date, run.run, system, *points)
            for run in self.runs
            for system, points in run.scores.items()
        ]
        names = ("date", "run", "system", "score", "low", "high")
        title = f"{self.runs[0].metric} over {counted(len(self.runs), 'run')}"
        return [Table(title, tuple(map(Column, names)), tuple(rows), repeated=3)]

    @property
    def signature(self) -> str:
        """That of the last run."""
        return "|".join(
            f"{key}:{value}" for key, value in self.runs[-1].signature.items()
        )

    def to_figure(self) -> Any:
        """Scores of every system over the runs, with their intervals."""
        from litepyramid.figures.score_plots import history_figure

        names = [f"{run.run} {run.date}".strip() for run in self.runs]
        systems = dict.fromkeys(name for run in self.runs for name in run.scores)
        points = {
            s: [run.scores.get(s, (None,) * 3) for run in self.runs] for s in systems
        }
        return history_figure(names, points, self.runs[0].metric)


@dataclass(frozen=True, slots=True)
class ChangeResult(Result):
    """What changed from a baseline to one new run or several.

    Attributes:
        baseline: Name of the run that the others (`runs`) are compared with.
        gate: The conditions under which a run fails; empty for none.
        failures: Those that failed, a sentence each.
        notes: What is shared and what is not, and what else a reader must know.
        history: Scores of all runs, the baseline first.
    """

    metric: str
    baseline: str
    runs: tuple[str, ...]
    changes: tuple[SystemChange, ...]
    alpha: float
    gate: str
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    signature: Signature
    history: tuple[RunScores, ...] = hidden()

    forms: ClassVar[Mapping[str, str]] = {".md": "to_markdown", ".jsonl": "to_history"}

    @property
    def exit_status(self) -> int:
        """1 if the gate fails, else 0."""
        return int(bool(self.failures))

    @property
    def verdict(self) -> str:
        """What changed, in a sentence."""
        changed = [c for c in self.changes if c.p_holm < self.alpha]
        changed.sort(key=lambda change: change.difference)
        total = len(self.changes)
        if total == 1:
            return ("" if changed else "no significant change: ") + self._lost(
                self.changes[0]
            )
        what = "systems" if len(self.runs) == 1 else "systems of all runs"
        if not changed:
            lost, gained = (
                sum(len(getattr(c, k)) for c in self.changes) for k in _KINDS
            )
            facts = f"{counted(lost, 'fact')} lost, {gained} gained"
            return f"{total} of {total} {what} unchanged ({facts})"
        told = [self._lost(change) for change in changed[:_NAMED]]
        more = [f"{len(changed) - _NAMED} more changed"] * (len(changed) > _NAMED)
        return "; ".join(
            [f"{total - len(changed)} of {total} {what} unchanged", *told, *more]
        )

    def _lost(self, change: SystemChange) -> str:
        run = "" if len(self.runs) == 1 else f" of {cut(change.run, 40)}"
        facts = (
            f"lost {counted(len(change.lost), 'fact')} and gained {len(change.gained)}"
        )
        return f"`{cut(change.name)}`{run} {facts}: {change.measured}"

    def to_json(self) -> dict[str, Any]:
        """The fields, and the verdict."""
        return {"verdict": self.verdict, **record(self)}

    @property
    def headline(self) -> str:
        """The verdict, behind PASS or FAIL if there is a gate."""
        outcome = ("FAIL: " if self.failures else "PASS: ") if self.gate else ""
        return f"{outcome}{self.verdict}"

    def to_tables(self) -> Sequence[Table]:
        """The systems, the facts lost and gained, the groups of inputs."""
        run, system = (
            ["run"] * (len(self.runs) > 1),
            ["system"] * (len(self.changes) > 1),
        )
        measures: list[Column | str] = [*MEASURES[:3], MEASURES[-1]]
        columns = [*run, "system", "old", "new", *measures, *_KINDS, "better", "worse"]
        notes = [
            *(f"FAIL: {reason}" for reason in self.failures),
            *self.notes,
            str(self.signature),
        ]
        systems = Table.of(self.headline, columns, self.rows("systems"), notes)
        tables = [replace(systems, repeated=1 + len(run))]
        for kind, first in zip(_KINDS, ("worst", "best"), strict=True):
            if facts := [row for row in self.rows("facts") if row["change"] == kind]:
                title = f"{counted(len(facts), 'fact')} {kind}, {first} input first"
                columns = [*run, *system, "input", Column("text", "fact"), "old", "new"]
                more = [f"{len(facts) - _SHOWN} more: save .html, .md or .json."]
                notes = more * (len(facts) > _SHOWN)
                tables.append(Table.of(title, columns, facts[:_SHOWN], notes))
        if groups := self.rows("groups"):
            columns = [*run, "system", "group", "inputs", *measures]
            tables.append(Table.of("Differences by group of inputs", columns, groups))
        return tables

    def rows(self, rows: ChangeRows) -> list[dict[str, Any]]:
        """The entries of tables: a row for each of the systems, inputs, facts or
        groups."""
        listed: list[dict[str, Any]] = []
        worst_first = sorted(self.changes, key=lambda change: change.difference)
        for c in worst_first if rows == "facts" else self.changes:
            head = {"run": c.run, "system": c.name}
            if rows == "systems":
                values = {
                    k: v for k, v in row(c).items() if isinstance(v, str | int | float)
                }
                facts = {kind: len(getattr(c, kind)) for kind in _KINDS}
                listed.append({**head, **values, **head, **facts})
            elif rows == "facts":
                for kind in _KINDS:
                    listed += [
                        {**head, "change": kind, **record(f)} for f in getattr(c, kind)
                    ]
            else:
                entries: tuple[Any, ...] = (
                    c.by_input if rows == "inputs" else c.by_group
                )
                listed += [head | row(entry) for entry in entries]
        return listed

    def to_csv_table(self) -> Table:
        """One row per system and input: both scores, the difference, its share of the
        system's."""
        names = ("run", "system", "input", "old", "new", "difference", "share")
        return Table.of("", names, self.rows("inputs"))

    def to_frame(self, rows: ChangeRows = "systems") -> Any:
        """A pandas frame with a row for each of the systems, inputs, facts or
        groups."""
        choose("rows", rows, get_args(ChangeRows))
        return require("pandas", extra="tables", purpose="a data frame").DataFrame(
            self.rows(rows)
        )

    def to_figure(self) -> Any:
        """Differences from the baseline; of several runs, their scores."""
        from litepyramid.figures.score_plots import difference_figure

        if len(self.runs) > 1:
            return History(self.history).to_figure()
        names, what = (
            [[change.name] for change in self.changes],
            metric_title(self.metric),
        )
        return difference_figure(
            names, self.changes, self.alpha, what, against=self.baseline
        )

    def to_html(self, path: Any = None) -> str:
        """The page of what changed: verdict, facts lost and gained, both texts side by
        side."""
        systems: list[dict[str, Any]] = []
        facts: list[list[Any]] = []
        for n, c in enumerate(self.changes):
            facts += [
                [n, f.input, f.unit, f.text, f.old, f.new, *f.spans]
                for f in (*c.lost, *c.gained)
            ]
            texts = {
                name: [a, None if a == b else b] for name, (a, b) in c.texts.items()
            }
            shares = {
                entry.input: [entry.difference, entry.share] for entry in c.by_input
            }
            name = c.name if len(self.runs) == 1 else f"{c.run}: {c.name}"
            more = {"clear": c.p_holm < self.alpha, "texts": texts, "by_input": shares}
            more |= {"lost": len(c.lost), "gained": len(c.gained)}
            systems.append(row(c, name=name, **more))
        data = {"title": self.headline, "systems": systems, "facts": facts}
        data |= {key: getattr(self, key) for key in ("failures", "notes", "signature")}
        return write_page("What changed", data, path, page="changes")

    def to_history(self, path: Any) -> None:
        """Adds the new runs to a history, which is checked first; the baseline only to
        a new one.

        The one output that is not replaced. A run that it already holds is not
        repeated.
        """
        if undated := [run.run for run in self.history if not run.date]:
            raise InputError(
                f"run '{undated[0]}' has no date", hint="Give one, as 2026-01-31."
            )

        # Another process may add its runs at this moment: reading and writing are one.
        with in_turn(path):
            runs: Sequence[RunScores] = self.history
            text = read_text(path) if Path(path).exists() else ""
            lines = split_lines(text) if text.strip() else []

            if lines:
                before = read_history(path).runs
                runs = [run for run in runs[1:] if run not in before]

            lines += [json.dumps(record(run), ensure_ascii=False) for run in runs]

            with atomic_write(path) as file:
                file.writelines(f"{line}\n" for line in lines)

    def to_markdown(self, path: Any = None) -> str:
        """A comment for a pull request, at most 60,000 characters; written to
        `path`."""
        many, mark = (
            len(self.runs) > 1,
            ("❌ " if self.failures else "✅ ") if self.gate else "",
        )
        head = ["run"] * many + [
            "system",
            "old",
            "new",
            "difference",
            "p",
            "lost",
            "gained",
            "+/−",
        ]
        lines = [f"### {mark}{_escaped(self.headline)}", ""]
        lines += [f"- FAIL: {_escaped(reason)}" for reason in self.failures]
        lines += ["", f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
        for c in self.changes:
            cells = [c.run] * many + [c.name, _number(c.old), _number(c.new)]
            cells += [*c.measured.rsplit(", ", 1), str(len(c.lost)), str(len(c.gained))]
            lines.append(
                f"| {' | '.join(map(_escaped, [*cells, f'{c.better}/{c.worse}']))} |"
            )
        notes = [f"- {_escaped(note)}" for note in self.notes]
        foot = ["", *notes, "", f"<sub>{_escaped(str(self.signature))}</sub>", ""]
        room = _LONGEST_COMMENT - len("\n".join([*lines, *foot])) - 400
        for kind in _KINDS:
            facts = [fact for fact in self.rows("facts") if fact["change"] == kind]
            body: list[str] = []
            for fact in facts:
                text = f"- {_escaped(fact['system'])}, {_escaped(fact['input'])}: "
                text += f"**{_escaped(fact['text'], 300)}**"
                for side in ("old", "new"):
                    sentence = _escaped(fact[f"{side}_sentence"], 300) or "–"
                    text += f"\n  - {side} {_number(fact[side], 2)}: {sentence}"
                room -= len(text) + 1
                if room < 0:
                    break
                body.append(text)
            more = [f"- … and {len(facts) - len(body)} more"] * (len(body) < len(facts))
            summary = (
                f"<details><summary>{counted(len(facts), 'fact')} {kind}</summary>"
            )
            lines += ["", summary, "", *body, *more, "", "</details>"] * bool(facts)
        text = "\n".join([*lines, *foot])[:_LONGEST_COMMENT]
        if path is not None:
            with atomic_write(path) as file:
                file.write(text)
        return text


def _number(value: float, digits: int = 3) -> str:
    """A number as papers write it: −.043, 1.000."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:z.{digits}f}").replace("-", "−")


def _escaped(text: str, longest: int = 1000) -> str:
    """A text that Markdown shows as it is: nobody is addressed by an @ in a summary."""
    return _MARKUP.sub(lambda mark: f"&#{ord(mark[0])};", cut(text, longest))


# The comparison
# ------------------------------------------------------------------------------


def _failures(change: SystemChange, how: Settings) -> list[str]:
    """A clause for each condition of the gate that a system fails."""
    failed = []
    if how.fail_if and change.p_holm < how.alpha and change.difference < 0:
        failed.append(f"is significantly worse ({change.measured})")
    if how.fail_under is not None and not change.new >= how.fail_under:
        failed.append(f"scores {_number(change.new)}, under {_number(how.fail_under)}")
    worse = sum(fact.weight > 0 for fact in change.lost)
    worse += sum(fact.weight < 0 for fact in change.gained)  # penalties
    if how.fail_if_lost is not None and worse >= how.fail_if_lost:
        failed.append(f"lost {counted(worse, 'fact')}; {how.fail_if_lost} fail")
    if how.margin is not None and not change.low > -how.margin:
        differences = np.array([entry.difference for entry in change.by_input])
        error = float(differences.std()) / len(differences) ** 0.5 or 1e-12
        normal = NormalDist()
        power = normal.cdf(how.margin / error - normal.inv_cdf(1 - how.alpha / 2))
        failed.append(
            f"may be worse by more than {_number(how.margin)} ({change.measured}); a run that "
            f"is no worse passes with probability {_number(power, 2)}"
        )
    return failed


def compare_runs(
    names: Sequence[str],
    results: Sequence[ScoreResult],
    dates: Sequence[str],
    how: Settings,
) -> ChangeResult:
    """Compares new runs with the first one, the baseline."""
    changes: list[SystemChange] = []
    notes, hashes, groups = [], [], how.by
    insist, many = how.across_judges, len(names) > 2
    for name, new in zip(names[1:], results[1:], strict=True):
        runs = align_runs(
            results[0], new, how.pair, units_too=insist, judges_too=insist
        )
        changes += _changes(name, runs, how)
        hashes += [
            (one.systems, one.presence.tolist(), one.scores.tolist())
            for one in runs.sides
        ]
        own = [*runs.judges, *runs.notes]
        if n := int(np.isnan(runs.sides[1].scores - runs.sides[0].scores).sum()):
            own.append(
                f"{counted(n, 'pair')} of summaries without a score in both runs, left out."
            )
        if groups and (n := sum(entry.input not in groups for entry in runs.units)):
            own.append(f"{counted(n, 'input has', 'inputs have')} no group.")
        notes += [f"{name}: {note}" if many else note for note in own]
    by_group = iter(
        with_holm([group for change in changes for group in change.by_group])
    )
    changes = [
        replace(change, by_group=tuple(next(by_group) for _ in change.by_group))
        for change in with_holm(changes)
    ]
    notes.append(
        f"Two-sided sign-flip test over inputs, exact (α = {how.alpha:g}). A fact is lost if its "
        f"presence falls from {how.present:g} or more to less, by at least {how.lost_by:g}."
    )
    notes += too_few_inputs(max(c.inputs for c in changes), len(changes), how.alpha)
    failures = [
        f"{cut(c.name)}{f' of {cut(c.run)}' if many else ''} {reason}."
        for c in changes
        for reason in _failures(c, how)
    ]
    fields = [dict(result.signature.fields) for result in results]
    shared = {
        k: v for k, v in fields[0].items() if all(own.get(k) == v for own in fields)
    }
    about = {
        "test": "sign-flip", "runs_sha": fingerprint(hashes), "present": how.present,
        "lost_by": how.lost_by, "gate": how.gate or None,
        "groups_sha": fingerprint(sorted(groups.items())) if groups else None,
    }  # fmt: skip
    return ChangeResult(
        metric=results[0].name, baseline=names[0], runs=tuple(names[1:]), changes=tuple(changes),
        alpha=how.alpha, gate=how.gate, notes=tuple(notes), failures=tuple(failures),
        signature=Signature.of(**shared | about | how.bootstrap),
        history=tuple(map(RunScores.of, names, results, dates)),
    )  # fmt: skip


def _changes(name: str, runs: AlignedRuns, how: Settings) -> list[SystemChange]:
    """The changes of each system of one run, p-values not yet corrected."""
    old, new = runs.sides
    differences = new.scores - old.scores
    if np.isnan(differences).all(axis=1).any():
        raise InputError(
            f"a system of run '{name}' has no score", expected="one shared input"
        )
    groups = {
        group: as_differences(differences[:, columns], **how.bootstrap)
        for group, columns in _columns(runs, how.by).items()
    }
    changes = []
    for n, fields in enumerate(as_differences(differences, **how.bootstrap)):
        d, lost, gained = (
            differences[n],
            *(_facts(runs, n, how, sign) for sign in (1, -1)),
        )
        scored = np.nonzero(~np.isnan(d))[0].tolist()
        total, texts = float(d[scored].sum()), {}
        if old.texts and new.texts:
            both = zip(runs.units, old.texts[n], new.texts[n], strict=True)
            names = {fact.input for fact in (*lost, *gained)}
            texts = {
                entry.input: (a, b) for entry, a, b in both if entry.input in names
            }
        by_input = [
            InputChange(
                runs.units[m].input, float(old.scores[n, m]), float(new.scores[n, m]), float(d[m]),
                float(d[m]) / total if abs(total) > _ROUNDING else None,
            )
            for m in scored
        ]  # fmt: skip
        changes.append(
            SystemChange(
                run=name, system=new.systems[n], old_system=old.systems[n],
                old=float(old.scores[n, scored].mean()), new=float(new.scores[n, scored].mean()),
                better=int((d > _ROUNDING).sum()), worse=int((d < -_ROUNDING).sum()),
                lost=lost, gained=gained, by_input=tuple(by_input), texts=texts, **fields,
                by_group=tuple(
                    GroupChange(group=group, **rows[n])
                    for group, rows in groups.items()
                    if rows[n]["inputs"]
                ),
            )
        )  # fmt: skip
    return changes


def _columns(
    runs: AlignedRuns, groups: Mapping[str, str] | None
) -> dict[str, list[int]]:
    """The places of each group's inputs."""
    columns: dict[str, list[int]] = {}
    for place, entry in enumerate(runs.units):
        if groups and (group := groups.get(entry.input)):
            columns.setdefault(group, []).append(place)
    if groups is not None and not columns:
        raise InputError(
            "no input of the runs has a group", expected="groups of their inputs"
        )
    return dict(sorted(columns.items()))


def _facts(
    runs: AlignedRuns, n: int, how: Settings, sign: int
) -> tuple[FactChange, ...]:
    """The facts that a system lost (sign 1) or gained (-1).

    A sentence is the judge's evidence where that is saved, else the one with most words
    of the fact, and of the sentence that holds it in the other run.
    """
    sides = runs.sides[::sign]  # first the run that holds the fact
    high, low = (side.presence[n] for side in sides)
    changed = (
        (high >= how.present)
        & (low < how.present)
        & (high - low >= how.lost_by - _ROUNDING)
    )
    differences = np.nan_to_num(runs.sides[1].scores[n] - runs.sides[0].scores[n])
    size = (sign * differences).tolist()
    order = sorted(
        (size[runs.numbers[u][0]], u) for u in np.nonzero(changed)[0].tolist()
    )
    units = [unit for entry in runs.units for unit in entry.units]
    facts = []
    for _, u in order:
        (m, number), unit = runs.numbers[u], units[u]
        spans, quotes, goal = [], [], unit.text
        for side in sides:
            text = side.texts[n][m] if side.texts else ""
            seen = side.evidence[n][u] if side.evidence else None
            span = (
                seen.span
                if seen and seen.sentence >= 0
                else nearest_sentence(text, goal)
            )
            quotes.append(text[slice(*span)])
            spans.append(span)
            goal = f"{goal} {quotes[0]}"
        old, new = (float(side.presence[n, u]) for side in runs.sides)
        text = "penalty: " * (unit.weight < 0) + unit.text
        (quote, new_quote), (one, two) = quotes[::sign], spans[::sign]
        about = (
            runs.units[m].input,
            number,
            text,
            old,
            new,
            quote,
            new_quote,
            unit.weight,
        )
        facts.append(FactChange(*about, (one, two)))
    return tuple(facts)


@lru_cache(20_000)
def _sentence_words(text: str) -> list[tuple[Span, frozenset[str]]]:
    return [((a, b), _words(text[a:b])) for a, b in sentence_spans(text)]


@lru_cache(20_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def nearest_sentence(text: str, goal: str) -> Span:
    """The sentence that shares most words with another text (cosine); (0, 0) if none
    shares any.

    Example:
        >>> nearest_sentence("It rained. Two men died.", "Two people died.")
        (11, 24)
    """
    words, best, span = _words(goal), 0.0, (0, 0)
    for place, own in _sentence_words(text):
        score = len(own & words) / max(1, len(own)) ** 0.5
        if score > best:
            best, span = score, place
    return span


def read_groups(by: Any) -> dict[str, str]:
    """The group of each input: a mapping, or ``FILE:COLUMN`` of a table with a column
    `input`.

    Numbers of more than six values are cut into thirds.
    """
    from litepyramid.io.rows import read_rows

    if isinstance(by, Mapping):
        return {str(name): str(group) for name, group in by.items()}
    path, _, column = str(by).rpartition(":")
    if not path:
        expected = "FILE:COLUMN, or a dict from input to group"
        raise InputError(f"'{cut(by)}' names no groups", expected=expected)
    rows = [row.values for row in read_rows(path, table=True).rows]
    names = [
        name
        for name in dict.fromkeys(n for row in rows for n in row)
        if name != "input"
    ]
    if column not in names or not all("input" in row for row in rows):
        what = f"no columns 'input' and '{column}'"
        raise InputError(
            what, path=path, expected=f"FILE:COLUMN, with one of {names_of(names)}"
        )
    values = {str(row["input"]): row.get(column) for row in rows}
    cells = {
        name: str(value) for name, value in values.items() if value not in (None, "")
    }
    try:
        numbers = {name: float(value) for name, value in cells.items()}
    except ValueError:
        return cells
    if len(set(numbers.values())) <= 6:
        return cells
    ends = np.quantile([*numbers.values()], [1 / 3, 2 / 3])
    labels = (f"{column} ≤ {ends[0]:g}", f"≤ {ends[1]:g}", f"> {ends[1]:g}")
    return {
        n: labels[int(np.searchsorted(ends, value))] for n, value in numbers.items()
    }


# Histories
# -----------------------------------------------------------------------------------


def day(given: str | None, path: Path | None) -> str:
    """The date of a run: what the user says, else the file's, else none."""
    if given is None:
        return (
            str(datetime.fromtimestamp(path.stat().st_mtime, UTC).date())
            if path
            else ""
        )
    try:
        datetime.fromisoformat(given)
    except (TypeError, ValueError):
        expected = f"one such as {date(2026, 1, 31)} or 2026-01-31T12:00"
        raise InputError(f"the date '{given}'", expected=expected) from None
    return given


def read_history(path: str | Path) -> History:
    """The history in a file."""
    what = "not a line of a history"
    rows = read_jsonl(path)
    return History(
        tuple(
            as_type(RunScores, row, what=what, path=path, line=line)
            for line, row in rows
        )
    )


def is_history(source: Any) -> bool:
    """Whether it is a history's file."""
    if not isinstance(source, str | Path) or Path(source).suffix != ".jsonl":
        return False
    return Path(source).is_file() and '"run"' in read_text(source)[:1000]
