"""The blueprint and the nodes of a run, as they are now."""

from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.plan.blueprint import Blueprint


@dataclass(slots=True)
class RunNodes:
    """Both are replaced as a whole when a node joins, leaves or comes back; threads with the old ones may go on."""

    blueprint: Blueprint
    nodes: Mapping[str, NodePort]
