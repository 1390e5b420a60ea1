"""Schema of deployment documents, and its conversion to a `Deployment`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from rheostat.errors import Mistake
from rheostat.model.documents.text.shape import Count, Shape
from rheostat.model.documents.text.written import Path
from rheostat.model.graph.deployment import Deployment


def _one_replica(value: Any) -> Any:
    """Expands a bare node name to one replica on that node."""
    return {value: 1} if isinstance(value, str) else value


ReplicasShape = Annotated[
    dict[str, Count], BeforeValidator(_one_replica, json_schema_input_type=dict[str, Count] | str)
]


class DeploymentShape(Shape):
    """A deployment: the nodes on which each operator runs."""

    kind: Literal["deployment"]
    operators: dict[str, ReplicasShape] = Field(examples=[{}])
    """Operator -> node -> number of replicas; a bare node name is one replica there."""

    def value(self) -> Deployment:
        """The deployment."""
        return Deployment.of(self.operators)


def deployment_mistakes(shape: DeploymentShape, reported: dict[Path, Mistake]) -> list[Mistake]:
    """Operators without replicas, and invalid numbers of replicas, except those reported already."""
    found = []
    for name, replicas in shape.operators.items():
        unread = any(path[:2] == ("operators", name) for path in reported)
        if not replicas and not unread:
            found.append(Mistake(("operators", name), f"operator {name!r} has no replicas", "write node: replicas"))
        for node, count in replicas.items():
            if count < 1:
                what = f"{count} replicas of {name!r} on {node!r}"
                found.append(Mistake(("operators", name, node), what, "write at least 1, or leave the node out"))
    return found
