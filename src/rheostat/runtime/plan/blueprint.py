"""The blueprint of a run: turns an instance of the physical plan into the description that an agent starts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from rheostat.model.graph.application import RESULTS_SINK, Application, Grouping, Kind, OutputMode, Stream
from rheostat.model.network.resources import Infrastructure
from rheostat.runtime.channels.channel_store import channel_at
from rheostat.runtime.channels.port.channel import Channel
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.key_groups import format_groups
from rheostat.runtime.channels.records.segment import KEY_GROUP
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.instance_spec import Input, InstanceSpec, OperatorStep, OutputChannel
from rheostat.runtime.plan.physical_plan import Instance
from rheostat.runtime.plan.run_paths import RunPaths, check_names

RESULTS = "results"


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """How the runtime runs an application."""

    key_groups: int = 12
    """G: state moves in units of one group, no operator can have more replicas. Fixed for its life."""
    trigger_ms: int = 200
    """Least time between two micro-batches of an instance."""
    max_rows_per_batch: int = 0
    """Rows after which a batch takes no more; 0 for no limit."""
    batch_seconds: float = 5.0
    """About how long a batch may take: of what waits it takes no more than that; 0 for no limit."""
    max_lag_rows: int = 1_000_000
    """Rows that may wait in a channel before its producer pauses; 0 for no limit.

    More than a reader takes at once: a producer that pauses while its reader is busy with a batch is itself not done
    when that batch is, and both work by turns."""
    patience_seconds: float = 120.0
    """How long a step of a change may take before it is undone."""
    emulate_network: bool = False
    """Whether channels hand over only what the links of the infrastructure would have carried: delay and rate."""

    def __post_init__(self) -> None:
        """Refuses what cannot run."""
        if self.key_groups < 1 or self.trigger_ms < 0 or self.patience_seconds <= 0 or self.batch_seconds < 0:
            needed = "key_groups >= 1, trigger_ms >= 0, patience_seconds > 0 and batch_seconds >= 0"
            raise ValueError(f"need {needed}, got {self}")


@dataclass(frozen=True)
class Blueprint:
    """Everything fixed about a running application; describes any instance of it."""

    application: Application
    infrastructure: Infrastructure
    layout: RunPaths
    columns: Mapping[str, Columns]
    settings: RuntimeSettings = field(default_factory=RuntimeSettings)

    def __post_init__(self) -> None:
        """Refuses names that would lead out of the application's directory."""
        check_names(self.application, self.infrastructure)

    def channel(self, stream: Stream) -> Channel:
        """The channel of a stream."""
        columns = self.columns[stream.source]
        path = self.layout.channel(stream.source, stream.target)
        return channel_at(str(path), ChannelSpec(path.name, self.settings.key_groups, columns.event_time or None))

    def results(self, sink: str) -> Channel:
        """The channel a results sink is stored in. One group: it is read as a whole, in order."""
        return channel_at(str(self.layout.results(sink)), ChannelSpec(sink, 1))

    def create_channels(self) -> None:
        """Makes every channel, also of streams that are inside a fragment now. Repeating it does nothing."""
        for stream in self.application.streams:
            channel = self.channel(stream)
            channel.create()
            channel.consumers.subscribe(stream.target)
        for operator in self.application.operators:
            if operator.kind is Kind.SINK and operator.code == RESULTS_SINK:
                self.results(operator.name).create()

    def inputs_of(self, instance: Instance) -> tuple[Channel, ...]:
        """The channels an instance reads."""
        return tuple(self.channel(stream) for stream in self.application.inputs[instance.head])

    def outputs_of(self, instance: Instance) -> tuple[Channel, ...]:
        """The channels an instance writes."""
        tail = self.application.by_name[instance.tail]
        if tail.kind is Kind.SINK:
            return (self.results(tail.name),) if tail.code == RESULTS_SINK else ()
        return tuple(self.channel(stream) for stream in self.application.outputs[instance.tail])

    def checkpoint(self, instance: Instance) -> Path:
        """Where its checkpoint is."""
        return self.layout.checkpoint(instance.node, instance.name, instance.number)

    def spec(self, instance: Instance, epoch: int, *, continues: bool, term: int = 0) -> InstanceSpec:
        """The complete description."""
        return InstanceSpec(
            name=instance.name,
            node=instance.node,
            steps=tuple(self._step(name, inner=name != instance.head) for name in instance.operators),
            replicas=instance.replicas,
            groups=format_groups(instance.groups) if instance.groups else "",
            checkpoint=str(self.checkpoint(instance)),
            control=str(self.layout.control(instance.name)),
            inputs=self._inputs(instance),
            outputs=self._outputs(instance),
            producer=instance.producer,
            epoch=epoch,
            term=term,
            continues=continues,
            frontier=self._frontier_rule(instance),
            links=self._links(instance),
            trigger_ms=self.settings.trigger_ms,
            max_rows_per_batch=self.settings.max_rows_per_batch,
            batch_seconds=self.settings.batch_seconds,
            max_lag_rows=self.settings.max_lag_rows,
        )

    def _step(self, name: str, *, inner: bool) -> OperatorStep:
        operator = self.application.by_name[name]
        watermark = ""
        if inner and operator.watermark_seconds is not None:
            watermark = self.columns[self.application.inputs[name][0].source].event_time
        return OperatorStep(
            name,
            operator.code,
            operator.kind.value,
            dict(operator.parameters),
            operator.output_mode is OutputMode.UPDATE,
            watermark,
            operator.watermark_seconds or 0.0,
        )

    def _inputs(self, instance: Instance) -> tuple[Input, ...]:
        head = self.application.by_name[instance.head]
        streams = self.application.inputs[instance.head]
        starts = instance.start or ("",) * len(streams)
        found = []
        for stream, start in zip(streams, starts, strict=True):
            columns = self.columns[stream.source]
            schema = json.loads(columns.schema)
            if head.key == (KEY_GROUP,) and KEY_GROUP not in [part["name"] for part in schema["fields"]]:
                schema["fields"].append({"name": KEY_GROUP, "type": "integer", "nullable": True, "metadata": {}})
            watermark = columns.event_time if head.watermark_seconds is not None else ""
            path = str(self.layout.channel(stream.source, stream.target))
            found.append(Input(path, json.dumps(schema), start, watermark, head.watermark_seconds or 0.0))
        return tuple(found)

    def _outputs(self, instance: Instance) -> tuple[OutputChannel, ...]:
        tail = self.application.by_name[instance.tail]
        if tail.kind is Kind.SINK:
            return (OutputChannel(str(self.layout.results(tail.name)), "single"),) if tail.code == RESULTS_SINK else ()
        return tuple(
            OutputChannel(str(self.layout.channel(stream.source, stream.target)), *self._routing(stream))
            for stream in self.application.outputs[instance.tail]
        )

    def _routing(self, stream: Stream) -> tuple[str, tuple[str, ...]]:
        """How rows find their key group. Updates are routed by their key where any replica would do.

        The last row of a key is what counts of updates, so they must stay in order; spread at random over several
        replicas a later one could overtake an earlier one.
        """
        if stream.grouping is Grouping.KEY:
            return stream.grouping.value, self.application.by_name[stream.target].key
        key = self._updated_key(stream.source) if stream.grouping is Grouping.SHUFFLE else ()
        return (Grouping.KEY.value, key) if key else (stream.grouping.value, ())

    def _updated_key(self, name: str) -> tuple[str, ...]:
        """The key of the updates an operator puts out, its own or what it passes on; none if they are no updates."""
        operator, inputs = self.application.by_name[name], self.application.inputs[name]
        key: tuple[str, ...] = ()
        if operator.output_mode is OutputMode.UPDATE:
            key = operator.key
        elif operator.kind is Kind.STATELESS and len(inputs) == 1:
            key = self._updated_key(inputs[0].source)
        known = {part["name"] for part in json.loads(self.columns[name].schema)["fields"]}
        return key if set(key) <= known - {KEY_GROUP} else ()

    def _frontier_rule(self, instance: Instance) -> str:
        operators = [self.application.by_name[name] for name in instance.operators]
        if any(operator.watermark_seconds is not None for operator in operators):
            return "watermark"
        return "rows" if operators[0].kind is Kind.SOURCE else "input"

    def _links(self, instance: Instance) -> str:
        """The network from every other node to this one, if it is emulated."""
        if not self.settings.emulate_network:
            return "{}"
        network, index = self.infrastructure.network, self.infrastructure.index
        here = index[instance.node]
        links = {}
        for node in self.infrastructure.nodes:
            there = index[node.name]
            if there == here:
                continue
            delay_ms, mbps = float(network.delay_ms[there, here]), float(network.transfer_mbps[there, here])
            link = {"delay_ms": delay_ms} | ({"bytes_per_second": mbps * 1e6 / 8} if isfinite(mbps) else {})
            if delay_ms > 0 or len(link) > 1:
                links[node.name] = link
        return json.dumps(links)
