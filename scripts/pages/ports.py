"""The ports, their implementations and their contract suites, as the architecture page lists them."""

from dataclasses import dataclass

from scripts.pages.markdown import table


@dataclass(frozen=True, slots=True)
class Port:
    """One port; names are `module:name`, suites are `file::class` or a file."""

    protocol: str
    promise: str
    implementations: tuple[str, ...]
    """Classes, or a registry of them."""
    suite: str
    runs: tuple[str, ...]
    """Test modules that run the suite; each implementation is named in one of them."""

    @property
    def name(self) -> str:
        """The protocol's own name."""
        return self.protocol.partition(":")[2]


_LOOP = "rheostat.control.loop.ports"
_WORLD = "rheostat.simulation.world.simulated_world:SimulatedWorld"
_RUNTIME = "rheostat.runtime.reconfigure.runtime:Runtime"
_WORLD_RUNS = ("tests/simulation/world/test_simulated_world.py", "tests/runtime/reconfigure/test_world_on_spark.py")

PORTS = (
    Port(
        "rheostat.runtime.channels.port.channel:Channel",
        "A producer opens an epoch under a term, stages, publishes and seals; readers read on from a position, wait "
        "and fetch rows; consumers say up to where rows may be removed.",
        (
            "rheostat.runtime.channels.log.disk_channel:DiskChannel",
            "rheostat.runtime.channels.log.memory_channel:MemoryChannel",
        ),
        "tests/contracts/channel.py::ChannelContract",
        ("tests/runtime/channels/log/test_channels.py",),
    ),
    Port(
        f"{_LOOP}:Clock",
        "Time that never goes backwards, and waiting for a moment.",
        ("rheostat.control.loop.clocks:SystemClock", "rheostat.control.loop.clocks:VirtualClock", _WORLD),
        "tests/contracts/clock.py::ClockContract",
        ("tests/control/loop/test_clocks_and_journal.py", "tests/simulation/world/test_simulated_world.py"),
    ),
    Port(
        f"{_LOOP}:Journal",
        "Numbered entries that are durable when `append` returns; a later term refuses an earlier one.",
        (
            "rheostat.control.history.journal:MemoryJournal",
            "rheostat.control.history.sqlite_journal:SqliteJournal",
        ),
        "tests/contracts/journal.py::JournalContract",
        ("tests/control/loop/test_clocks_and_journal.py", "tests/control/history/test_sqlite_journal.py"),
    ),
    Port(
        f"{_LOOP}:Probe",
        "Samples, each handed out once; the current deployment and infrastructure.",
        (_WORLD, "rheostat.runtime.metrics.collector:MetricsCollector"),
        "tests/contracts/world.py::ProbeContract",
        _WORLD_RUNS,
    ),
    Port(
        f"{_LOOP}:Actuator",
        "A change is carried out as a whole: done, refused or rolled back.",
        (_WORLD, _RUNTIME),
        "tests/contracts/world.py::ActuatorContract",
        (*_WORLD_RUNS, "tests/runtime/reconfigure/test_world_contract.py"),
    ),
    Port(
        f"{_LOOP}:NodeProvider",
        "Nodes are asked for by kind and region, and released when they are empty.",
        (_WORLD, "rheostat.controller.node_provider:LocalProvider"),
        "tests/contracts/world.py::NodeProviderContract",
        (*_WORLD_RUNS, "tests/runtime/reconfigure/test_world_contract.py"),
    ),
    Port(
        "rheostat.runtime.nodes.node_port:NodePort",
        "Instances are started, held, stopped and reported on one node; every call may be repeated, and an order to "
        "hold survives a crash.",
        (
            "rheostat.runtime.nodes.spark_node:SparkNode",
            "rheostat.runtime.nodes.remote_node:RemoteNode",
            "rheostat.runtime.nodes.memory_node:MemoryNode",
        ),
        "tests/contracts/node.py::NodeContract",
        ("tests/runtime/nodes/test_nodes.py", "tests/runtime/nodes/test_memory_node.py"),
    ),
    Port(
        "rheostat.runtime.checkpoints.checkpoint_port:Checkpoints",
        "A node takes, builds, places, lists and removes its checkpoints; only nodes touch them.",
        (
            "rheostat.runtime.nodes.spark_checkpoints:SparkCheckpoints",
            "rheostat.runtime.nodes.remote_node:RemoteCheckpoints",
            "rheostat.runtime.nodes.memory_node:MemoryCheckpoints",
        ),
        "tests/contracts/node.py::CheckpointsContract",
        ("tests/runtime/nodes/test_nodes.py", "tests/runtime/nodes/test_memory_node.py"),
    ),
    Port(
        "rheostat.policies.contract.policy:OperatorPolicy",
        "The same view and memory give the same proposal for one operator.",
        ("rheostat.policies.policy_registry:OPERATOR_POLICIES",),
        "tests/contracts/policy.py::OperatorPolicyContract",
        ("tests/policies/test_policy_registry.py",),
    ),
    Port(
        "rheostat.policies.contract.policy:ApplicationPolicy",
        "The same view and memory give the same proposals for all operators.",
        ("rheostat.policies.policy_registry:APPLICATION_POLICIES",),
        "tests/contracts/policy.py::ApplicationPolicyContract",
        ("tests/policies/test_policy_registry.py",),
    ),
    Port(
        "rheostat.policies.grants.grants:Granting",
        "Requests are granted or refused, each once and with a reason.",
        (
            "rheostat.policies.grants.grants:GrantAll",
            "rheostat.policies.grants.grants:DryRun",
            "rheostat.policies.grants.grants:Quota",
            "rheostat.policies.grants.token_bucket:TokenBucket",
        ),
        "tests/contracts/granting.py::GrantingContract",
        ("tests/policies/grants/test_requests_and_granting.py",),
    ),
    Port(
        "rheostat.planning.contract.planner:Planner",
        "A problem gets a deployment with its bound, or the constraints that conflict.",
        ("rheostat.planning.planner_registry:PLANNERS",),
        "tests/planning/test_planners.py",
        ("tests/planning/test_planners.py",),
    ),
)


def ports_table() -> str:
    """The ports as a table."""
    rows = (
        (
            f"`{port.protocol.replace(':', '.').removeprefix('rheostat.')}`",
            port.promise,
            ", ".join(f"`{name.replace(':', '.').removeprefix('rheostat.')}`" for name in port.implementations),
            f"`{port.suite}`",
        )
        for port in PORTS
    )
    return table(("port", "promise", "implemented by", "contract suite"), rows)
