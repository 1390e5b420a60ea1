"""Every formula of ODP and EDRP on the worked example, by hand."""

from math import inf, log

import pytest
from tests.model.worked import APPLICATION, DEPLOYMENT, INFRASTRUCTURE, PLACED

from rheostat.errors import InvalidModel
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.expansion import expand, expand_deployment
from rheostat.model.graph.latency import MM1
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.quality import qos
from rheostat.model.quality.evaluation import evaluate, overloaded_links, overloaded_nodes
from rheostat.model.quality.objective import Bounds, EdrpObjective, Metrics, OdpObjective, Range
from rheostat.model.quality.placed import Placed
from rheostat.model.quality.qos import NetworkMetric


def test_the_slowest_replica_is_the_latency_of_an_operator():
    """a: each replica gets 30 tps: 1000/(100-30) = 14.286 ms on u, half of it on v. b: 15 tps each: 1000/25 = 40 ms."""
    assert qos.operator_latencies_ms(PLACED) == pytest.approx([1000 / 70, 40.0])


def test_a_single_placement_divides_by_the_speedup_of_its_node():
    """a alone on v: 1000/(100-60)/2 = 12.5 ms; b alone on u: 1000/(40-30) = 100 ms."""
    placed = Placed(APPLICATION, INFRASTRUCTURE, Deployment.single({"a": "v", "b": "u"}))
    assert qos.operator_latencies_ms(placed) == pytest.approx([12.5, 100.0])


def test_an_operator_costs_its_replicas_times_its_resources():
    """a: 2 replicas x 2 $/h x 1.5 units = 6; b: 2 x 1 x 1 = 2."""
    assert qos.operator_costs(PLACED) == pytest.approx([6.0, 2.0])


def test_the_longest_way_between_two_replicas_is_the_delay_of_a_stream():
    """Pairs (u,u): 0 ms, (v,u): 20 ms."""
    assert qos.stream_delays_ms(PLACED) == pytest.approx([20.0])


def test_a_stream_pays_for_the_share_that_leaves_its_node():
    """30 tps over 2 x 2 pairs of replicas; two of them lie between v and u: 15 tps x 0.5 $/h = 7.5."""
    assert qos.stream_costs(PLACED) == pytest.approx([7.5])


def test_the_response_time_is_the_critical_path():
    """14.286 + 20 + 40 ms."""
    assert qos.response_time_ms(PLACED) == pytest.approx(1000 / 70 + 60)
    assert qos.critical_path(PLACED) == ("a", "b")


def test_a_path_sums_its_operators_and_its_streams():
    """The only path, summed by hand, and its first operator alone."""
    assert qos.path_delay_ms(PLACED, ("a", "b")) == pytest.approx(1000 / 70 + 20 + 40)
    assert qos.path_delay_ms(PLACED, ("a",)) == pytest.approx(1000 / 70)


def test_availability_counts_every_replica_and_every_pair_that_talks():
    """Replicas on u, v, u, u: 0.99³ x 0.9; two pairs (v,u): 0.95²; the pairs on u are perfect."""
    assert qos.availability(PLACED) == pytest.approx(0.99**3 * 0.9 * 0.95**2)
    assert qos.log_availability(PLACED) == pytest.approx(3 * log(0.99) + log(0.9) + 2 * log(0.95))


def test_the_cost_is_all_operators_and_all_streams():
    """6 + 2 + 7.5."""
    assert qos.cost_per_hour(PLACED) == pytest.approx(15.5)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        pytest.param(NetworkMetric.TRAFFIC, 15.0, id="T: 15 tps from v to u"),
        pytest.param(NetworkMetric.USAGE, 300.0, id="N: 15 tps x 20 ms"),
        pytest.param(NetworkMetric.ELASTIC_ENERGY, 6000.0, id="EE: 15 tps x (20 ms)²"),
    ],
)
def test_network_metrics_weigh_what_flows_by_how_far_it_flows(metric, value):
    assert qos.network_metric(PLACED, metric) == pytest.approx(value)


def test_traffic_of_a_stream_is_what_crosses_nodes():
    assert qos.stream_traffic_tps(PLACED) == pytest.approx([15.0])


def test_usage_of_a_stream_is_weighed_by_delay():
    assert qos.stream_usage(PLACED) == pytest.approx([300.0])


def test_elastic_energy_of_a_stream_is_weighed_by_the_square_of_the_delay():
    assert qos.stream_elastic_energy(PLACED) == pytest.approx([6000.0])


def test_resources_add_up_per_node():
    """u: one a (1.5) and two b (2 x 1); v: one a."""
    assert qos.resource_use(PLACED) == pytest.approx([3.5, 1.5])


def test_link_loads_add_up_per_path():
    """Only v -> u is used between nodes."""
    u, v, loads = qos.link_loads_tps(PLACED)
    assert (u.tolist(), v.tolist(), loads.tolist()) == ([1], [0], [pytest.approx(15.0)])


def test_what_is_too_much_is_named():
    """15 tps over a path that carries 12; u holds 4 units and is asked for 4.5 by three b and one a."""
    assert overloaded_links(PLACED) == {("v", "u"): (pytest.approx(15.0), 12.0)}
    assert overloaded_nodes(PLACED) == {}
    crowded = Application("crowded", (*APPLICATION.operators[:1], Operator("b", max_replicas=3)), APPLICATION.streams)
    placed = Placed(crowded, INFRASTRUCTURE, Deployment.of({"a": {"u": 1}, "b": {"u": 3}}))
    assert overloaded_nodes(placed) == {"u": (4.5, 4.0)}


