"""The reference of settings, from the values that hold them and the docstrings of their fields."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any

from scripts.pages.markdown import cell, code, page, table

from rheostat.control.setup.control_settings import DEFAULTS, KINDS, PLACEMENTS, VICTIMS, ControlSettings
from rheostat.planning.planner_registry import PLANNERS
from rheostat.policies.policy_registry import APPLICATION_POLICIES, GRANTING, OPERATOR_POLICIES
from rheostat.runtime.spark.spark_settings import LEAN, LOOPBACK


def settings_reference() -> str:
    """Settings of the control, of every policy, planner and way to place, and of Spark."""
    controls = (
        (code(kind), cell(about), *(code(part) for part in DEFAULTS[kind][:3]), f"{DEFAULTS[kind][3]:g}")
        for kind, about in KINDS.items()
    )
    ways = [
        (code(name), option, cell(first_line(type(way))))
        for option, known in (("`placement`", PLACEMENTS), ("`victims`", VICTIMS))
        for name, way in known.items()
    ]
    planners = ((code(name), cell(entry.about)) for name, entry in PLANNERS.items())
    return page(
        "Settings",
        "## Controls",
        "`--control NAME` chooses the managers. The policy and the period can be replaced with `--policy` and "
        "`--period`, everything else with `--control-set NAME=VALUE`.",
        table(("control", "meaning", "policy", "placement", "victims", "period s"), controls),
        "## Settings of a control",
        _fields(ControlSettings),
        "## Placements and victims",
        table(("name", "setting", "meaning"), ways),
        "## Policies",
        "`--policy NAME` chooses one, `--set NAME=VALUE` sets one of its fields.",
        *_policies(OPERATOR_POLICIES),
        *_policies(APPLICATION_POLICIES),
        "## Granting policies",
        "`--global NAME` chooses one, `--global-set NAME=VALUE` sets one of its fields.",
        *_policies(GRANTING),
        "## Planners",
        table(("planner", "meaning"), planners),
        "## Spark",
        "`--spark NAME=VALUE` replaces any of these, or sets another one.",
        table(("setting", "value", "reason"), _spark(LEAN)),
        "Settings of a Spark that is one process:",
        table(("setting", "value", "reason"), _spark(LOOPBACK)),
    )


def first_line(kind: type) -> str:
    """The first line of a class's docstring."""
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def meanings_of(kind: type) -> dict[str, str]:
    """The docstring under each field of a class and of the classes it inherits from."""
    found: dict[str, str] = {}
    for owner in reversed(kind.__mro__[:-1]):
        if owner.__module__.startswith("rheostat"):
            found |= _meanings(ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0])
    return found


def _meanings(kind: Any) -> dict[str, str]:
    found = {}
    for field, text in zip(kind.body, kind.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            found[field.target.id] = str(text.value.value)
    return found


def _policies(known: Mapping[str, type]) -> list[str]:
    blocks = []
    for name, kind in known.items():
        blocks += [f"### {name}", cell(first_line(kind)), _fields(kind) if fields(kind) else "It has no settings."]
    return blocks


def _fields(kind: Any) -> str:
    meanings = meanings_of(kind)
    rows = [(code(one.name), code(_type(one)), _default(one), cell(meanings.get(one.name, ""))) for one in fields(kind)]
    return table(("setting", "type", "default", "meaning"), rows)


def _type(field: "Field[Any]") -> str:
    return field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))


def _default(field: "Field[Any]") -> str:
    if field.default_factory is not MISSING:
        return code(field.default_factory())
    if field.default is MISSING:
        return "required"
    return "" if field.default is None else code(field.default)


def _spark(settings: Mapping[str, tuple[str, str]]) -> list[tuple[str, str, str]]:
    return [(code(name), code(value), cell(reason)) for name, (value, reason) in settings.items()]
