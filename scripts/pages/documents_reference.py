"""The reference of the documents, from their JSON Schemas."""

import json
from collections.abc import Mapping
from typing import Any

from scripts.pages.markdown import cell, code, page, table

from rheostat.model.documents import KINDS, json_schema

Schema = Mapping[str, Any]


def documents_reference() -> str:
    """All kinds of documents with all their keys."""
    about = (
        "A document is YAML; `kind` says which one it is. An infrastructure may also be GraphML or a CSV matrix of "
        "delays. `rheostat validate` reports every mistake with its line. The same rules as JSON Schemas, for editors, "
        "are in the folder `schemas`."
    )
    return page("Documents", about, *(block for kind in KINDS for block in _kind(kind, json_schema(kind))))


def _kind(kind: str, schema: Schema) -> list[str]:
    blocks = [f"## {kind}"]
    tops = [schema] if "properties" in schema else [_resolve(one, schema) for one in _choices(schema)]
    shown = [one for one in schema.get("$defs", {}).values() if "properties" in one and one not in tops]
    for shape in [*tops, *shown]:
        if shape is not schema:
            blocks.append(f"### {kind}: {_title(shape['title'])}")
        blocks += [cell(shape.get("description", "")), _keys(shape, schema)]
    return blocks


def _choices(schema: Schema) -> list[Schema]:
    return list(schema.get("oneOf", schema.get("anyOf", ())))


def _resolve(schema: Schema, root: Schema) -> Schema:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return root["$defs"][name] if name else schema


def _title(name: str) -> str:
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name.removesuffix("Shape"))
    return "mm1" if name.startswith("MM1") else words.strip()


def _keys(shape: Schema, root: Schema) -> str:
    needed = shape.get("required", ())
    rows = [
        (code(key), cell(_type_of(value, root)), _default(value, key in needed), cell(value.get("description", "")))
        for key, value in shape["properties"].items()
    ]
    return table(("key", "value", "default", "meaning"), rows)


def _default(value: Schema, needed: bool) -> str:
    if needed:
        return "required"
    return "" if value.get("default") is None else code(json.dumps(value["default"]))


def _type_of(value: Schema, root: Schema) -> str:
    if "$ref" in value:
        target = _resolve(value, root)
        return _type_of(target, root) if "enum" in target else _title(target["title"])
    if words := value.get("enum", [value["const"]] if "const" in value else []):
        return ", ".join(f"`{word}`" for word in words)
    if choices := _choices(value):
        told = [_type_of(one, root) for one in choices if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(told))
    for key, collection in (("items", "list of"), ("additionalProperties", "mapping to")):
        if isinstance(inner := value.get(key), Mapping):
            return f"{collection} {_type_of(inner, root)}"
    kind = value.get("type", "any value")
    told = kind if isinstance(kind, str) else " or ".join(kind)
    return told + _range(value)


def _range(value: Schema) -> str:
    signs = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    told = [f"{sign} {value[name]:g}" for name, sign in signs.items() if name in value]
    return f" ({', '.join(told)})" if told else ""
