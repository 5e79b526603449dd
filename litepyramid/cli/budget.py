"""``litepyramid budget``: what people should annotate, and what they answered."""

from __future__ import annotations

import typer

from litepyramid.cli import budget_curve, budget_tasks

app = typer.Typer(
    help="Plan what people annotate, write the tasks, take the answers back.",
    no_args_is_help=True,
)
app.command("curve")(budget_curve.curve)
app.command("plan")(budget_tasks.plan)
app.command("export")(budget_tasks.export)
app.command("import")(budget_tasks.import_answers)
