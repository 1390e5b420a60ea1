"""One query of the physical plan, described completely: what an agent needs to start it, as plain data."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class OperatorStep:
    """One operator of the chain."""

    name: str
    code: str
    kind: str
    parameters: dict[str, str | int | float | bool] = field(default_factory=dict)
    update: bool = False
    """Whether it tells its results in update mode."""
    watermark: str = ""
    """Event-time column of its input that a watermark is set on, if it is not the head: the head's is its input's."""
    watermark_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Input:
    """A channel the query reads."""

    channel: str
    """Directory."""
    schema: str
    """Columns as JSON of Spark's StructType."""
    start: str = ""
    """Offset to begin at if the checkpoint has none."""
    watermark: str = ""
    """Event-time column the runtime sets a watermark on, if the operator asks for one."""
    watermark_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class OutputChannel:
    """A channel the query writes."""

    channel: str
    grouping: str
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstanceSpec:
    """A fragment on a node."""

    name: str
    """`head@node`: the consumer's name, unique."""
    node: str
    steps: tuple[OperatorStep, ...]
    replicas: int
    groups: str
    """Owned key groups, "0-7,9"; empty for a source, which reads no channel."""
    checkpoint: str
    control: str
    inputs: tuple[Input, ...] = ()
    outputs: tuple[OutputChannel, ...] = ()
    producer: str = ""
    epoch: int = 1
    term: int = 0
    """Term of the owner of the run that opened the epoch."""
    continues: bool = False
    """Whether batch ids go on from the producer's epoch before."""
    frontier: str = "input"
    """From what the producer knows how far event time has come: rows, watermark or input."""
    links: str = "{}"
    """The network to emulate, see the channel's options."""
    trigger_ms: int = 200
    max_rows_per_batch: int = 0
    """Rows after which no further manifest is taken into a batch; 0 for no limit."""
    batch_seconds: float = 0.0
    """About how long a batch may take: of what waits it takes no more than that; 0 for no limit."""
    max_lag_rows: int = 0
    """Rows that may wait in an output channel before the query pauses; 0 for no limit."""

    @property
    def is_stateful(self) -> bool:
        """Whether there is state to look after."""
        return any(step.kind == "stateful" for step in self.steps)

    def to_json(self) -> str:
        """As text, for the way to an agent and for the journal."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "InstanceSpec":
        """What `to_json` wrote."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, whole: dict[str, Any]) -> "InstanceSpec":
        """From plain data."""
        return cls(
            **{
                **whole,
                "steps": tuple(OperatorStep(**step) for step in whole["steps"]),
                "inputs": tuple(Input(**part) for part in whole["inputs"]),
                "outputs": tuple(
                    OutputChannel(part["channel"], part["grouping"], tuple(part["key"])) for part in whole["outputs"]
                ),
            }
        )


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """How an instance is doing."""

    name: str
    state: str
    """running, failed or stopped."""
    planned: int = -1
    """Last batch whose offsets are in the checkpoint."""
    committed: int = -1
    """Last batch that is done."""
    awake: bool = False
    """Its readers are up: they have seen the present hold."""
    resting: bool = False
    """It has seen that it is held, and everything it had planned is done."""
    error: str = ""
    """Operator, node and the user's line, if it failed."""
    by_user: bool = False
    """Whether the user's code raised: starting it again would not help."""
    run: str = ""
    """Which start of its query this is told of: every one has another."""
    has_looked: bool = True
    """Whether a source has looked for something to bring since it was started: a busy machine may take its time."""
