"""`rheostat stop`: ends a running application gracefully."""

import typer

from rheostat.cli.output import Complaint, ExitCode, answer_json, say, warn
from rheostat.cli.session.running_application import AsJson, Directory, find_running

app = typer.Typer(add_completion=False)


@app.command()
def stop(*, directory: Directory = None, as_json: AsJson = False) -> None:
    """Stop a running application; the next run in its directory resumes it.

    Waits until it has ended. `rheostat run` with the same directory goes on where it was.
    """
    running = find_running(directory)
    ended = running.stop()
    late = Complaint(f"the application in {running.directory} has been asked to end and has not yet")
    if as_json:
        answer_json(ok=ended, directory=str(running.directory), mistakes=[] if ended else [late])
    elif ended:
        say(f"stopped: {running.directory}; rheostat run takes it up again")
    else:
        warn(late)
    raise typer.Exit(ExitCode.FINE if ended else ExitCode.NO)
