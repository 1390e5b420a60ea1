"""`rheostat history`: what was changed in a run, and what came of it."""

from collections.abc import Mapping
from typing import Any

import typer

from rheostat.cli.connected import AsJson, Directory, find_directory
from rheostat.cli.output import answer_json, page, say
from rheostat.cli.runs import stories_of
from rheostat.cli.tables import plain_table
from rheostat.control.explain import clock_time

app = typer.Typer(add_completion=False)


@app.command()
def history(*, directory: Directory = None, as_json: AsJson = False) -> None:
    """List what was changed in a run, and what came of it.

    The numbers are those that rheostat explain takes.
    """
    place = find_directory(directory)
    found, began = stories_of(place)
    rows = []
    for story in found:
        if story.effect is None:
            continue
        facts: Mapping[str, Any] = story.effect.facts
        rows.append(
            {
                "number": story.number,
                "seconds": round(story.decision.at_seconds - began, 3),
                "change": facts["change"],
                "outcome": facts["outcome"],
                "paused_seconds": facts.get("downtime_seconds"),
                "reasons": facts.get("reasons", []),
            }
        )
    if as_json:
        answer_json(ok=True, directory=str(place), changes=rows)
        return
    if not rows:
        say("nothing was changed by the managers")
        return
    table = plain_table("decision", "after", "what", "outcome", "paused s", right=("decision", "paused s"))
    for row in rows:
        outcome = row["outcome"] + (f" ({'; '.join(row['reasons'])})" if row["reasons"] else "")
        paused = "" if row["paused_seconds"] is None else f"{row['paused_seconds']:.2f}"
        table.add_row(str(row["number"]), clock_time(row["seconds"]), row["change"], outcome, paused)
    page().print(table)
