"""`rheostat report`: a run on Spark as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.output import Complaint, WrongUse, answer_json, say
from rheostat.cli.session.run_journal import stories_of
from rheostat.cli.session.running_application import AsJson, Directory, documents_of, find_directory
from rheostat.controller.recorder import read_recording, with_reasons
from rheostat.report.html_report import write_report

app = typer.Typer(add_completion=False)


@app.command()
def report(
    *,
    out: Annotated[Path | None, typer.Option(help="The file to write; else report.html in the directory.")] = None,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Write a run as one HTML page.

    It works offline: rate, response time, replicas, nodes, changes with their reasons, cost.
    """
    place = find_directory(directory)
    application, _ = documents_of(place)
    recording = read_recording(place, application)
    if recording is None or not recording.seconds:
        raise WrongUse(Complaint(f"nothing was recorded in {place}", "rheostat run records as it goes"))
    path = out or place / "report.html"
    write_report(with_reasons(recording, stories_of(place)), path)
    if as_json:
        answer_json(ok=True, report=str(path), moments=len(recording.seconds), changes=len(recording.notes))
    else:
        say(f"written: {path}")
