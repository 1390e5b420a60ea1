"""`rheostat move`: all replicas of an operator to another node, while the application runs."""

from typing import Annotated

import typer

from rheostat.cli.session.running_application import (
    AsJson,
    Directory,
    answer,
    ask,
    current_deployment,
    find_running,
    unknown_operators,
)
from rheostat.control.loop.ports import Refused
from rheostat.model.graph.deployment import Replicas

app = typer.Typer(add_completion=False)


@app.command()
def move(
    operator: Annotated[str, typer.Argument(metavar="OPERATOR", help="The operator to move.")],
    node: Annotated[str, typer.Argument(metavar="NODE", help="Where all its replicas shall run.")],
    *,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Move an operator of a running application to another node.

    All its replicas go there, with their state. What is impossible is refused and changes nothing.
    """
    running = find_running(directory)
    current = current_deployment(running.status())
    if reasons := unknown_operators([operator], current):
        answer(Refused(tuple(reasons)), f"{operator} to {node}", as_json=as_json)
    wanted = current.having(operator, Replicas.of({node: len(current[operator])}))
    ask(running, wanted, current, as_json=as_json)
