"""`rheostat deploy`: another deployment, while the application runs."""

from typing import Annotated

import typer

from rheostat.cli.inputs.document_inputs import find_sound, only
from rheostat.cli.session.running_application import AsJson, Directory, answer, current_deployment, find_running
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration

app = typer.Typer(add_completion=False)


@app.command()
def deploy(
    deployment: Annotated[str, typer.Argument(metavar="DEPLOYMENT", help="A document: a deployment.")],
    *,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Change a running application to another deployment.

    Whatever differs is changed as a whole. What is impossible is refused and changes nothing.
    """
    wanted: Deployment = only(find_sound([deployment], ["deployment"])[0], Deployment, "deployment")
    running = find_running(directory)
    current = current_deployment(running.status())
    effect = running.change(wanted, current)
    what = str(Reconfiguration.between(current, wanted)) if set(wanted) == set(current) else deployment
    answer(effect, what, as_json=as_json)
