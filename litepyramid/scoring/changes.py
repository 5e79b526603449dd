"""What changed between runs: facts lost and gained, tested differences, a gate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from litepyramid.errors import InputError, choose, no_effect
from litepyramid.files import stem
from litepyramid.identity import fingerprint
from litepyramid.reports.score_page import made_page
from litepyramid.scoring.comment import code, comment, escaped, table
from litepyramid.scoring.comparable import versions_of
from litepyramid.scoring.fact_changes import LOST_BY, PRESENT
from litepyramid.scoring.gate import Gate
from litepyramid.scoring.inference import MEASURES, too_few_inputs, with_holm
from litepyramid.scoring.pyramid import metric_title
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.runs import RunPair, align_runs
from litepyramid.scoring.saved_result import read_run
from litepyramid.scoring.system_changes import (
    SystemChange,
    read_groups,
    system_changes,
    without_group,
)
from litepyramid.stats import EQUAL_WITHIN
from litepyramid.tables import Column, Result, Table, frame, record, row
from litepyramid.text import counted, cut, written
from litepyramid.types import Fields, Names, ResultLike, Signature, Texts

_SHOWN, _NAMED = 10, 5  # facts of a table, systems of a sentence
_KINDS = ("lost", "gained")

ChangeRows = Literal["systems", "inputs", "facts", "groups"]


@dataclass(frozen=True)
class ChangeResult(Result):
    """What changed from a baseline to one new run or several.

    Attributes:
        baseline: Name of the run that the others (`runs`) are compared with.
        of_facts: Whether the runs have facts in common, or only scores (`precision`).
        gate: The conditions under which a run fails; empty for none.
        failures: Those that failed, a sentence each.
        would_fail: Of a run that passes though it lost something, the flags that would
            have failed it.
        notes: These flags, if any; what is shared and what is not, and what else a
            reader must know.
    """

    metric: str
    baseline: str
    runs: Names
    changes: tuple[SystemChange, ...]
    alpha: float
    of_facts: bool
    gate: str
    failures: Texts
    would_fail: Texts
    notes: Texts
    signature: Signature

    forms: ClassVar[Mapping[str, str]] = {".md": "to_markdown"}

    @property
    def exit_status(self) -> int:
        """1 if the gate fails, else 0."""
        return int(bool(self.failures))

    @property
    def verdict(self) -> str:
        """The facts lost and gained, then what the test says, in a sentence."""
        return self._verdict(lambda name: f"`{cut(name)}`")

    def _verdict(self, shown: Callable[[str], str]) -> str:
        """The verdict, names of systems as they are to be shown."""
        if not self.of_facts:
            return self._tested(shown)
        lost = gained = 0
        for change in self.changes:
            lost += len(change.lost)
            gained += len(change.gained)
        facts = f"{counted(lost, 'fact')} lost, {gained} gained"

        losing = [change for change in self.changes if change.lost]
        if losing and len(self.changes) > 1:
            most_first = sorted(losing, key=lambda change: -len(change.lost))
            told = []
            for change in most_first[:_NAMED]:
                told.append(f"{self._named(change, shown)} {len(change.lost)}")
            if len(losing) > _NAMED:
                told.append("…")
            facts += f" ({', '.join(told)})"

        return f"{facts}; {self._tested(shown)}"

    def _tested(self, shown: Callable[[str], str]) -> str:
        """What the test says of the systems, those that changed first."""
        clear = [change for change in self.changes if change.p_holm < self.alpha]
        clear.sort(key=lambda change: change.difference)
        unclear = len(self.changes) - len(clear)

        told = []
        for change in clear[:_NAMED]:
            direction = "worse" if change.difference < 0 else "better"
            name = self._named(change, shown)
            told.append(f"{name} is significantly {direction}, {change.measured}")

        if len(clear) > _NAMED:
            told.append(f"{len(clear) - _NAMED} more changed significantly")

        if len(self.changes) == 1 and unclear:
            told.append(f"no significant change, {self.changes[0].measured}")
        elif unclear:
            what = "system" if len(self.runs) == 1 else "comparison"
            told.append(f"no significant change of {counted(unclear, what)}")

        return "; ".join(told)

    def _named(self, change: SystemChange, shown: Callable[[str], str]) -> str:
        of_run = f" of {cut(change.run, 40)}" if len(self.runs) > 1 else ""
        return f"{shown(change.name)}{of_run}"

    @property
    def outcome(self) -> str:
        """FAIL, PASS, or PASS with a loss; empty without a gate."""
        if not self.gate:
            return ""
        if self.failures:
            return "FAIL"
        return "PASS, with a loss" if self._loses else "PASS"

    @property
    def _loses(self) -> bool:
        return any(change.lost for change in self.changes)

    @property
    def headline(self) -> str:
        """The verdict, behind PASS or FAIL if there is a gate."""
        return f"{self.outcome}: {self.verdict}" if self.gate else self.verdict

    def json_entries(self) -> Fields:
        """The fields, and the verdict."""
        return {"verdict": self.verdict, **record(self)}

    def to_tables(self) -> Sequence[Table]:
        """The systems, the facts lost and gained, the groups of inputs."""
        run = ["run"] if len(self.runs) > 1 else []
        system = ["system"] if len(self.changes) > 1 else []
        measures: list[Column | str] = [*MEASURES[:3], MEASURES[-1]]

        kinds = _KINDS if self.of_facts else ()
        columns = [*run, "system", *kinds, "old", "new", *measures, "better", "worse"]
        # Over all inputs of the new run.
        if any(abs(one.score - one.new) > EQUAL_WITHIN for one in self.changes):
            columns.append(Column("score", "new, all inputs"))
        failures = [f"FAIL: {reason}" for reason in self.failures]
        notes = [*failures, *self.notes, str(self.signature)]
        rows = self.rows("systems")
        tables = [Table.of(self.headline, columns, rows, notes, 1 + len(run))]

        for kind, first in zip(_KINDS, ("worst", "best"), strict=True):
            facts = self._facts(kind)
            if not facts:
                continue
            title = f"{counted(len(facts), 'fact')} {kind}, {first} input first"
            columns = [*run, *system, "input", Column("text", "fact"), "old", "new"]
            more = len(facts) - _SHOWN
            notes = [f"{more} more: save .html, .md or .json."] if more > 0 else []
            tables.append(Table.of(title, columns, facts[:_SHOWN], notes))

        if groups := self.rows("groups"):
            columns = [*run, "system", "group", "inputs", *measures]
            tables.append(Table.of("Differences by group of inputs", columns, groups))

        return tables

    def rows(self, rows: ChangeRows) -> list[Fields]:
        """The entries of tables: a row for each of the systems, inputs, facts or
        groups."""
        changes: Sequence[SystemChange] = self.changes
        if rows == "facts":
            changes = sorted(changes, key=lambda change: change.difference)

        listed = []
        for change in changes:
            head = {"run": change.run, "system": change.name}
            if rows == "systems":
                listed.append(_system_row(change) | head)
            elif rows == "facts":
                for kind in _KINDS:
                    for fact in getattr(change, kind):
                        listed.append({**head, "change": kind, **record(fact)})
            else:
                entries = change.by_input if rows == "inputs" else change.by_group
                listed += [head | row(entry) for entry in entries]

        return listed

    def _facts(self, kind: str) -> list[Fields]:
        return [fact for fact in self.rows("facts") if fact["change"] == kind]

    def to_csv_table(self) -> Table:
        """One row per system and input: both scores, the difference, its share of the
        system's."""
        names = ("run", "system", "input", "old", "new", "difference", "share")
        return Table.of("", names, self.rows("inputs"))

    def to_frame(self, rows: ChangeRows = "systems") -> Any:
        """A pandas frame with a row for each of the systems, inputs, facts or
        groups."""
        choose("rows", rows, ChangeRows)
        return frame(self.rows(rows))

    def to_figure(self) -> Any:
        """Differences from the baseline."""
        from litepyramid.figures.score_plots import difference_figure

        names = [[self._named(change, str)] for change in self.changes]
        return difference_figure(
            names,
            self.changes,
            self.alpha,
            metric_title(self.metric),
            against=self.baseline,
        )

    def to_html(self) -> str:
        """The page of what changed: verdict, facts lost and gained, both texts side by
        side."""
        systems = []
        facts = []
        for number, change in enumerate(self.changes):
            for kind in _KINDS:
                for f in getattr(change, kind):
                    about = [number, f.input, f.text, f.old, f.new]
                    facts.append([*about, kind == "lost", *f.spans])

            # A text that did not change is in the page once.
            texts = {}
            for name, (before, now) in change.texts.items():
                texts[name] = [before, None if now == before else now]
            by_input = {e.input: [e.difference, e.share] for e in change.by_input}
            of_run = "" if len(self.runs) == 1 else f"{change.run}: "
            systems.append(
                row(
                    change,
                    name=f"{of_run}{change.name}",
                    clear=change.p_holm < self.alpha,
                    texts=texts,
                    by_input=by_input,
                    lost=len(change.lost),
                    gained=len(change.gained),
                )
            )

        data = {
            "title": self.headline,
            "systems": systems,
            "facts": facts,
            "failures": self.failures,
            "notes": self.notes,
            "signature": self.signature,
        }
        return made_page("What changed", data, "changes")

    def to_markdown(self) -> str:
        """A comment for a pull request, at most 60,000 characters."""
        marks = {
            "": "",
            "FAIL": "❌ FAIL: ",
            "PASS": "✅ PASS: ",
        }
        mark = marks.get(self.outcome, f"⚠️ {self.outcome}: ")
        head = ["<!-- Made by litepyramid -->"]
        head += [f"### {mark}{self._verdict(code)}", ""]
        head += [f"- FAIL: {escaped(reason)}" for reason in self.failures]

        run = ["run"] if len(self.runs) > 1 else []
        kinds = _KINDS if self.of_facts else ()
        header = [*run, "system", *kinds, "old", "new", "difference", "p", "+/−"]
        rows = []

        for change in self.changes:
            names = [change.run, change.name] if run else [change.name]
            cells = [*map(code, names)]
            cells += [str(len(getattr(change, kind))) for kind in kinds]
            cells += [written(change.old), written(change.new)]
            p_value = change.p_value.removeprefix("p ").removeprefix("= ")
            cells += [change.interval, escaped(p_value)]
            rows.append([*cells, f"{change.better}/{change.worse}"])

        facts = {kind: self._facts(kind) for kind in _KINDS}
        notes = [f"- {escaped(note)}" for note in self.notes]
        if self.would_fail:
            head.append(notes.pop(0))

        signature = code(str(self.signature), 1000)
        foot = ["", *notes, "", f"<sub>{signature}</sub>", ""]
        return comment([*head, "", *table(header, rows)], facts, foot)


