"""Brings up what an application needs before it can run: Spark, the nodes, the journal; and takes it all down again.

Nodes come in two local forms with one contract: *embedded* (all in this process and one Spark application) and
*process* (an agent process for each). What Spark has to say goes to `spark.log` or to the agents' own logs, so that the
terminal stays readable.
"""

import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from pathlib import Path

from pyspark.sql import SparkSession

from rheostat.control.history.sqlite_journal import SqliteJournal, SqliteJournalReader
from rheostat.control.loop.ports import NODE_JOINED, NODE_LEFT, Journal, NodeProvider
from rheostat.controller.controller_client import held
from rheostat.controller.node_provider import LocalProvider
from rheostat.controller.run_folder import claim_run_folder
from rheostat.controller.supervisor import AgentSupervisor
from rheostat.errors import NodeUnreachable, RuntimeFault, SparkGone
from rheostat.logs import room_logger
from rheostat.model.documents import write
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.membership import with_node, with_only
from rheostat.model.network.resources import Infrastructure
from rheostat.model.network.resources import Node as ModelNode
from rheostat.model.run_settings import NodeForm
from rheostat.runtime.channels.channel_store import channels_below
from rheostat.runtime.channels.port.channel import Channel
from rheostat.runtime.metrics.collector import CollectorSettings
from rheostat.runtime.nodes.agent_address import addressed_nodes
from rheostat.runtime.nodes.agent_process import AgentProcess
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.nodes.spark_node import SparkNode
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.physical_plan import PhysicalPlan
from rheostat.runtime.plan.run_paths import RunPaths, check_names
from rheostat.runtime.query.schema_discovery import discover_columns
from rheostat.runtime.reconfigure.runtime import Runtime
from rheostat.runtime.spark.session import create_session, end_session, has_ended
from rheostat.runtime.spark.spark_settings import SparkSettings

LOG = room_logger("controller")

ATTEMPTS = 3
"""Number of times that nodes may die while an application is launched."""
SPARK_LOG = "spark.log"
"""Log file in a run's directory, if its nodes share a Spark."""
MOST_THREADS = 64
"""Task threads of an embedded Spark application: one per slot, but a large network is not one machine."""


@dataclass(frozen=True)
class Launch:
    """Application, infrastructure, directory and settings of a run."""

    application: Application
    infrastructure: Infrastructure
    directory: Path
    settings: RuntimeSettings = field(default_factory=RuntimeSettings)
    form: NodeForm = NodeForm.EMBEDDED
    spark: SparkSettings = field(default_factory=SparkSettings)
    kinds: tuple[ModelNode, ...] = ()
    """Further nodes that can be had while it runs, as templates."""
    most_nodes: int = 16
    monitor: CollectorSettings = field(default_factory=CollectorSettings)
    agents_linger_seconds: float = 600.0
    """Time that agent processes go on without a controller before they end."""


@dataclass(frozen=True)
class Opened:
    """A runtime that can be launched."""

    runtime: Runtime
    revive: Callable[[], bool] = lambda: False
    """Lets others run what ran on nodes that are gone, and takes those that are back; tells whether any was gone."""
    provider: NodeProvider | None = None
    """Source of further nodes, if there is one."""
    agents_can_manage: bool = False
    """Whether nodes are processes in which managers can work."""


@contextmanager
def opened(launch: Launch) -> Iterator[Opened]:
    """Takes the run over under its next term, and gives its runtime; at the end everything is stopped.

    It may be taken up again from its directory. If another controller has taken it over meanwhile, what runs on agents
    is that controller's, and is left alone.
    """
    check_names(launch.application, launch.infrastructure)
    claim_run_folder(launch.directory, launch.application.name)
    with held(launch.directory):
        launch = replace(launch, infrastructure=recorded_infrastructure(launch.directory, launch.infrastructure))
        check_known(launch)
        with closing(SqliteJournal(RunPaths(launch.directory).journal)) as journal:
            LOG.info("run %s is owned under term %d", launch.directory, journal.term)
            dismiss_strays(launch)
            form = _embedded if launch.form is NodeForm.EMBEDDED else _processes
            with form(launch, journal) as found:
                yield found


