"""Messages for schema mistakes: the error in the user's words, and a suggestion."""

import re
from typing import Any

from pydantic_core import ErrorDetails

from rheostat.errors import Mistake
from rheostat.model.documents.text.shape import keys_of, shape_at
from rheostat.model.documents.text.written import Path
from rheostat.model.graph.flow_order import did_you_mean

MODELS = ("constant", "mm1", "micro-batch", "polynomial", "tabulated")
_WANTED = {
    "string_type": ("text", "write a text, in quotes if it looks like a number"),
    "float_type": ("a number", "write a number without quotes"),
    "int_type": ("a whole number", "write a whole number without quotes"),
    "bool_type": ("true or false", "write true or false"),
    "list_type": ("a list", "write [..., ...] or one item per line, each after a dash"),
    "dict_type": ("a mapping", "write key: value pairs"),
    "model_type": ("a mapping", "write key: value pairs"),
    "model_attributes_type": ("a mapping", "write key: value pairs"),
    "too_short": ("two numbers", "write [least, greatest]"),
    "too_long": ("two numbers", "write [least, greatest]"),
}


def schema_mistake(problem: ErrorDetails, path: Path, shape: Any) -> Mistake:
    """The message for one schema mistake."""
    kind, value = problem["type"], problem["input"]
    if kind in ("extra_forbidden", "missing"):
        return _about_key(problem, path, shape)
    if kind in ("enum", "literal_error", "union_tag_invalid", "union_tag_not_found"):
        return _about_word(problem, path)
    if kind in _WANTED:
        wanted, remedy = _WANTED[kind]
        state = "is empty" if value is None else f"must be {wanted}, not {shown(value)}"
        return Mistake(path, f"{place(path)} {state}", remedy)
    return Mistake(path, problem["msg"], str(problem.get("ctx", {}).get("remedy", "")))


def _about_key(problem: ErrorDetails, path: Path, shape: Any) -> Mistake:
    """The message for an unknown or a missing key."""
    owner, key = shape_at(shape, problem["loc"][:-1]), str(path[-1])
    known = keys_of(owner) if owner else {}
    if problem["type"] == "extra_forbidden":
        return Mistake(path, f"the key {key!r} is unknown", did_you_mean(key, known))
    examples = known[key].examples if key in known else None
    example = str(examples[0]).replace("'", "") if examples else "..."
    return Mistake(path, f"the key {key!r} is missing", f"write {key}: {example}")


def _about_word(problem: ErrorDetails, path: Path) -> Mistake:
    """The message for a value that is not one of the allowed words."""
    context = problem.get("ctx", {})
    if problem["type"] == "union_tag_not_found":
        return Mistake(path, f"the {path[-1]} has no model", f"write model: {' or '.join(MODELS)}")
    given = context.get("tag", problem["input"])
    options = quoted(context.get("expected_tags") or context["expected"])
    return Mistake(path, f"{place(path)} {shown(given)} is unknown", did_you_mean(str(given), options))


def quoted(text: str) -> list[str]:
    """The words in quotes; the validator quotes each expected word."""
    return re.findall(r"'([^']*)'", text)


def shown(value: Any) -> str:
    """A value for a message: short, with its type recognisable."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]}...{text[0] if isinstance(value, str) else ''}"


def place(path: Path) -> str:
    """Name of the place a path points at, for a message."""
    if path[0] == "delays_ms" and len(path) > 1:
        return " ".join(f"{name} {int(part) + 1}" for name, part in zip(("row", "column"), path[1:], strict=False))
    if isinstance(path[-1], int):
        return f"item {path[-1] + 1} of {path[-2]}"
    return str(path[-1])
