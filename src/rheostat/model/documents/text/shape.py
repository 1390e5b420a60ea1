"""Base class of all document schemas: strictness, number types, and lookup of the field at a path.

A schema says which keys a document has and which type their values have. The model checks whether the values make
sense; ranges given here are hints for editors that read the JSON Schema and are not checked twice.
"""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.fields import FieldInfo


class Shape(BaseModel):
    """Base of all schemas: unknown keys are mistakes, and a text or a boolean is not accepted as a number."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True, allow_inf_nan=True)


Amount = Annotated[float, Field(json_schema_extra={"minimum": 0})]
Positive = Annotated[float, Field(json_schema_extra={"exclusiveMinimum": 0})]
Probability = Annotated[float, Field(json_schema_extra={"exclusiveMinimum": 0, "maximum": 1})]
Weight = Annotated[float, Field(json_schema_extra={"minimum": 0, "maximum": 1})]
Size = Annotated[int, Field(json_schema_extra={"minimum": 0})]
Count = Annotated[int, Field(json_schema_extra={"minimum": 1})]
Names = Annotated[
    list[str],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""A list of names; a single name needs no brackets."""


def keys_of(shape: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields by their names in a document."""
    return {field.alias or name: field for name, field in shape.model_fields.items()}


def shape_at(shape: Any, location: tuple[str | int, ...]) -> type[BaseModel] | None:
    """The schema at the location of a validation error; tags of unions are part of the location."""
    for part in location:
        shape = _inside(shape, part)
    return shape if isinstance(shape, type) and issubclass(shape, BaseModel) else None


def _inside(shape: Any, part: str | int) -> Any:
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        field = keys_of(shape).get(str(part))
        return None if field is None else _bare(field.annotation)
    if get_origin(shape) in (Union, UnionType):
        return next((one for one in get_args(shape) if _tag(one) == part), None)
    arguments = get_args(shape)
    return _bare(arguments[-1]) if arguments else None


def _bare(annotation: Any) -> Any:
    """The type without annotations, and without None in a union."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        others = [one for one in get_args(annotation) if one is not type(None)]
        return _bare(others[0]) if len(others) == 1 else annotation
    return annotation


def _tag(shape: Any) -> str | None:
    field = shape.model_fields.get("model") if hasattr(shape, "model_fields") else None
    return get_args(field.annotation)[0] if field is not None else None
