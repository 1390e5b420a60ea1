"""`rheostat history`: the changes of a run, and their outcome."""

from dataclasses import asdict

import typer

from rheostat.cli.output import answer_json, page, say
from rheostat.cli.session.run_journal import told_of
from rheostat.cli.session.running_application import AsJson, Directory, find_directory
from rheostat.cli.views.tables import plain_table
from rheostat.control.history.decision_story import TellableDecision
from rheostat.control.history.explanation import clock_time

app = typer.Typer(add_completion=False)


@app.command()
def history(*, directory: Directory = None, as_json: AsJson = False) -> None:
    """List the changes of a run, and their outcome.

    By managers or by hand: replicas, and nodes that were started and released. The numbers are those that rheostat
    explain takes.
    """
    place = find_directory(directory)
    found, began = told_of(place)
    changes = [(story, result) for story in found if (result := story.result()) is not None]
    if as_json:
        rows = [
            {"number": story.number, "seconds": _since(story, began), **asdict(result)} for story, result in changes
        ]
        answer_json(ok=True, directory=str(place), changes=rows)
        return
    if not changes:
        say("nothing was changed")
        return
    headers = ("decision", "after", "what", "outcome", "paused s")
    table = plain_table(*headers, right=("decision", "paused s"), wraps=("what", "outcome"))
    for story, result in changes:
        outcome = result.outcome + (f" ({'; '.join(result.reasons)})" if result.reasons else "")
        paused = "" if result.paused_seconds is None else f"{result.paused_seconds:.2f}"
        table.add_row(str(story.number), clock_time(_since(story, began)), result.change, outcome, paused)
    page().print(table)


def _since(story: TellableDecision, began: float) -> float:
    return round(story.decision.at_seconds - began, 3)