def recorded_deployment(directory: Path) -> Deployment | None:
    """Last deployment of the run in a directory; None if there was none."""
    path = RunPaths(directory).journal
    if not path.exists():
        return None
    with closing(SqliteJournalReader(path)) as journal:
        plans = [entry.facts["plan"] for _, entry in journal.read() if "plan" in entry.facts]
    return PhysicalPlan.from_dict(plans[-1]).deployment if plans else None  # type: ignore[arg-type]


def recorded_infrastructure(directory: Path, given: Infrastructure) -> Infrastructure:
    """The infrastructure with the nodes that joined the run, without those that were released."""
    path = RunPaths(directory).journal
    if not path.exists():
        return given
    with closing(SqliteJournalReader(path)) as journal:
        for _, entry in journal.read():
            name = str(entry.facts.get("name", ""))
            if entry.kind == NODE_JOINED and name not in given.index:
                given = with_node(given, ModelNode(**entry.facts))  # type: ignore[arg-type]
            elif entry.kind == NODE_LEFT and name in given.index and len(given.nodes) > 1:
                given = with_only(given, given.index.keys() - {name})
    return given


def recorded_key_groups(directory: Path) -> int | None:
    """The number of key groups an application was begun with: it is fixed for its life."""
    return next((channel.spec.groups for channel in _channels(directory)), None)


def _channels(directory: Path) -> Sequence[Channel]:
    """The channels of the streams of a run that was begun in a directory."""
    return channels_below(str(RunPaths(directory).channels))


def check_known(launch: Launch) -> None:
    """Refuses to go on with something else than what was run in the directory before."""
    before = recorded_deployment(launch.directory)
    if before is None:
        return
    where = f"{launch.directory} holds another run"
    if set(before) != set(launch.application.by_name):
        changed = ", ".join(sorted(set(before) ^ set(launch.application.by_name)))
        raise RuntimeFault(f"{where}: its operators differ ({changed}); use another --directory, or remove it")
    wanted = {RunPaths(launch.directory).channel(*stream.ends).name for stream in launch.application.streams}
    known = {channel.spec.name for channel in _channels(launch.directory)}
    if known and wanted != known:
        changed = ", ".join(sorted(name.replace("--", " -> ") for name in wanted ^ known))
        raise RuntimeFault(f"{where}: its streams differ ({changed}); use another --directory, or remove it")
    if gone := [node for node in before.nodes() if node not in launch.infrastructure.index]:
        raise RuntimeFault(f"{where}: it has replicas on {', '.join(gone)}, which the infrastructure does not have")
    groups = recorded_key_groups(launch.directory)
    if groups is not None and groups != launch.settings.key_groups:
        raise RuntimeFault(f"{where}: it was begun with {groups} key groups, not {launch.settings.key_groups}")


@contextmanager
def _embedded(launch: Launch, journal: Journal) -> Iterator[Opened]:
    slots = ceil(sum(node.capacity for node in launch.infrastructure.nodes))
    scratch = launch.directory / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    spark = _quiet_session(launch, launch.spark.with_scratch(scratch), min(MOST_THREADS, max(2, slots)))
    # What Spark's side of Python has to say belongs beside Spark's own words, not on the terminal.
    log = logging.FileHandler(launch.directory / SPARK_LOG)
    logging.getLogger().addHandler(log)
    try:
        nodes = {node.name: SparkNode(node.name, spark, launch.directory) for node in launch.infrastructure.nodes}
        with _runtime(launch, journal, nodes, discover_columns(spark, launch.application)) as runtime:

            def start(node: ModelNode) -> NodePort:
                return SparkNode(node.name, spark, launch.directory)

            provider = LocalProvider(runtime, launch.kinds, start, lambda _: None, launch.most_nodes)
            try:
                yield Opened(runtime, lambda: give_up_killed(runtime), provider if launch.kinds else None)
            finally:
                provider.close()
    except Exception as failure:
        if has_ended(spark):
            raise SparkGone(str(launch.directory / SPARK_LOG)) from failure
        raise
    finally:
        end_session(spark)
        logging.getLogger().removeHandler(log)
        log.close()
        shutil.rmtree(scratch, ignore_errors=True)


