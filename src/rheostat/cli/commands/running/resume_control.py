"""`rheostat resume-control`: resumes the managers of a running application."""

import typer

from rheostat.cli.output import answer_json, say
from rheostat.cli.session.running_application import AsJson, Directory, find_running

app = typer.Typer(add_completion=False)


@app.command("resume-control")
def resume_control(*, directory: Directory = None, as_json: AsJson = False) -> None:
    """Resume the managers of a running application.

    They go on with what they had learned.
    """
    running = find_running(directory)
    running.pause_control(paused=False)
    if as_json:
        answer_json(ok=True, directory=str(running.directory), paused=False)
    else:
        say("control goes on")
