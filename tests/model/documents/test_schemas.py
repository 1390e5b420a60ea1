import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import fastjsonschema
import pytest
import yaml
from hypothesis import given, settings
from tests import strategies as some

from rheostat.model.documents import KINDS, json_schema, write
from rheostat.model.documents.shapes.application_shape import ApplicationShape, OperatorShape, StreamShape
from rheostat.model.documents.shapes.infrastructure_shape import (
    InfrastructureShape,
    LinkShape,
    NodeShape,
    QualityShape,
    StoreShape,
)
from rheostat.model.documents.shapes.objective_shape import BoundsShape
from rheostat.model.documents.shapes.run_shape import RunShape
from rheostat.model.graph.application import Application, Operator, Stream
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import Infrastructure, Node, StoreAccess
from rheostat.model.quality.objective import Bounds
from rheostat.model.run_settings import RunSettings

SCHEMAS = Path(__file__).parents[3] / "schemas"
CHECKS: dict[str, Callable[[object], object]] = {}


@pytest.mark.parametrize("kind", KINDS)
def test_the_committed_schemas_are_up_to_date(kind):
    committed = json.loads((SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8"))
    assert committed == json_schema(kind), "run scripts/schemas"


def test_there_is_a_schema_for_each_kind_and_no_other():
    assert sorted(path.name for path in SCHEMAS.iterdir()) == sorted(f"{kind}.schema.json" for kind in KINDS)
    with pytest.raises(ValueError, match="'zebra'"):
        json_schema("zebra")


def test_a_schema_describes_what_may_be_written():
    schema = json_schema("application")
    operator = schema["$defs"]["OperatorShape"]
    assert operator["additionalProperties"] is False
    assert operator["properties"]["kind"]["description"] == "source, stateless, stateful or sink."
    assert operator["properties"]["resources"]["minimum"] == 0
    assert {"type": "string"} in operator["properties"]["key"]["anyOf"]
    assert set(json_schema("objective")["discriminator"]["mapping"]) == {"edrp", "odp"}


@settings(max_examples=30)
@given(placement=some.placements(odd_names=True), objective=some.objectives(), run=some.runs())
def test_a_schema_accepts_what_is_written(placement, objective, run):
    checker = fastjsonschema
    for kind, value in zip(KINDS, (*placement[:2], objective, placement[2], run), strict=True):
        if kind not in CHECKS:
            CHECKS[kind] = checker.compile(json_schema(kind))
        CHECKS[kind](yaml.safe_load(write(value)))


@pytest.mark.parametrize(
    ("model", "shape", "elsewhere"),
    [
        (Operator, OperatorShape, set()),
        (Stream, StreamShape, set()),
        (Node, NodeShape, set()),
        (LinkQuality, QualityShape, set()),
        (Link, LinkShape, {"quality"}),
        (StoreAccess, StoreShape, set()),
        (Application, ApplicationShape, set()),
        (Infrastructure, InfrastructureShape, set()),
        (Bounds, BoundsShape, set()),
        (RunSettings, RunShape, set()),
    ],
)
def test_whatever_the_model_has_can_be_written(model, shape, elsewhere):
    assert {field.name for field in fields(model)} - elsewhere <= set(shape.model_fields)
