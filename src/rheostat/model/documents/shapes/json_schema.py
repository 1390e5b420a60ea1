"""JSON Schemas of the documents, for editors that complete and check them."""

from math import inf
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from rheostat.model.documents.shapes.application_shape import ApplicationShape
from rheostat.model.documents.shapes.deployment_shape import DeploymentShape
from rheostat.model.documents.shapes.infrastructure_shape import InfrastructureShape
from rheostat.model.documents.shapes.objective_shape import EdrpShape, OdpShape
from rheostat.model.documents.shapes.run_shape import RunShape

_SHAPES: dict[str, Any] = {
    "application": ApplicationShape,
    "infrastructure": InfrastructureShape,
    "objective": Annotated[EdrpShape | OdpShape, Field(discriminator="form")],
    "deployment": DeploymentShape,
    "run": RunShape,
}


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of document."""
    if kind not in _SHAPES:
        raise ValueError(f"there is no document of kind {kind!r}, only {', '.join(_SHAPES)}")
    schema = _finite(TypeAdapter(_SHAPES[kind]).json_schema(mode="validation"))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"Rheostat {kind}", **schema}


def _finite(schema: Any) -> Any:
    """The schema without infinite defaults, which JSON cannot express."""
    if isinstance(schema, dict):
        return {key: _finite(value) for key, value in schema.items() if value != inf}
    return [_finite(value) for value in schema] if isinstance(schema, list) else schema
