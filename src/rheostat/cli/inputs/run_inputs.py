"""The application, the nodes and the first deployment of a run: from documents, or from an application in Python."""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rheostat.cli.inputs.application_loader import is_python, load_application, make_importable
from rheostat.cli.inputs.document_inputs import find_sound, of_type, only
from rheostat.cli.inputs.local_nodes import local_infrastructure
from rheostat.cli.output import Complaint, WrongUse, complaints_of
from rheostat.control.knowledge.profile import Profile
from rheostat.errors import InvalidDocument
from rheostat.model.documents import Document, check_together
from rheostat.model.graph.application import Application, Operator
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Objective

BASE = Path(".rheostat")
"""The folder of all runs, unless told otherwise: below the current directory."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The application, nodes and deployment that a run was asked for."""

    application: Application
    infrastructure: Infrastructure
    deployment: Deployment | None
    """None: `first_deployment` decides."""
    objective: Objective | None = None
    """What matters to planners; None: the response time alone."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The arguments that name the parts of a run."""

    application: str
    """A document, a name of the library, or an application in Python."""
    infrastructure: str | None = None
    """None: nodes of this machine."""
    deployment: str | None = None
    objective: str | None = None
    local_nodes: int = 1
    root: Path = Path()
    """The folder that the application's modules are looked for in."""


def find_wanted(files: RunFiles) -> RunRequest:
    """The parts of a run, sound each by itself and together; WrongUse with every complaint."""
    make_importable(Path())
    make_importable(files.root)
    options = [argument for argument in (files.deployment, files.objective) if argument is not None]
    named = [] if files.infrastructure is None else [files.infrastructure]
    if is_python(files.application, files.root):
        complaints: list[Complaint] = []
        documents: list[Document] = []
        try:
            loaded = load_application(files.application, files.root)
            documents.append(Document("application", loaded, Path(files.application)))
        except WrongUse as error:
            complaints += error.complaints
        try:
            documents += find_sound(named, ["infrastructure"], options)
        except WrongUse as error:
            complaints += error.complaints
        if complaints:
            raise WrongUse(*complaints)
    else:
        documents = list(
            find_sound([files.application, *named], ["application", "infrastructure"][: 1 + len(named)], options)
        )
    graph, network = of_type(documents, Application), of_type(documents, Infrastructure)
    if graph is None:
        raise WrongUse(Complaint("an application is needed", "give a document, or package.module:attribute"))
    if network is None:
        network = local_infrastructure(graph, files.local_nodes)
        documents.insert(1, Document("infrastructure", network, Path(network.name)))
    try:
        check_together(documents)
    except InvalidDocument as error:
        raise WrongUse(*complaints_of(error)) from error
    if idle := [operator.name for operator in graph.operators if not operator.code]:
        what = f"these operators have no code to run: {', '.join(idle)}"
        raise WrongUse(Complaint(what, "write code: package.module:function for each", files.application))
    given = None if files.deployment is None else only(documents[2], Deployment, "deployment")
    matters = None if files.objective is None else only(documents[-1], Objective, "objective")
    return RunRequest(graph, network, given, matters)


def read_profile(path: Path) -> Profile:
    """The profile in a file."""
    if not path.exists():
        raise WrongUse(Complaint(f"there is no file {path}", "make one with rheostat calibrate"))
    try:
        return Profile.load(path)
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise WrongUse(Complaint(f"{path} is no profile", "make one with rheostat calibrate")) from wrong


def default_directory(application: Application) -> Path:
    """`.rheostat/<name>` below the current directory; never `.rheostat` itself or a folder above it."""
    return BASE / (re.sub(r"[^\w.-]+", "-", application.name).lstrip(".") or "run")


def first_deployment(wanted: RunRequest, planner: str | None = None) -> Deployment:
    """The deployment that a planner decides; without one the fewest replicas, each on the first node with room.

    Operators with the fewest possible nodes are placed first, so that the others leave these to them.
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
