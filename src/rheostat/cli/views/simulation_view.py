"""The summary of simulated runs, as a table or as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from rheostat.cli.views.colours import number
from rheostat.cli.views.tables import plain_table
from rheostat.report.run_summary import Summary

HEADERS = (
    "mean ms",
    "P50 ms",
    "P95 ms",
    "violations %",
    "replicas",
    "nodes",
    "downtime %",
    "changes",
    "cost $",
)


def summary_table(
    summaries: Mapping[str, Summary], extra: Mapping[str, Mapping[str, float | None]] | None = None
) -> Table:
    """A line for every run; further columns by name, with a value for each run."""
    more = list(extra or {})
    table = plain_table("", *HEADERS, *more, right=(*HEADERS, *more))
    for name, summary in summaries.items():
        cells = [_cell(value) for value in _values(summary)]
        table.add_row(name, *cells, *(_cell((extra or {})[column].get(name)) for column in more))
    return table


def _values(summary: Summary) -> tuple[float | None, ...]:
    violations = None if summary.violations is None else 100 * summary.violations
    return (
        summary.mean_ms,
        summary.p50_ms,
        summary.p95_ms,
        violations,
        summary.replicas,
        summary.nodes,
        100 * summary.downtime,
        float(summary.reconfigurations),
        summary.cost,
    )


def _cell(value: float | None) -> str:
    return "-" if value is None else number(value)


def summary_json(summary: Summary) -> dict[str, Any]:
    """The summary by its own names."""
    return asdict(summary)


class Bar:
    """A progress bar of simulated time on stderr if that is a terminal; nothing otherwise."""

    def __init__(self, what: str, until_seconds: float) -> None:
        console = Console(stderr=True, highlight=False, markup=False)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[clock]}"),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
        self._task = self._progress.add_task(what, total=until_seconds, clock="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._progress.stop()

    def __call__(self, now_seconds: float) -> None:
        """Shows the simulated time."""
        self._progress.update(self._task, completed=now_seconds, clock=f"{now_seconds / 3600:.1f} h")