def _system_row(change: SystemChange) -> Fields:
    """The numbers of one system, and how many facts it lost and gained."""
    values = {}
    for name, value in row(change).items():
        if isinstance(value, str | int | float):
            values[name] = value
    return values | {"lost": len(change.lost), "gained": len(change.gained)}


# The comparison
# ------------------------------------------------------------------------------


def changes(
    *runs: ResultLike,
    pair: Sequence[str] = (),
    by: str | Mapping[str, str] | None = None,
    across_judges: bool = False,
    fail_if: Literal["worse"] | None = None,
    fail_under: float | None = None,
    fail_if_lost: int | None = None,
    margin: float | None = None,
) -> ChangeResult:
    """Show what changed between runs: the facts lost and gained, and a gate for CI.

    Each system is compared with itself in the first run, OLD: facts, difference,
    interval. The test is an exact sign-flip test over inputs, with Holm's correction
    over all systems and runs; confidence, samples and seed are those that OLD was
    scored with. A fact is lost if its presence falls from .5 or more to less, by at
    least .2. The exit status is 1 if a run fails.

    Args:
        *runs: OLD NEW …: saved results of `score`; or of `precision`, whose facts are
            each run's own: then scores alone are compared.
        pair: Systems of two runs, as OLD=NEW; repeat.
        by: Group inputs by FILE:COLUMN of a table.
        across_judges: Compare though judge or units differ.
        fail_if: ``worse``: fail if significantly so.
        fail_under: Fail if a system scores less, over all inputs of its run.
        fail_if_lost: Fail if a system lost so many facts.
        margin: Fail if worse by this is not ruled out.

    Returns:
        The changes of each system.

    Raises:
        InputError: Nothing to compare, or what differs between the runs.

    Example:
        >>> import litepyramid as lp
        >>> units = [["It rained."], ["We left."]]
        >>> old = lp.score({"a": ["It rained.", "We left."]}, units, judge="recall")
        >>> new = lp.score({"a": ["It rained.", "We slept."]}, units, judge="recall")
        >>> changes(old, new).changes[0].lost[0].text
        'We left.'

    Command line:
        $ litepyramid changes old.json new.json --fail-if worse -o changes.html
    """
    if len(runs) < 2:
        raise InputError("one run", expected="an old one and a new one")

    results = [*map(read_run, runs)]
    baseline = results[0]
    of_facts = not np.isnan(baseline.presence).all()
    why = f"on {baseline.metric}, whose facts are each run's own"
    no_effect(changes, not of_facts, why, fail_if_lost=fail_if_lost)
    alpha = round(1 - baseline.confidence, 12)
    gate = Gate(fail_if, fail_under, fail_if_lost, margin, alpha)
    groups = None if by is None else read_groups(by)
    pairs: list[Any] = [*pair] if isinstance(pair, list | tuple) else [pair]
    names = _names(runs)
    bootstrap = {
        "samples": baseline.samples,
        "confidence": baseline.confidence,
        "seed": baseline.seed,
    }

    found = []
    notes = []
    hashes = []

    for name, result in zip(names[1:], results[1:], strict=True):
        both = align_runs(
            baseline,
            result,
            pairs,
            other_units=across_judges,
            other_judges=across_judges,
        )
        found += system_changes(name, both, groups, bootstrap)
        # With one run to compare, every note is of that run.
        prefix = f"{name}: " if len(names) > 2 else ""
        notes += [f"{prefix}{note}" for note in _notes(both, groups)]
        hashes += both.values

    corrected = _corrected(found)
    most_inputs = max(change.inputs for change in corrected)
    notes.append(
        f"Two-sided sign-flip test over inputs (α = {alpha:g}); p is corrected for "
        "all that was tested, an interval is of one difference alone."
    )
    if of_facts:
        notes.append(
            f"A fact is lost if its presence falls from {PRESENT:g} or more to less, "
            f"by at least {LOST_BY:g}."
        )
    notes += too_few_inputs(most_inputs, len(corrected), alpha)
    failures = _failures(corrected, gate, many=len(names) > 2)

    # A run that passes though something was lost says what would have failed it.
    lost = any(change.lost or gate.is_worse(change) for change in corrected)
    would_fail = gate.would_fail(corrected) if lost and not failures else []
    if would_fail:
        notes.insert(0, f"This would have failed: {' or '.join(would_fail)}.")

    about = {
        **versions_of(*[result.signature for result in results]),
        "test": "sign-flip",
        "runs_sha": fingerprint(hashes),
        "present": PRESENT if of_facts else None,
        "lost_by": LOST_BY if of_facts else None,
        "gate": gate.conditions or None,
        "groups_sha": fingerprint(sorted(groups.items())) if groups else None,
    }
    return ChangeResult(
        metric=baseline.name,
        baseline=names[0],
        runs=tuple(names[1:]),
        changes=corrected,
        alpha=alpha,
        of_facts=of_facts,
        gate=gate.conditions,
        failures=failures,
        would_fail=tuple(would_fail),
        notes=tuple(notes),
        signature=Signature.of(**_shared_fields(results) | about | bootstrap),
    )


