"""`rheostat pause-control`: pauses the managers of a running application."""

import typer

from rheostat.cli.output import answer_json, say
from rheostat.cli.session.running_application import AsJson, Directory, find_running

app = typer.Typer(add_completion=False)


@app.command("pause-control")
def pause_control(*, directory: Directory = None, as_json: AsJson = False) -> None:
    """Pause the managers of a running application.

    The application runs on as it is, and can be changed by hand; rheostat resume-control lets them decide again.
    """
    running = find_running(directory)
    running.pause_control(paused=True)
    if as_json:
        answer_json(ok=True, directory=str(running.directory), paused=True)
    else:
        say("control is paused")
