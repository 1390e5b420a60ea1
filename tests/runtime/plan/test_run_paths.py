"""Names become files: what would lead elsewhere or mean two things is refused, all of it at once."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.control.loop.ports import Entry
from rheostat.controller.bring_up import Launch, check_known, opened
from rheostat.errors import InvalidModel, RuntimeFault
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.channels.records.channel_spec import checked_name
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.physical_plan import physical_plan
from rheostat.runtime.plan.run_paths import RunPaths, check_names

ONE = Infrastructure("one", (Node("n1", 8),))


def named(*names: str) -> Application:
    """A source and operators behind it, one after the other."""
    operators = [Operator(names[0], Kind.SOURCE), *(Operator(name) for name in names[1:])]
    streams = tuple(Stream(a, b) for a, b in pairwise(names))
    return Application("named", tuple(operators), streams)


@pytest.mark.parametrize("name", ["split_words", "count-by-window", "v1.2", "_", "a=1+2"])
def test_ordinary_names_are_fine(name):
    check_names(named(name, "other"), ONE)


@pytest.mark.parametrize(
    "name", ["a-", "-a", ".a", "..", "a--b", "a/b", "a@b", "a\\b", "x" * 81, "split words", "größe"]
)
def test_names_that_mean_two_things_or_lead_elsewhere_are_refused(name):
    """`a-` to `b` and `a` to `-b` would be one channel."""
    with pytest.raises(InvalidModel, match="cannot be used in a run"):
        check_names(named(name, "other"), ONE)


def test_all_names_that_lead_elsewhere_are_told_at_once_and_nothing_is_made(tmp_path):
    application, nodes = named("../up", "a--b", "fine", "x@y"), Infrastructure("odd", (Node("n1", 8), Node("a/b", 8)))
    with pytest.raises(InvalidModel) as caught, opened(Launch(application, nodes, tmp_path / "run")):
        pass
    assert [mistake.where for mistake in caught.value.mistakes] == [
        ("operators", 0, "name"), ("operators", 1, "name"), ("operators", 3, "name"), ("nodes", 1, "name"),
    ]  # fmt: skip
    assert "files are named by it" in str(caught.value)
    assert not (tmp_path / "run").exists()


NAMES = st.text(min_size=1, max_size=30) | st.text("ab-./@", min_size=1, max_size=4)


@given(st.lists(NAMES.map(str.strip).filter(bool), min_size=2, max_size=5, unique=True))
def test_names_that_pass_give_every_stream_a_place_of_its_own_inside_the_directory(tmp_path_factory, names):
    application, layout = named(*names), RunPaths(tmp_path_factory.getbasetemp() / "run")
    try:
        check_names(application, ONE)
    except InvalidModel:
        return
    places = {layout.channel(a, b) for a in names for b in names}
    assert len(places) == len(names) ** 2
    assert [checked_name(place.name) for place in places] == [place.name for place in places]
    assert [checked_name(f"{name}@n1") for name in names] == [f"{name}@n1" for name in names], "names of producers"
    assert all(place.resolve().parent == (layout.root / "channels").resolve() for place in places)


def test_a_directory_with_other_streams_is_refused(tmp_path):
    before = named("a", "b", "c")
    columns = dict.fromkeys("abc", Columns('{"type": "struct", "fields": []}'))
    Blueprint(before, ONE, RunPaths(tmp_path), columns).create_channels()
    plan = physical_plan(before, Deployment.single(dict.fromkeys("abc", "n1")), RuntimeSettings().key_groups)
    journal = SqliteJournal(RunPaths(tmp_path).journal)
    journal.append(Entry("launch", 0.0, {"plan": plan.to_dict()}))
    journal.close()
    launch = Launch(before, ONE, tmp_path)
    check_known(launch)
    with pytest.raises(RuntimeFault, match=r"its streams differ \(a -> c, b -> c\); use another --directory"):
        check_known(replace(launch, application=replace(before, streams=(Stream("a", "b"), Stream("a", "c")))))
