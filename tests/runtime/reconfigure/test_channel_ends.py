"""Producers of a run are opened under the term of its owner."""

import pytest

from rheostat.app import App
from rheostat.errors import Fenced
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.channels.port.channel import EpochClaim
from rheostat.runtime.channels.port.places import last_epoch
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.physical_plan import physical_plan
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.channel_ends import ChannelEnds, Epoch
from rheostat.runtime.reconfigure.run_nodes import RunNodes


def nothing(*_frames):
    """Stands for the code of an operator; no query is started here."""


def running(application, root):
    """A run whose channels are there and whose queries are not."""
    columns = dict.fromkeys(application.by_name, Columns('{"type": "struct", "fields": []}'))
    blueprint = Blueprint(application, Infrastructure("one", (Node("n1", 8),)), RunPaths(root), columns)
    blueprint.create_channels()
    return RunNodes(blueprint, {})


def instance_of(run, operator):
    application = run.blueprint.application
    plan = physical_plan(application, Deployment.of({name: {"n1": 1} for name in application.by_name}), 4)
    return plan.with_operator(operator)[0]


@pytest.fixture
def run(tmp_path):
    app = App("two")
    app.source("numbers", nothing)
    app.sink("out", reads="numbers")
    return running(app.build(), tmp_path)


@pytest.fixture
def source(run):
    return instance_of(run, "numbers")


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


def test_a_controller_that_died_between_two_channels_is_followed_by_one_that_opens_both(tmp_path):
    """One channel has the epoch of the dead controller, the other one has not."""
    app = App("forked")
    app.source("numbers", nothing)
    app.sink("left", reads="numbers")
    app.sink("right", reads="numbers")
    run = running(app.build(), tmp_path)
    source = instance_of(run, "numbers")
    ends = ChannelEnds(run, term=1)
    ends.open_epoch(source)
    left, right = run.blueprint.outputs_of(source)
    left.producers.open(EpochClaim(source.producer, 2, 1))
    assert ChannelEnds(run, term=2).open_epoch(source) == Epoch(3, continues=True, term=2)
    assert [last_epoch(channel.log(), source.producer) for channel in (left, right)] == [3, 3]
    with pytest.raises(Fenced):
        right.producers.open(EpochClaim(source.producer, 2, 1))
