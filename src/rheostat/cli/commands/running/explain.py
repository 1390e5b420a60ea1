"""`rheostat explain`: the reasons of a decision."""

from typing import Annotated

import typer

from rheostat.cli.output import Complaint, WrongUse, answer_json, say
from rheostat.cli.session.run_journal import told_of
from rheostat.cli.session.running_application import AsJson, Directory, find_directory
from rheostat.control.history.decision_story import TellableDecision
from rheostat.control.history.explanation import clock_time

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    decision: Annotated[
        int | None, typer.Argument(help="Number of a decision, as rheostat history shows it; else the last one.")
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All decisions that changed something or were refused.")] = False,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Explain the decisions of a run.

    What was seen, what was proposed and refused, what was chosen, what was expected of it, and what came of it.
    """
    place = find_directory(directory)
    found, began = told_of(place)
    told = _chosen(found, decision, every=every)
    if as_json:
        answer_json(ok=True, decisions=[_document(story, began) for story in told])
        return
    if not told:
        say("nothing was decided: everything stayed as it was")
    for story in told:
        say(f"decision {story.number}, {clock_time(story.decision.at_seconds - began)} after the start")
        say(*(f"  {heading:<9} {text}" for heading, text in story.chapters()))


def _chosen(found: list[TellableDecision], number: int | None, *, every: bool) -> list[TellableDecision]:
    if number is not None:
        told = [story for story in found if story.number == number]
        if not told:
            remedy = "rheostat history lists those that changed something, explain --all tells them"
            raise WrongUse(Complaint(f"there is no decision {number}", remedy))
        return told
    active = [story for story in found if not story.is_holding]
    if every:
        return active
    return active[-1:] or found[-1:]


def _document(story: TellableDecision, began: float) -> dict[str, object]:
    chapters = [{"what": heading, "told": text} for heading, text in story.chapters()]
    return {"number": story.number, "seconds": round(story.decision.at_seconds - began, 3), "chapters": chapters}
