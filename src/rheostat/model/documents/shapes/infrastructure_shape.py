"""Schema of infrastructure documents, and its conversion to an `Infrastructure`."""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from rheostat.model.documents.text.shape import Amount, Positive, Probability, Shape, Size
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node, StoreAccess


class NodeShape(Shape):
    """One computing node."""

    name: str = Field(examples=["n1"])
    """Unique within the infrastructure."""
    resources: Amount | None = None
    """Units of resources for all its replicas together; if not given, worker_slots x executors_per_slot."""
    worker_slots: Size = 1
    """Worker processes it can run."""
    executors_per_slot: Size = 1
    """Replicas a worker process can hold."""
    speedup: Positive = 1.0
    """Speed relative to the reference processor."""
    availability: Probability = 1.0
    """Probability that the node is up."""
    price_per_hour: Amount = 0.0
    """Rent in $ per hour, used or not."""
    region: str = ""
    """Region of the node."""
    spawn_seconds: Amount = 0.5
    """Time to start a replica."""

    def value(self) -> Node:
        """The node."""
        return Node(**self.model_dump())


class QualityShape(Shape):
    """Default quality of a link."""

    delay_ms: Amount = 0.0
    """One-way network delay."""
    transfer_mbps: Positive = 100.0
    """Data rate for moving code and state, in megabits per second."""
    price: Amount = 0.0
    """$ per hour for a flow of one tuple per second."""
    availability: Probability = 1.0
    """Probability that the link is up."""
    bandwidth_tps: Positive = float("inf")
    """Tuples per second it can carry; unlimited if not given."""

    def value(self, default: LinkQuality) -> LinkQuality:
        """The given values, and the default for the others."""
        said = self.model_fields_set & QualityShape.model_fields.keys()
        return replace(default, **{name: getattr(self, name) for name in said})


class LinkShape(QualityShape):
    """One physical link."""

    source: str = Field(alias="from", examples=["n1"])
    """The node at one end."""
    target: str = Field(alias="to", examples=["n2"])
    """The node at the other end."""
    both_ways: bool = True
    """Whether the link works in both directions."""


class StoreShape(Shape):
    """Access of the nodes to the store through which code and state move."""

    at: str | None = None
    """The node it runs on; if not given, it is equally far from all nodes."""
    delay_ms: Amount = 5.0
    """One-way delay in ms, if it is equally far from all nodes."""
    transfer_mbps: Positive = 100.0
    """Data rate to and from the store in megabits per second, if it is equally far from all nodes."""
    local_mbps: Positive = 4000.0
    """Data rate to and from a node's own disk in megabits per second."""

    def value(self) -> StoreAccess:
        """The access to the store."""
        return StoreAccess(**self.model_dump())


class InfrastructureShape(Shape):
    """An infrastructure: nodes and the network between them, given by links, by a matrix of delays or by neither."""

    kind: Literal["infrastructure"]
    name: str = Field(examples=["lab"])
    """Name of the infrastructure."""
    nodes: list[NodeShape] = Field(examples=[[]])
    """The nodes."""
    links: list[LinkShape] = Field([])
    """Physical links; paths between all nodes are found by shortest-path routing."""
    delays_ms: list[list[Amount]] | None = None
    """Delays between all nodes in ms: row u, column v is the delay from u to v. Either this or links."""
    default_link: QualityShape = QualityShape()
    """Quality of a link where the link itself does not say otherwise."""
    store: StoreShape = StoreShape()
    """Access of the nodes to the store through which code and state move."""

    def value(self) -> Infrastructure:
        """The infrastructure; InvalidModel if it contradicts itself."""
        default = self.default_link.value(LinkQuality())
        return Infrastructure(
            self.name,
            tuple(node.value() for node in self.nodes),
            tuple(Link(link.source, link.target, link.value(default), link.both_ways) for link in self.links),
            None if self.delays_ms is None else DelayMatrix(tuple(tuple(row) for row in self.delays_ms)),
            default,
            self.store.value(),
        )
