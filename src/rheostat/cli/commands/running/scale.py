"""`rheostat scale`: more or fewer replicas of operators, while the application runs."""

import re
from typing import Annotated

import typer

from rheostat.cli.output import Complaint, WrongUse
from rheostat.cli.session.replica_numbers import scaled
from rheostat.cli.session.running_application import (
    AsJson,
    Directory,
    answer,
    ask,
    current_deployment,
    documents_of,
    find_running,
    unknown_operators,
)
from rheostat.control.loop.ports import Refused

app = typer.Typer(add_completion=False)


@app.command()
def scale(
    replicas: Annotated[list[str], typer.Argument(metavar="OPERATOR=N", help="Operators, each with its replicas.")],
    *,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Give operators of a running application more or fewer replicas.

    All of them in one change. Operators stay on their nodes while there is room: replicas are added where there is
    most of it and taken where there is least. Nothing is lost or repeated; what is impossible is refused and changes
    nothing.
    """
    wanted = dict(_parsed(text) for text in replicas)
    running = find_running(directory)
    status = running.status()
    current = current_deployment(status)
    reasons = unknown_operators(wanted, current)
    reasons += [f"operator {name!r} needs at least one replica, not {n}" for name, n in wanted.items() if n < 1]
    if reasons:
        answer(Refused(tuple(reasons)), " ".join(replicas), as_json=as_json)
    application, _ = documents_of(running.directory)
    capacity = {node["name"]: node["capacity"] for node in status["nodes"]}
    ask(running, scaled(application, capacity, current, wanted), current, as_json=as_json)


def _parsed(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(.+)=(-?\d+)", text)
    if found is None:
        raise WrongUse(Complaint(f"{text!r} says no number of replicas", "write OPERATOR=N, such as count=3"))
    return found[1], int(found[2])
