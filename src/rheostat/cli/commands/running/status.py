"""`rheostat status`: the state of a running application."""

import typer

from rheostat.cli.output import ExitCode, answer_json, page
from rheostat.cli.session.running_application import AsJson, Directory, documents_of, find_running
from rheostat.cli.views.run_view import run_view

app = typer.Typer(add_completion=False)


@app.command()
def status(*, directory: Directory = None, as_json: AsJson = False) -> None:
    """Show the state of a running application.

    The exit code is 1 if an operator of it has failed.
    """
    running = find_running(directory)
    told = running.status()
    if as_json:
        answer_json(ok=not told["failures"], **told)
    else:
        page().print(run_view(documents_of(running.directory)[0], told))
    raise typer.Exit(ExitCode.NO if told["failures"] else ExitCode.FINE)
