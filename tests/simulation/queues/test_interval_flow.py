"""Laws of what flows: nothing is lost, nothing is made, and the short way round gives what the long one does."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.strategies import deployments, placements

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import MM1, Constant, Polynomial, Tabulated
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.quality import qos
from rheostat.model.quality.placed import Placed
from rheostat.simulation.queues.interval_flow import IntervalFlow
from rheostat.simulation.queues.measurement import measure
from rheostat.simulation.queues.server_layout import ServerLayout
from rheostat.simulation.queues.servers import Behaviour, Burst, Servers, capacity_tps
from rheostat.simulation.queues.waiting_lines import Ages, WaitingLine

STEPS = 12
EDGES = np.arange(STEPS + 1.0)
rates = st.lists(st.floats(0, 400), min_size=STEPS, max_size=STEPS).map(np.array)


def layout_of(application, infrastructure, deployment, behaviours=None):
    return ServerLayout(application, infrastructure, deployment, Servers(application.operators, behaviours or {}))


@given(placements(max_operators=5, max_nodes=3), rates, st.data())
def test_what_arrives_is_served_or_waits(placed, brought, data):
    layout = layout_of(*placed)
    flow = IntervalFlow(layout)
    paused = data.draw(st.sets(st.integers(0, len(layout.slices) - 1)))
    interval = flow.advance(EDGES, brought, paused)
    arrived, served = interval.arrived.sum(axis=1), interval.served.sum(axis=1)
    assert served + flow.waiting() == pytest.approx(arrived, rel=1e-6, abs=1e-6)
    assert (interval.row_served.sum(axis=1) <= layout.capacities * STEPS * (1 + 1e-9) + 1e-6).all()
    assert all(interval.served[i].sum() == pytest.approx(0, abs=1e-6) for i in paused)


@given(placements(max_operators=5, max_nodes=3), rates)
def test_the_short_way_for_calm_times_gives_what_the_long_one_gives(placed, brought):
    layout = layout_of(*placed)
    short, long = IntervalFlow(layout), IntervalFlow(layout)
    calm = short._calm(EDGES, brought)
    crowded = long._with_waiting(EDGES, brought, ())
    if calm is not None:
        assert calm.arrived == pytest.approx(crowded.arrived, rel=1e-6, abs=1e-6)
        assert calm.streams == pytest.approx(crowded.streams, rel=1e-6, abs=1e-6)
        assert calm.row_served == pytest.approx(crowded.row_served, rel=1e-6, abs=1e-6)
        assert not long.waiting().any()
        by_short, by_long = short._timed(calm, calm=True).response, long._timed(crowded, calm=False).response
        assert by_short.mean == pytest.approx(by_long.mean, rel=1e-6, abs=1e-9)


@given(placements(max_operators=5, max_nodes=3), rates)
def test_an_interval_cut_in_two_is_the_same_interval(placed, brought):
    whole, parts = IntervalFlow(layout_of(*placed)), IntervalFlow(layout_of(*placed))
    one = whole.advance(EDGES, brought)
    first = parts.advance(EDGES[:6], brought[:5])
    second = parts.advance(EDGES[5:], brought[5:])
    assert parts.waiting() == pytest.approx(whole.waiting(), rel=1e-6, abs=1e-5)
    assert np.concatenate([first.served, second.served], axis=1) == pytest.approx(one.served, rel=1e-6, abs=1e-5)
    layout = whole.layout
    together = measure(layout, first, parts.lags(5)).plus(measure(layout, second, parts.lags(12)))
    alone = measure(layout, one, whole.lags(12))
    assert together.left == pytest.approx(alone.left, rel=1e-6, abs=1e-5)
    assert together.arrived == pytest.approx(alone.arrived, rel=1e-6, abs=1e-6)
    busy = alone.served > 1e-3
    assert together.latency[busy] == pytest.approx(alone.latency[busy], rel=1e-3, abs=1e-4)
    if alone.left > 1e-3:
        assert together.response == pytest.approx(alone.response, rel=1e-3, abs=1e-4)


@given(placements(max_operators=5, max_nodes=3))
def test_on_single_nodes_of_reference_speed_a_calm_application_takes_as_long_as_the_formulas_say(placed):
    application, infrastructure, deployment = placed
    # A table that ends at no load at all says nothing about any other: to the formulas nothing can be served.
    assume(not any(getattr(op.latency, "loads_tps", (1.0,))[-1] == 0 for op in application.operators))
    alike = Infrastructure(
        "alike",
        tuple(Node(node.name) for node in infrastructure.nodes),
        infrastructure.links,
        infrastructure.delays_ms,
        infrastructure.default_link,
    )
    single = Deployment.single({name: next(iter(replicas)) for name, replicas in deployment.items()})
    operators = tuple(
        Operator(op.name, op.kind, key=op.key, latency=op.latency, rate_tps=op.rate_tps)
        for op in application.with_source_rate(20.0).operators
    )
    simple = Application("simple", operators, application.streams)
    layout = layout_of(simple, alike, single)
    below = 0.97 * layout.servers.capacities()
    interval = IntervalFlow(layout).advance(EDGES, np.full(STEPS, 20.0))
    if (interval.arrived[:, 0] < below).all():
        expected = qos.response_time_ms(Placed(simple, alike, single))
        assert 1000 * interval.response.mean[-1] == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(placements(max_operators=5, max_nodes=3), rates, st.data())
def test_another_deployment_loses_nobody_who_waits(placed, brought, data):
    application, infrastructure, _ = placed
    flow = IntervalFlow(layout_of(*placed))
    flow.advance(EDGES, brought, range(len(application.operators)))
    before = flow.waiting()
    flow.rearrange(flow.layout.on(data.draw(deployments(application, infrastructure)), infrastructure, ()), 12.0)
    assert flow.waiting() == pytest.approx(before)


def test_a_line_that_takes_in_older_ones_is_as_old_as_they_are():
    line = WaitingLine()
    line.pass_through(np.array([90.0, 100.0]), np.array([10.0]), np.array([10.0]), Ages.none(1))
    assert (line.waiting, line.oldest(100.0)) == (10, 90)
    line.restart(20.0, 90.0, 100.0)
    assert (line.waiting, line.oldest(100.0)) == (20, 90)
    line.restart(30.0, 50.0, 100.0)
    assert (line.waiting, line.oldest(100.0)) == (30, 50)
    line.restart(0.0, 50.0, 100.0)
    assert (line.waiting, line.oldest(100.0)) == (0, 100)


def test_a_faster_node_serves_more_and_takes_less_time():
    application = Application("one", (Operator("s", Kind.SOURCE, latency=MM1(100), max_replicas=2),))
    nodes = Infrastructure("two", (Node("slow"), Node("fast", speedup=2.0)))
    slow, fast = (layout_of(application, nodes, Deployment.single({"s": name})) for name in ("slow", "fast"))
    assert (slow.capacities[0], fast.capacities[0]) == (100, 200)
    times = [IntervalFlow(layout).advance(EDGES, np.full(STEPS, 50.0)).response.mean[0] for layout in (slow, fast)]
    assert times == pytest.approx([1 / 50, 1 / 150])


@pytest.mark.parametrize(
    ("model", "capacity", "load", "milliseconds"),
    [
        pytest.param(MM1(100), 100, 50, 20, id="a queue"),
        pytest.param(Constant(7), float("inf"), 1e6, 7, id="a delay has no limit"),
        pytest.param(Tabulated((10, 20, 30), (1, 2, 9)), 30, 25, 5.5, id="measured points are joined"),
        pytest.param(Polynomial((1, 0.1), 40), 40, 20, 3, id="a fitted curve"),
    ],
)
def test_every_latency_model_is_served_by_its_own_rule(model, capacity, load, milliseconds):
    application = Application("one", (Operator("s", Kind.SOURCE, latency=model),))
    layout = layout_of(application, Infrastructure("i", (Node("n"),)), Deployment.single({"s": "n"}))
    assert capacity_tps(model) == capacity
    interval = IntervalFlow(layout).advance(EDGES, np.full(STEPS, float(load)))
    assert 1000 * interval.response.mean[-1] == pytest.approx(milliseconds)


def test_a_model_of_the_users_own_is_asked_where_it_ends():
    class Steep:
        kind = "steep"

        def latency_ms(self, load_tps):
            return 1.0 / (50 - load_tps) if load_tps < 50 else float("inf")

    assert capacity_tps(Steep()) == pytest.approx(50)
    application = Application("one", (Operator("s", Kind.SOURCE, latency=Steep()),))
    layout = layout_of(application, Infrastructure("i", (Node("n"),)), Deployment.single({"s": "n"}))
    assert np.isfinite(IntervalFlow(layout).advance(EDGES, np.full(STEPS, 80.0)).response.mean).all()


def test_bursts_make_tuples_wait_though_the_utilisation_stays():
    application = Application(
        "two",
        (Operator("s", Kind.SOURCE, latency=Constant()), Operator("rank", latency=MM1(500))),
        (Stream("s", "rank"),),
    )
    nodes, deployment = Infrastructure("i", (Node("n"),)), Deployment.single({"s": "n", "rank": "n"})
    calm = layout_of(application, nodes, deployment)
    bursty = layout_of(application, nodes, deployment, {"rank": Behaviour(burst=Burst(1.0))})
    measured = [
        measure(layout, IntervalFlow(layout).advance(EDGES, np.full(STEPS, 200.0)), np.zeros(2))
        for layout in (calm, bursty)
    ]
    assert measured[0].utilization == pytest.approx(measured[1].utilization)
    # 200 tuples at once take 0.4 s at 500 tuples/s; on average they wait for half of it.
    assert measured[1].response - measured[0].response == pytest.approx(0.2)


@pytest.mark.parametrize(
    "wrong",
    [lambda: Burst(0), lambda: Burst(1, 0), lambda: Burst(1, 1.1), lambda: Behaviour(-1), lambda: Behaviour(np.inf)],
)
def test_behaviours_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match=r"burst|variability"):
        wrong()


def test_a_behaviour_of_nobody_is_refused():
    with pytest.raises(ValueError, match="unknown operators: nobody"):
        Servers((Operator("s", Kind.SOURCE),), {"nobody": Behaviour()})
