"""Failover: lost nodes, and the stand-in that runs each instance of a lost node."""

from collections.abc import Iterable

from rheostat.errors import RuntimeFault
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.plan.physical_plan import Instance
from rheostat.runtime.reconfigure.run_nodes import RunNodes


class Failover:
    """Assigns stand-ins when nodes are lost. Any node can run any instance: checkpoints and channels are shared."""

    def __init__(self, run: RunNodes) -> None:
        self._run = run
        self.lost: set[str] = set()
        self._instances: dict[int, Instance] = {}
        self._stand_ins: dict[int, str] = {}

    def place_of(self, instance: Instance) -> str:
        """Name of the node that runs an instance: its own node, or its stand-in if its own node is lost."""
        if instance.node not in self.lost:
            return instance.node
        place = self._stand_ins.get(instance.number)
        if place is None or place in self.lost:
            raise RuntimeFault(f"node {instance.node} is lost and no other node runs {instance.name}")
        return place

    def node_of(self, instance: Instance) -> NodePort:
        """The node that runs an instance."""
        return self._run.nodes[self.place_of(instance)]

    def present(self) -> list[NodePort]:
        """The nodes that are not lost."""
        return [node for name, node in self._run.nodes.items() if name not in self.lost]

    def add(self, instances: Iterable[Instance]) -> None:
        """Adds instances, and assigns stand-ins to those of lost nodes."""
        self._instances |= {instance.number: instance for instance in instances}
        self._assign()

    def keep_only(self, instances: Iterable[Instance]) -> None:
        """Forgets all instances but these."""
        self._instances = {instance.number: instance for instance in instances}
        self._assign()

    def lose(self, node: str) -> None:
        """Gives up a node: stand-ins take over its instances. The caller has made sure that nothing runs there."""
        self.lost.add(node)
        self._assign()

    def regain(self, node: str) -> None:
        """Takes a node back: it runs its own instances again."""
        self.lost.discard(node)
        self._assign()

    def _assign(self) -> None:
        """Assigns a stand-in to every instance that needs one, and drops the stand-ins that are not needed."""
        lost = {number: one for number, one in self._instances.items() if one.node in self.lost}
        self._stand_ins = {number: place for number, place in self._stand_ins.items() if number in lost}
        present = [name for name in self._run.nodes if name not in self.lost]
        for number in lost if present else ():
            if self._stand_ins.get(number) not in present:
                self._stand_ins.pop(number, None)
                self._stand_ins[number] = max(present, key=self._free_slots().__getitem__)

    def _free_slots(self) -> dict[str, float]:
        """Free slots of every node; what a node runs as a stand-in takes slots, too."""
        blueprint = self._run.blueprint
        free = {node.name: node.capacity for node in blueprint.infrastructure.nodes}
        operators = blueprint.application.by_name
        for instance in self._instances.values():
            place = self._stand_ins.get(instance.number) if instance.node in self.lost else instance.node
            if place in free:
                free[place] -= instance.replicas * sum(operators[name].resources for name in instance.operators)
        return free
