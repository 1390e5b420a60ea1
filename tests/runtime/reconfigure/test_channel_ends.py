"""Producers of a run are opened under the term of its owner."""

import pytest

from rheostat.app import App
from rheostat.errors import Fenced
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.channels.port.channel import EpochClaim
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.physical_plan import physical_plan
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.channel_ends import ChannelEnds, Epoch
from rheostat.runtime.reconfigure.run_nodes import RunNodes


def nothing(*_frames):
    """Stands for the code of an operator; no query is started here."""


@pytest.fixture
def run(tmp_path):
    app = App("two")
    app.source("numbers", nothing)
    app.sink("out", reads="numbers")
    application = app.build()
    columns = dict.fromkeys(application.by_name, Columns('{"type": "struct", "fields": []}'))
    blueprint = Blueprint(application, Infrastructure("one", (Node("n1", 2),)), RunPaths(tmp_path), columns)
    blueprint.create_channels()
    return RunNodes(blueprint, {})


@pytest.fixture
def source(run):
    application = run.blueprint.application
    plan = physical_plan(application, Deployment.of({name: {"n1": 1} for name in application.by_name}), 4)
    return plan.with_operator("numbers")[0]


def test_an_epoch_has_the_term_of_the_owner_that_opened_it(run, source):
    first = ChannelEnds(run, term=3)
    assert first.open_epoch(source) == Epoch(1, continues=False, term=3)
    later = ChannelEnds(run, term=4)
    assert later.present_epoch(source) == Epoch(1, continues=True, term=3), "its query still writes under the old term"
    assert later.open_epoch(source) == Epoch(2, continues=True, term=4)
    assert later.last_epoch(source) == 2


def test_a_former_owner_opens_nothing_after_the_next_one_has(run, source):
    former, owner = ChannelEnds(run, term=1), ChannelEnds(run, term=2)
    former.open_epoch(source)
    owner.open_epoch(source)
    with pytest.raises(Fenced):
        former.open_epoch(source)
    assert owner.last_epoch(source) == 2


def test_a_query_writes_under_the_term_it_is_described_with(run, source):
    epoch = ChannelEnds(run, term=5).open_epoch(source)
    spec = run.blueprint.spec(source, epoch.number, continues=epoch.continues, term=epoch.term)
    (channel,) = run.blueprint.outputs_of(source)
    assert channel.producers.open(EpochClaim(spec.producer, spec.epoch, spec.term)).epoch == 1
    with pytest.raises(Fenced):
        channel.producers.open(EpochClaim(spec.producer, spec.epoch, 4))