def _names(sources: Sequence[Any]) -> list[str]:
    """What the runs are called: their files' names, with the paths where these are
    alike."""
    names = []
    for number, source in enumerate(sources, 1):
        is_file = isinstance(source, str | Path)
        names.append(stem(source) if is_file else f"run {number}")

    if len(set(names)) == len(names):
        return names
    # old/scores.json and new/scores.json are told apart by their folders alone.
    for number, source in enumerate(sources):
        if isinstance(source, str | Path):
            names[number] = str(source)
    return names


def _notes(runs: RunPair, groups: Mapping[str, str] | None) -> list[str]:
    """What a reader must know of one comparison."""
    notes = [*runs.judges, *runs.notes]
    unscored = int(np.isnan(runs.new.scores - runs.old.scores).sum())
    if unscored:
        pairs = counted(unscored, "pair")
        notes.append(f"{pairs} of summaries without a score in both runs, left out.")
    return [*notes, *without_group(runs, groups)]


def _corrected(found: Sequence[SystemChange]) -> tuple[SystemChange, ...]:
    """The changes with p-values corrected over all systems and runs; those of groups
    over all groups."""
    groups = iter(with_holm([*chain.from_iterable([c.by_group for c in found])]))
    corrected = []
    for change in with_holm([*found]):
        own_groups = tuple([next(groups) for _ in change.by_group])
        corrected.append(replace(change, by_group=own_groups))
    return tuple(corrected)


def _failures(changes: Sequence[SystemChange], gate: Gate, *, many: bool) -> Texts:
    """A sentence for each condition that a system fails."""
    failures = []
    for change in changes:
        of_run = f" of {cut(change.run)}" if many else ""
        for reason in gate.failures(change):
            failures.append(f"{cut(change.name)}{of_run} {reason}.")
    return tuple(failures)


def _shared_fields(results: Sequence[ScoreResult]) -> dict[str, str]:
    """What the signatures of all runs say alike."""
    fields = [dict(result.signature.fields) for result in results]
    shared = {}
    for key, value in fields[0].items():
        if all(other.get(key) == value for other in fields):
            shared[key] = value
    return shared
