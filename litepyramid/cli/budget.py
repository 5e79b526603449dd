"""``litepyramid budget``: what people should annotate, and what they answered."""

from __future__ import annotations

import typer

from litepyramid.cli import budget_curve, budget_power, budget_tasks

app = typer.Typer(
    help="""Plan what people annotate, export the tasks, import the answers.

    $ litepyramid budget plan example/references.jsonl --human-share 0.5 -o \\
        plan.json
    $ litepyramid budget export plan.json -o tasks
    """,
    no_args_is_help=True,
)
app.command("plan")(budget_tasks.plan)
app.command("export")(budget_tasks.export)
app.command("import")(budget_tasks.import_answers)
app.command("power")(budget_power.power)
app.command("curve")(budget_curve.curve)
