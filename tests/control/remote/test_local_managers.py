"""The local managers of one node: they look and ask by themselves, and what they found out waits for a controller."""

import json
from dataclasses import replace

import pytest
from tests.control.still_world import APPLICATION, StillWorld

from rheostat.control.remote.local_managers import LocalManagers
from rheostat.control.remote.manager_messages import Orders, Report
from rheostat.control.setup.control_settings import ControlSettings, settings_from_plain, settings_to_plain

SETTINGS = ControlSettings("edf", settle_seconds=0.0, memory_every=1)
COUNT = Orders(("count",))


@pytest.fixture
def busy():
    return StillWorld(work={"source": 0.1, "split": 0.9, "count": 0.9}, cpu={"n2": 0.95})


def outpost_on(world, node="n2", settings=SETTINGS):
    return LocalManagers(node, settings, world.application, world)


def steps(outpost, world, *moments):
    for moment in moments:
        world.clock.wait_until(moment)
        outpost.step(moment)


def test_it_looks_after_the_operators_it_was_told_to_and_no_others(busy):
    outpost = outpost_on(busy)
    assert outpost.take(Orders()).requests == ()
    outpost.take(COUNT)
    steps(outpost, busy, 30.0)
    report = outpost.take(COUNT)
    assert report.operators == ("count",)
    assert [one.sender for one in report.requests] == ["operator manager of count"]
    assert {entry.facts["by"] for _, entry in report.entries} == {"operator manager of count"}


def test_without_a_controller_it_goes_on_and_what_it_found_out_waits(busy):
    outpost = outpost_on(busy)
    outpost.take(COUNT)
    steps(outpost, busy, 30.0, 60.0, 90.0)
    report = outpost.report()
    proposals = [entry.at_seconds for _, entry in report.entries if entry.kind == "proposal"]
    assert proposals == [30.0, 60.0, 90.0]
    last = report.entries[-1][0]
    assert outpost.take(replace(COUNT, received=last - 1)).entries == report.entries[-1:]
    assert outpost.take(replace(COUNT, received=last)).entries == ()


def test_a_request_stands_until_it_is_answered(busy):
    outpost = outpost_on(busy)
    outpost.take(COUNT)
    steps(outpost, busy, 30.0)
    (first,) = outpost.take(COUNT).requests
    assert outpost.take(COUNT).requests == (first,), "telling the same orders again changes nothing"
    answered = replace(COUNT, answers={first.sender: first.number})
    assert outpost.take(answered).requests == ()
    steps(outpost, busy, 60.0)
    (again,) = outpost.take(answered).requests
    assert again.number > first.number, "it was refused, and is asked for again: the old answer is not about this one"


def test_who_changes_their_mind_withdraws(busy):
    outpost = outpost_on(busy)
    outpost.take(COUNT)
    steps(outpost, busy, 30.0)
    busy.work["count"] = 0.1
    steps(outpost, busy, 90.0)
    assert outpost.take(COUNT).requests == ()


def test_nobody_looks_while_a_change_is_under_way_or_settles(busy):
    outpost = outpost_on(busy)
    outpost.take(replace(COUNT, held_until_seconds=50.0))
    steps(outpost, busy, 30.0)
    assert outpost.report().entries == ()
    steps(outpost, busy, 60.0)
    assert outpost.report().requests
    outpost.take(replace(COUNT, settled_at_seconds=100.0))
    steps(outpost, busy, 90.0)
    assert outpost.report().requests == (), "what settles is left alone"
    outpost.take(replace(COUNT, settling={"count": 200.0}))
    steps(outpost, busy, 150.0)
    assert outpost.report().requests == ()
    steps(outpost, busy, 240.0)
    assert outpost.report().requests


def test_an_operator_that_is_looked_after_elsewhere_is_let_go_with_its_request(busy):
    outpost = outpost_on(busy)
    outpost.take(COUNT)
    steps(outpost, busy, 30.0)
    report = outpost.take(Orders(("split",)))
    assert (report.operators, report.requests) == (("split",), ())


def test_what_was_learned_elsewhere_is_known_here(busy):
    settings = replace(SETTINGS, policy="q-learning")
    first = outpost_on(busy, settings=settings)
    first.take(COUNT)
    steps(first, busy, 30.0, 60.0, 90.0)
    memories = [entry.facts for _, entry in first.report().entries if entry.kind == "memory"]
    learned = {"policy": memories[-1]["policy"], "memory": memories[-1]["memory"]}
    second = outpost_on(busy, "n3", settings)
    second.take(Orders(("count",), {"count": json.loads(json.dumps(learned))}))
    steps(second, busy, 120.0)
    steps(first, busy, 120.0)
    told = [[e.facts["memory"] for _, e in one.report().entries if e.kind == "memory"][-1] for one in (first, second)]
    assert told[0] == told[1], "both have learned the same from the same"


def test_nodes_that_take_nothing_new_are_not_asked_for(busy):
    outpost = outpost_on(busy)
    free = {"n0", "n1", "n3", "n4"}
    outpost.take(replace(COUNT, hidden=tuple(sorted(free))))
    steps(outpost, busy, 30.0)
    (standing,) = outpost.report().requests
    assert set(standing.request.change.added) == {"n2"}


def test_its_node_manager_speaks_for_its_own_node_alone(busy):
    settings = replace(SETTINGS, migrations=True)
    posts = {name: outpost_on(busy, name, settings) for name in ("n2", "n3")}
    for post in posts.values():
        post.take(Orders())
        steps(post, busy, 30.0)
    assert [one.sender for one in posts["n2"].report().requests] == ["node manager of n2"]
    assert posts["n3"].report().requests == ()


def test_messages_survive_the_way(busy):
    outpost = outpost_on(busy)
    orders = Orders(("count",), {}, ("n4",), 12.0, {"split": 3.0}, 4.0, {"a": 1}, 7)
    assert Orders.from_plain(json.loads(json.dumps(orders.to_plain()))) == orders
    outpost.take(COUNT)
    steps(outpost, busy, 30.0)
    report = outpost.report()
    assert Report.from_plain(json.loads(json.dumps(report.to_plain()))) == report
    settings = ControlSettings(
        "e2df", "threshold", {"scale_out": 0.7}, bounds=(1, 4), excluded_periods=((0.0, 10.0), (20.0, 30.0))
    )
    assert settings_from_plain(json.loads(json.dumps(settings_to_plain(settings)))) == settings
    settings.check(APPLICATION)


def test_trouble_is_written_down_like_everything_else(busy):
    outpost = outpost_on(busy)
    outpost.complain("monitor on n2", 5.0, "OSError: gone")
    ((_, entry),) = outpost.report().entries
    assert (entry.kind, entry.facts["what"]) == ("trouble", "OSError: gone")
