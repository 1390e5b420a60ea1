"""The report of a run: one HTML file that opens without a network and can be sent by mail.

It is made from a recording alone, so it shows a run on Spark as well as a simulated one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np

from rheostat.report.charts import ACCENT, COLOURS, INK, PALE, Chart, ChartLine, Mark, clock
from rheostat.report.recording import Note, Recording, Series
from rheostat.report.run_summary import EVERYTHING, Exclusion, Summary, summarise

STYLE = f"""
body {{ font: 15px/1.5 sans-serif; color: {INK}; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; margin-bottom: 0.2rem; }} h2 {{ font-size: 1.05rem; margin: 1.6rem 0 0.2rem; }}
p, .legend {{ color: {PALE}; }} .legend span {{ margin-right: 1.2em; font-size: 0.85rem; }}
.legend i {{ display: inline-block; width: 1.1em; height: 0.25em; margin-right: 0.4em; vertical-align: middle; }}
table {{ border-collapse: collapse; font-size: 0.88rem; }}
td, th {{ text-align: left; padding: 0.25rem 0.9rem 0.25rem 0; border-bottom: 1px solid #e4e9ed; vertical-align: top; }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums; }}
svg {{ width: 100%; height: auto; display: block; }} .bad {{ color: {ACCENT}; }}
"""
MARK_COLOURS = {"done": INK, "rolled back": ACCENT, "node": COLOURS[2]}
"""Refused changes stand in the table only: they did not touch the application."""


def write_report(recording: Recording, path: Path, exclusion: Exclusion = EVERYTHING) -> None:
    """Writes the page."""
    path.write_text(page(recording, exclusion), encoding="utf-8")


def page(recording: Recording, exclusion: Exclusion = EVERYTHING) -> str:
    """The page as text."""
    title = escape(recording.title)
    facts = " · ".join(f"{escape(name)}: {escape(value)}" for name, value in recording.facts.items())
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>',
        f"<h1>{title}</h1><p>{facts}</p>",
        _summary_table(summarise(recording, exclusion), exclusion),
        *_drawn(charts(recording)),
        _notes_table(recording.notes),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def charts(recording: Recording) -> list[Chart]:
    """All charts of the page, from the rate of the sources to the cost."""
    marks = [
        Mark(note.at_seconds, f"{note.what}{': ' + note.why if note.why else ''}", MARK_COLOURS[note.kind])
        for note in recording.notes
        if note.kind in MARK_COLOURS
    ]
    of = recording.column
    replicas = [
        ChartLine(name, values, COLOURS[i % len(COLOURS)], steps=True)
        for i, (name, values) in enumerate(recording.replicas.items())
    ]
    plain = Chart("", "", recording.seconds, (), marks)
    return [
        replace(plain, title="Rate of the sources", unit="tuples/s", lines=(ChartLine("rate", of("rate_tps")),)),
        _response_chart(recording, plain),
        replace(
            plain, title="Tuples that wait", unit="tuples", lines=(ChartLine("backlog", of("backlog")),), height=140
        ),
        replace(plain, title="Replicas", unit="replicas", lines=replicas),
        replace(
            plain,
            title="Nodes",
            unit="nodes",
            lines=(ChartLine("nodes", of("nodes"), COLOURS[2], steps=True),),
            height=130,
        ),
        replace(
            plain,
            title="Cost",
            unit="$/h",
            lines=(ChartLine("cost", of("cost_per_hour"), COLOURS[3], steps=True),),
            height=130,
        ),
    ]


def _response_chart(recording: Recording, plain: Chart) -> Chart:
    """Mean and percentiles of the response time; only spikes that would flatten everything else are cut off."""
    of = recording.column
    lines = (
        ChartLine("p99", of("response_p99_ms"), COLOURS[3], width=1.8),
        ChartLine("p95", of("response_p95_ms"), COLOURS[1], width=1.6),
        ChartLine("mean", of("response_mean_ms"), COLOURS[0], width=2.0),
        ChartLine("median", of("response_p50_ms"), COLOURS[2], width=1.0),
    )
    top = max(
        1.3 * _quantile(of("response_p95_ms"), 0.98),
        1.1 * _quantile(of("response_p99_ms"), 0.95),
        1.3 * (recording.objective_ms or 0.0),
    )
    cut = any(value is not None and value > 1.05 * top for value in of("response_p99_ms"))
    notes = ("higher values are cut off",) if cut else ()
    return replace(
        plain,
        title="Response time",
        unit="ms",
        lines=lines,
        limit=recording.objective_ms,
        top=top,
        height=260,
        notes=notes,
    )


def _quantile(values: Series, share: float) -> float:
    known = [value for value in values if value is not None]
    return float(np.quantile(known, share)) if known else 1.0


def _drawn(all_charts: Iterable[Chart]) -> Iterable[str]:
    for chart in all_charts:
        yield f'<h2>{escape(chart.title)}</h2><div class="legend">{chart.legend()}</div>'
        yield chart.svg()


def _summary_table(summary: Summary, exclusion: Exclusion) -> str:
    def shown(value: float | None, form: str = ".1f", factor: float = 1.0) -> str:
        return "-" if value is None else format(factor * value, form)

    columns = (
        ("response mean, ms", shown(summary.mean_ms)),
        ("median, ms", shown(summary.p50_ms)),
        ("p95, ms", shown(summary.p95_ms)),
        ("violations, %", shown(summary.violations, ".2f", 100)),
        ("replicas", shown(summary.replicas, ".2f")),
        ("nodes", shown(summary.nodes, ".2f")),
        ("downtime, %", shown(summary.downtime, ".2f", 100)),
        ("reconfigurations", str(summary.reconfigurations)),
        ("cost, $", shown(summary.cost, ".2f")),
    )
    head = "".join(f'<th class="n">{escape(name)}</th>' for name, _ in columns)
    body = "".join(f'<td class="n">{value}</td>' for _, value in columns)
    left_out = (
        f"<p>Averages leave out the first {exclusion.warm_up_seconds:g} s and {exclusion.settle_seconds:g} s after "
        "each reconfiguration.</p>"
    )
    return f"<table><tr>{head}</tr><tr>{body}</tr></table>" + ("" if exclusion == EVERYTHING else left_out)


def _notes_table(notes: Sequence[Note]) -> str:
    if not notes:
        return "<h2>What happened</h2><p>Nothing was changed.</p>"
    rows = "".join(
        f'<tr><td class="n">{clock(note.at_seconds)}</td>'
        f"<td{'' if note.kind in ('done', 'node') else ' class=bad'}>{escape(note.kind)}</td>"
        f"<td>{escape(note.what)}</td><td>{escape(note.why)}</td>"
        f'<td class="n">{f"{note.downtime_seconds:.2f} s" if note.downtime_seconds else ""}</td></tr>'
        for note in notes
    )
    head = '<tr><th class="n">at</th><th></th><th>what</th><th>why</th><th class="n">paused</th></tr>'
    opened = " open" if len(notes) <= 60 else ""
    table = f"<table>{head}{rows}</table>"
    return f"<h2>What happened</h2><details{opened}><summary>{len(notes)} events</summary>{table}</details>"