def give_up_killed(runtime: Runtime) -> bool:
    """Embedded nodes that were killed do not come back: others run what ran there. Tells whether there were any."""
    killed = [node.name for node in runtime.nodes_up() if isinstance(node, SparkNode) and node.is_killed]
    for name in killed:
        runtime.lose(name)
    return bool(killed)


@contextmanager
def _runtime(
    launch: Launch, journal: Journal, nodes: Mapping[str, NodePort], columns: Mapping[str, Columns]
) -> Iterator[Runtime]:
    """The runtime on nodes that are up; at the end its instances are stopped, unless they are another owner's."""
    layout = RunPaths(launch.directory)
    blueprint = Blueprint(launch.application, launch.infrastructure, layout, columns, launch.settings)
    runtime = Runtime(blueprint, nodes, journal, launch.monitor)
    try:
        yield runtime
    finally:
        if owns_run(journal):
            runtime.stop()


def owns_run(journal: Journal) -> bool:
    """Whether no other controller has taken the run over."""
    return journal.newest_term() == journal.term


def _quiet_session(launch: Launch, settings: SparkSettings, slots: int) -> SparkSession:
    """Spark's process inherits the log as its standard error; ours comes back."""
    sys.stderr.flush()
    ours = os.dup(2)
    with (launch.directory / SPARK_LOG).open("ab") as log:
        os.dup2(log.fileno(), 2)
    try:
        return create_session(settings, slots, f"rheostat {launch.application.name}")
    finally:
        os.dup2(ours, 2)
        os.close(ours)


@contextmanager
def _processes(launch: Launch, journal: Journal) -> Iterator[Opened]:
    agents = AgentSupervisor(partial(_agent_process, launch))
    with ExitStack() as ending:
        ending.callback(lambda: agents.stop() if owns_run(journal) else agents.abandon())
        taking_up = recorded_deployment(launch.directory) is not None
        reached = agents.start_all(launch.infrastructure.nodes, taking_up=taking_up)
        columns = _columns(reached, launch.application)
        runtime = ending.enter_context(_runtime(launch, journal, reached, columns))
        for name in agents.absent:
            runtime.lose(name)
        provider = LocalProvider(runtime, launch.kinds, agents.start, agents.end, launch.most_nodes)
        ending.callback(provider.close)
        yield Opened(
            runtime, lambda: agents.revive(runtime), provider if launch.kinds else None, agents_can_manage=True
        )


def dismiss_strays(launch: Launch) -> None:
    """Ends the agents of nodes that the run has not got, or has in its own process.

    A controller that is killed while a node comes or goes leaves the agent of an unknown node; and one whose
    nodes were processes leaves all of them, which would go on beside embedded ones, in the same checkpoints.
    """
    kept = launch.infrastructure.index.keys() if launch.form is NodeForm.PROCESS else frozenset()
    for name in addressed_nodes(launch.directory):
        if name not in kept:
            AgentProcess(name, 1, launch.directory, launch.spark).dismiss()


def _agent_process(launch: Launch, node: ModelNode) -> AgentProcess:
    slots, spark = max(1, ceil(node.capacity)), launch.spark.of_node(node.name)
    linger = launch.agents_linger_seconds
    return AgentProcess(node.name, slots, launch.directory, spark, linger_seconds=linger)


def _columns(nodes: Mapping[str, RemoteNode], application: Application) -> dict[str, Columns]:
    """Columns of every stream, from the first node that answers."""
    silences = []
    for node in nodes.values():
        try:
            return node.columns(write(application))
        except NodeUnreachable as silence:
            silences.append(silence)
    raise silences[0]


def start_application(found: Opened, deployment: Deployment) -> None:
    """Launches what was opened; if a node dies meanwhile it is done again, on the others."""
    for _ in range(ATTEMPTS):
        try:
            found.runtime.launch(deployment)
        except NodeUnreachable:
            if not found.revive():
                raise
        else:
            return
    found.runtime.launch(deployment)
