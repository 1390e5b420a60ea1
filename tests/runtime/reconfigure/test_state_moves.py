"""Checkpoint with which a new instance starts, and the position of its source."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest
from experiments.subjects import subject
from experiments.walks import SETTINGS, three_nodes

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.job_runner import run_job
from rheostat.runtime.nodes.spark_checkpoints import SparkCheckpoints
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.physical_plan import physical_plan
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.read_positions import ReadPositions
from rheostat.runtime.reconfigure.run_checkpoints import checkpoint_name
from rheostat.runtime.reconfigure.state_moves import job_for

CHANNEL = '{"channel": "Generator-Detector"}'
SOURCE = '{"rows": 7, "started_ms": 1}'


@pytest.fixture
def blueprint(tmp_path):
    application = subject("frequent-patterns", 1, 10.0, 1.0).application
    columns = {
        operator.name: Columns(json.dumps({"type": "struct", "fields": []})) for operator in application.operators
    }
    return Blueprint(application, three_nodes(), RunPaths(tmp_path), columns, SETTINGS)


def committed(blueprint, instance, offset):
    """The instance has done one batch."""
    for log, text in (("offsets", f"v1\n{{}}\n{offset}"), ("commits", "v1\n{}")):
        path = blueprint.checkpoint(instance) / log / "0"
        path.parent.mkdir(parents=True)
        path.write_text(text)


def positions(blueprint):
    """As the checkpoints on the disk have them; they are only read, which takes no Spark."""
    checkpoints = SparkCheckpoints(None, blueprint.layout.root, nullcontext)
    return ReadPositions(blueprint, lambda one: checkpoints.offsets(checkpoint_name(one)))


def plans(blueprint):
    """The detector gets one replica instead of two, and into one query with its source."""
    apart = {"Input": {"n1": 1}, "Generator": {"n1": 1}, "Detector": {"n2": 2}, "Reporter": {"n3": 1}}
    together = {"Input": {"n3": 1}, "Generator": {"n3": 1}, "Detector": {"n3": 1}, "Reporter": {"n2": 1}}
    old = physical_plan(blueprint.application, Deployment.of(apart), SETTINGS.key_groups)
    return old, physical_plan(blueprint.application, Deployment.of(together), SETTINGS.key_groups, old)


def test_a_chain_goes_on_with_the_state_of_one_and_the_source_of_another(blueprint):
    old, new = plans(blueprint)
    committed(blueprint, old.with_operator("Detector")[0], CHANNEL)
    committed(blueprint, old.with_operator("Input")[0], SOURCE)
    job = job_for(blueprint, new.with_operator("Input")[0], old, positions(blueprint))
    assert (job.way, job.offsets) == ("repartition", (SOURCE,))
    assert job.source == str(blueprint.checkpoint(old.with_operator("Input")[0]))


def test_a_source_that_was_replaced_before_its_first_batch_begins_and_the_state_stays(blueprint):
    """Found by a walk: the chain went on with the detector's own offset, as if that were the source's."""
    old, new = plans(blueprint)
    committed(blueprint, old.with_operator("Detector")[0], CHANNEL)
    job = job_for(blueprint, new.with_operator("Input")[0], old, positions(blueprint))
    assert (job.way, job.offsets, job.source) == ("repartition", ("-",), "")
    committed(blueprint, new.with_operator("Input")[0], "-")
    again = physical_plan(blueprint.application, old.deployment, SETTINGS.key_groups, new)
    known = positions(blueprint)
    assert job_for(blueprint, again.with_operator("Input")[0], new, known) is None, (
        "it begins, with an empty checkpoint"
    )
    assert job_for(blueprint, again.with_operator("Detector")[0], new, known).way == "repartition", "it has its state"


def test_a_sink_outside_goes_on_with_the_number_of_its_last_batch(tmp_path):
    """One that began with batch 0 again lost what it wrote: it was taken for what had been written before."""
    rows = Operator("rows", Kind.SOURCE, code="shop.app:rows")
    table = Operator("table", Kind.SINK, code="shop.app:table", max_replicas=2)
    application = Application("shop", (rows, table), (Stream("rows", "table"),))
    columns = {"rows": Columns(json.dumps({"type": "struct", "fields": []}))}
    blueprint = Blueprint(application, three_nodes(), RunPaths(tmp_path), columns, SETTINGS)
    old = physical_plan(application, Deployment.of({"rows": {"n1": 1}, "table": {"n1": 1}}), SETTINGS.key_groups)
    new = physical_plan(application, Deployment.of({"rows": {"n1": 1}, "table": {"n2": 2}}), SETTINGS.key_groups, old)
    before, after = old.with_head("table")[0], replace(new.with_head("table")[0], start=("here",))
    assert job_for(blueprint, after, old, positions(blueprint)) is None, "nothing was written yet"
    committed(blueprint, before, "there")
    job = job_for(blueprint, after, old, positions(blueprint))
    assert (job.way, job.parents[0][0], job.offsets) == ("offsets", str(blueprint.checkpoint(before)), ("here",))
    run_job(None, job)
    taken = Checkpoint(blueprint.checkpoint(after))
    assert (taken.last_committed, taken.planned(0).offsets) == (0, ("here",))