def test_the_cost_objective_weighs_normalised_metrics():
    """0.5 x 80/160 + 0.3 x 15/30 + 0.2 x 1.5/7.5 = 0.25 + 0.15 + 0.04."""
    objective = EdrpObjective(0.5, 0.3, 0.2, Bounds(160, 30, 7.5))
    assert objective.cost_of(Metrics(80, cost_per_hour=15, downtime_seconds=1.5)) == pytest.approx(0.44)


def test_the_utility_weighs_response_time_and_availability():
    """R 30 in [20, 40]: 0.5. log A halfway between log 0.9 and log 1: A = 0.9^0.5: 0.5. Weights 0.8 and 0.2."""
    objective = OdpObjective(0.8, 0.2, response_time_range=Range(20, 40), availability_range=Range(0.9, 1.0))
    assert objective.utility_of(Metrics(30, availability=0.9**0.5)) == pytest.approx(0.5)
    assert objective.utility_of(Metrics(20, availability=1.0)) == pytest.approx(1.0)
    assert objective.utility_of(Metrics(40, availability=0.9)) == pytest.approx(0.0)


def test_the_network_utility_adds_its_term():
    """0.5 x (40-30)/(40-20) + 0.5 x (100-25)/(100-0) = 0.25 + 0.375."""
    objective = OdpObjective(
        0.5, 0.0, 0.5, NetworkMetric.USAGE, response_time_range=Range(20, 40), network_range=Range(0, 100)
    )
    assert objective.utility_of(Metrics(30, network=25)) == pytest.approx(0.625)


def test_a_metric_without_a_choice_is_as_good_as_it_gets():
    objective = OdpObjective(1.0, response_time_range=Range(30, 30))
    assert objective.utility_of(Metrics(30)) == 1.0


def test_a_hop_is_paid_only_by_streams_that_leave_their_query():
    """a and b on the same nodes fuse; on different ones the hop of 100 ms is on top of the network's 20 ms."""
    together = Deployment.of({"a": {"u": 1}, "b": {"u": 1}})
    assert qos.stream_delays_ms(Placed(APPLICATION, INFRASTRUCTURE, together, hop_ms=100)) == pytest.approx([0.0])
    assert qos.stream_delays_ms(Placed(APPLICATION, INFRASTRUCTURE, DEPLOYMENT, hop_ms=100)) == pytest.approx([120.0])


def test_a_saturated_operator_has_no_finite_response_time_and_is_named():
    flooded = APPLICATION.with_source_rate(500)
    evaluation = evaluate(Placed(flooded, INFRASTRUCTURE, DEPLOYMENT))
    assert evaluation.response_time_ms == inf
    assert evaluation.saturated == ("a", "b")


def test_the_prototype_loses_as_much_availability_as_the_paper_says():
    """ODP 7.1: 8 of 12 executors on nodes of 99 %: 0.99^8 = 92.27 %, counted per executor, not per node."""
    operators = tuple(Operator(f"o{i}", Kind.SOURCE, max_replicas=12) for i in range(1))
    twelve = Application("twelve", operators)
    nodes = Infrastructure("two", (Node("good", 12), Node("bad", 12, availability=0.99)))
    deployment = Deployment.of({"o0": {"bad": 8, "good": 4}})
    assert qos.availability(Placed(twelve, nodes, deployment)) == pytest.approx(0.9227, abs=5e-5)
    single = Placed(expand(twelve, {"o0": 12}), nodes, expand_deployment(deployment))
    assert qos.availability(single) == pytest.approx(0.99**8)


@pytest.mark.parametrize(("rate", "total"), [(70, 25.5), (105, 31.3), (190, 72.5), (205, 97.7), (220, 161.8)])
def test_the_papers_service_rates_add_up_to_the_latency_they_imply(rate, total):
    """Source, parser, filter, computeRoute and count of EDRP Table II in a row on one node, one replica each."""
    rates = (284, 233, 253, 253, 335)
    head = Operator("o0", Kind.SOURCE, latency=MM1(rates[0]), rate_tps=rate)
    chain = (head, *(Operator(f"o{i}", latency=MM1(mu)) for i, mu in enumerate(rates[1:], start=1)))
    streams = tuple(Stream(f"o{i}", f"o{i + 1}") for i in range(4))
    application = Application("chain", chain, streams)
    node = Infrastructure("one", (Node("n", 5),))
    placed = Placed(application, node, Deployment.single({op.name: "n" for op in chain}))
    assert qos.response_time_ms(placed) == pytest.approx(total, abs=0.051)


def test_a_deployment_of_something_else_is_refused_with_every_reason():
    with pytest.raises(InvalidModel) as refusal:
        Placed(APPLICATION, INFRASTRUCTURE, Deployment.of({"a": {"w": 1}, "c": {"u": 1}}))
    text = str(refusal.value)
    assert "'b' is not deployed" in text
    assert "no node 'w'" in text
    assert "no operator 'c'" in text
