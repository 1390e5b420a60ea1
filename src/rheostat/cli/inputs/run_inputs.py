"""What shall run, on what, and how is it deployed at first? From documents, or from an application in Python."""

import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rheostat.cli.inputs.document_inputs import find_sound, of_type, only
from rheostat.cli.output import Complaint, WrongUse, complaints_of
from rheostat.control.knowledge.profile import Profile
from rheostat.errors import InvalidDocument, InvalidModel
from rheostat.model.documents import Document, check_together
from rheostat.model.graph.application import Application, Operator
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Objective

IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
BASE = Path(".rheostat")
"""Where applications lie unless told otherwise, below the current directory."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What the user has asked for."""

    application: Application
    infrastructure: Infrastructure
    deployment: Deployment | None
    """None: `first_deployment` decides."""
    objective: Objective | None = None
    """What matters to planners; None: the response time alone."""


def find_wanted(
    application: str, infrastructure: str, deployment: str | None = None, objective: str | None = None
) -> RunRequest:
    """All of them, each of them sound and all together, or every complaint."""
    # The user's modules, here and on every node, lie where the command was given.
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    options = [argument for argument in (deployment, objective) if argument is not None]
    if IMPORT_PATH.fullmatch(application) and not Path(application).exists():
        network, *others = find_sound([infrastructure], ["infrastructure"], options)
        documents = [Document("application", imported_application(application), Path(application)), network, *others]
        try:
            check_together(documents)
        except InvalidDocument as error:
            raise WrongUse(*complaints_of(error)) from error
    else:
        documents = list(find_sound([application, infrastructure], ["application", "infrastructure"], options))
    graph, network_value = of_type(documents, Application), of_type(documents, Infrastructure)
    if graph is None or network_value is None:
        raise WrongUse(Complaint("an application and an infrastructure are needed"))
    if idle := [operator.name for operator in graph.operators if not operator.code]:
        what = f"these operators have no code to run: {', '.join(idle)}"
        raise WrongUse(Complaint(what, "write code: package.module:function for each", application))
    given = None if deployment is None else only(documents[2], Deployment, "deployment")
    matters = None if objective is None else only(documents[-1], Objective, "objective")
    return RunRequest(graph, network_value, given, matters)


def imported_application(path: str) -> Application:
    """The application that an import path stands for: a variable, or a function that takes no arguments."""
    name, _, attribute = path.partition(":")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        what = f"there is no module {missing.name!r}"
        raise WrongUse(Complaint(what, "is it installed, or below the current directory?", path)) from missing
    except Exception as failure:  # the user's module may raise anything
        raise WrongUse(Complaint(f"its module failed: {type(failure).__name__}: {failure}", None, path)) from failure
    if not hasattr(module, attribute):
        near = did_you_mean(attribute, [known for known in vars(module) if not known.startswith("_")])
        raise WrongUse(Complaint(f"module {name} has no {attribute!r}", near, path))
    return _built(getattr(module, attribute), path)


def _built(found: Any, path: str) -> Application:
    try:
        if callable(found):
            found = found()
        if hasattr(found, "build"):
            found = found.build()
    except InvalidModel as error:
        raise WrongUse(*complaints_of(error)) from error
    except Exception as failure:
        raise WrongUse(Complaint(f"it raised {type(failure).__name__}: {failure}", None, path)) from failure
    if not isinstance(found, Application):
        what = f"this is a {type(found).__name__}, not an application"
        raise WrongUse(Complaint(what, "name a model.Application, an App, or a function that gives one", path))
    return found


def read_profile(path: Path) -> Profile:
    """A profile, or one line about the file that is none."""
    if not path.exists():
        raise WrongUse(Complaint(f"there is no file {path}", "make one with rheostat calibrate"))
    try:
        return Profile.load(path)
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise WrongUse(Complaint(f"{path} is no profile", "make one with rheostat calibrate")) from wrong


def default_directory(application: Application) -> Path:
    """`.rheostat/<name>` below the current directory."""
    return BASE / re.sub(r"[^\w.-]+", "-", application.name)


def first_deployment(wanted: RunRequest, planner: str | None = None) -> Deployment:
    """What a planner decides; without one the fewest replicas of every operator, pinned or on the first node with room.

    Operators with the least choice are placed first, so that nobody takes the only place another can have.
    """
    application, infrastructure = wanted.application, wanted.infrastructure
    if planner is not None:
        # Planners are compiled code that takes a moment to load, for those who ask for one alone.
        planning = importlib.import_module("rheostat.cli.inputs.plan_inputs")
        problem = planning.first_problem(application, infrastructure, wanted.objective)
        chosen: Deployment = planning.planned_deployment(problem, planner)
        return chosen
    room = {node.name: node.capacity for node in infrastructure.nodes}
    placed: dict[str, Replicas] = {}
    for name in sorted(application.flow, key=lambda one: len(_allowed(application.by_name[one], room))):
        operator = application.by_name[name]
        nodes = []
        for _ in range(operator.min_replicas):
            node = next((u for u in _allowed(operator, room) if room[u] >= operator.resources - 1e-9), None)
            if node is None:
                what = f"no node has room for operator {name!r}"
                raise WrongUse(Complaint(what, "give --deployment, or nodes with more capacity"))
            room[node] -= operator.resources
            nodes.append(node)
        placed[name] = Replicas.on(*nodes)
    return Deployment.of(placed)


def _allowed(operator: Operator, room: Mapping[str, float]) -> list[str]:
    return [node for node in room if operator.may_run_on(node)]
