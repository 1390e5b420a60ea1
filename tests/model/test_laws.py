"""Laws for every application, network and deployment."""

from dataclasses import replace
from math import inf, isinf
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rheostat.model.downtime.downtime_model import CurrentDeployment, downtime_seconds
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.downtime.measured_pauses import Measured
from rheostat.model.downtime.pause_and_resume import PauseAndResume, downloaded_bytes, uploaded_bytes
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.expansion import collapse_deployment, expand, expand_deployment
from rheostat.model.graph.fragments import fragments
from rheostat.model.graph.latency import MM1
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.quality import qos
from rheostat.model.quality.evaluation import evaluate
from rheostat.model.quality.placed import Placed
from rheostat.model.quality.qos import NetworkMetric
from tests.strategies import deployments, placements

if TYPE_CHECKING:
    from rheostat.model.graph.application import Application

MODELS = st.sampled_from([PauseAndResume(), FullRestart(), Measured()])


@given(placements(), st.sampled_from([0.0, 50.0]))
def test_response_time_by_dynamic_programming_is_the_maximum_over_all_paths(parts, hop_ms):
    placed = Placed(*parts, hop_ms=hop_ms)
    by_listing = max(qos.path_delay_ms(placed, path) for path in qos.all_paths(placed))
    assert qos.response_time_ms(placed) == pytest.approx(by_listing)


@given(placements())
def test_the_critical_path_is_a_source_sink_path_of_that_length(parts):
    placed = Placed(*parts)
    path = qos.critical_path(placed)
    assert path in set(qos.all_paths(placed))
    assert qos.path_delay_ms(placed, path) == pytest.approx(qos.response_time_ms(placed))


@given(placements(), st.floats(1, 1000))
def test_another_replica_on_an_equal_node_never_raises_a_queues_latency(parts, service_rate):
    application, infrastructure, deployment = parts
    operator = application.operators[0]
    queue = replace(operator, latency=MM1(service_rate), max_replicas=99)
    application = replace(application, operators=(queue, *application.operators[1:]))
    node = next(iter(deployment[operator.name]))
    more = deployment.having(operator.name, deployment[operator.name].plus(node))
    before = qos.operator_latencies_ms(Placed(application, infrastructure, deployment))[0]
    after = qos.operator_latencies_ms(Placed(application, infrastructure, more))[0]
    assert after <= before


@given(placements(), st.data())
def test_everything_on_one_node_leaves_nothing_on_the_network(parts, data):
    application, infrastructure, deployment = parts
    free = tuple(replace(operator, pin=None, candidates=()) for operator in application.operators)
    node = data.draw(st.sampled_from([node.name for node in infrastructure.nodes]))
    together = Deployment.of({name: {node: len(replicas)} for name, replicas in deployment.items()})
    placed = Placed(replace(application, operators=free), infrastructure, together)
    assert [qos.network_metric(placed, metric) for metric in NetworkMetric] == [0.0, 0.0, 0.0]
    assert qos.stream_costs(placed).sum() == 0
    assert len(qos.link_loads_tps(placed)[0]) == 0


@given(placements())
def test_executors_placed_one_by_one_are_the_multiset(parts):
    """ODP on the graph of replicas and EDRP's multisets are two views of one deployment."""
    application, infrastructure, deployment = parts
    degrees = {name: len(replicas) for name, replicas in deployment.items()}
    singles = expand_deployment(deployment)
    whole = evaluate(Placed(application, infrastructure, deployment))
    parts_ = evaluate(Placed(expand(application, degrees), infrastructure, singles))
    assert collapse_deployment(application, singles) == deployment
    assert parts_.response_time_ms <= whole.response_time_ms + 1e-9
    for name in ("availability", "cost_per_hour", "traffic_tps", "network_usage", "elastic_energy"):
        assert getattr(parts_, name) == pytest.approx(getattr(whole, name)), name
    assert parts_.overloaded_nodes.keys() == whole.overloaded_nodes.keys()


@given(placements())
def test_what_flows_between_nodes_is_what_the_links_carry(parts):
    placed = Placed(*parts)
    _, _, loads = qos.link_loads_tps(placed)
    assert loads.sum() == pytest.approx(qos.network_metric(placed, NetworkMetric.TRAFFIC))


@given(placements(), MODELS)
def test_staying_is_no_change_and_takes_no_time(parts, model):
    _application, _infrastructure, deployment = parts
    assert not Reconfiguration.between(deployment, deployment)
    assert downtime_seconds(model, CurrentDeployment(*parts), deployment) == 0
    assert evaluate(Placed(*parts), deployment, model).downtime_seconds == 0


@given(placements(), MODELS, st.data())
def test_a_change_takes_time_and_applying_it_gives_what_was_wanted(parts, model, data):
    application, infrastructure, current = parts
    wanted = data.draw(deployments(application, infrastructure))
    change = Reconfiguration.between(current, wanted)
    assert change.apply(current) == wanted
    assert (downtime_seconds(model, CurrentDeployment(*parts), wanted) > 0) == bool(change) or isinstance(
        model, Measured
    )
    for one in change.changes:
        assert sum(one.added.values()) - sum(one.removed.values()) == len(one.after) - len(one.before)


@given(placements(), st.data())
def test_a_change_from_elsewhere_is_refused(parts, data):
    application, infrastructure, current = parts
    wanted = data.draw(deployments(application, infrastructure))
    change = Reconfiguration.between(current, wanted)
    assume(change)
    with pytest.raises(ValueError, match="does not start from"):
        change.apply(wanted)


@given(placements(), st.data())
def test_what_is_uploaded_is_what_is_downloaded(parts, data):
    application, infrastructure, current = parts
    wanted = data.draw(deployments(application, infrastructure))
    for change in Reconfiguration.between(current, wanted).changes:
        operator = application.by_name[change.operator]
        up = sum(uploaded_bytes(operator, u, change.before, change.after) for u in change.before)
        down = sum(downloaded_bytes(operator, v, change.before, change.after) for v in change.after)
        assert up == pytest.approx(down)


@given(placements(), st.data())
def test_restarting_everything_is_never_quicker_for_the_others(parts, data):
    """With the same synchronisation time, an engine that restarts everything makes the unchanged wait, too."""
    application, infrastructure, current = parts
    wanted = data.draw(deployments(application, infrastructure))
    assume(Reconfiguration.between(current, wanted))
    restart = FullRestart(sync_seconds=0.25)
    situation = CurrentDeployment(*parts)
    waits = [restart.unchanged_seconds(situation, operator) for operator in application.operators]
    assert downtime_seconds(restart, situation, wanted) >= max(waits)


@given(placements())
def test_rates_are_conserved(parts):
    application: Application = parts[0]
    rates = application.rates
    for name in application.flow:
        inputs = application.inputs[name]
        received = sum(rates.streams[s.ends] for s in inputs) if inputs else application.by_name[name].rate_tps
        assert rates.operators[name] == pytest.approx(received)
        for stream in application.outputs[name]:
            if stream.rate_tps is None:
                assert rates.streams[stream.ends] == pytest.approx(received * stream.selectivity)


@given(placements())
def test_fragments_cover_every_operator_once_in_order_of_flow(parts):
    application, _, deployment = parts
    found = fragments(application, deployment)
    names = [name for fragment in found for name in fragment.operators]
    assert sorted(names) == sorted(application.flow)
    for fragment in found:
        stateful = [name for name in fragment.operators if application.by_name[name].is_stateful]
        assert len(stateful) <= 1
        assert {deployment[name] for name in fragment.operators} == {fragment.replicas}


@given(placements())
def test_paths_in_a_network_obey_the_triangle_where_they_were_routed(parts):
    infrastructure = parts[1]
    assume(infrastructure.links)
    delays = infrastructure.network.delay_ms
    through = (delays[:, :, None] + delays[None, :, :]).min(axis=1)
    assert (delays <= through + 1e-9).all()


@given(placements())
def test_a_metric_is_a_number_or_infinite_never_nan(parts):
    evaluation = evaluate(Placed(*parts))
    assert evaluation.response_time_ms >= 0
    assert 0 <= evaluation.availability <= 1
    assert 0 <= evaluation.cost_per_hour < inf
    assert isinf(evaluation.response_time_ms) == bool(evaluation.saturated)


@given(st.lists(st.sampled_from("uvwx"), min_size=1, max_size=6))
def test_a_multiset_does_not_care_for_order_and_counts_right(nodes):
    replicas = Replicas.on(*nodes)
    assert replicas == Replicas.on(*reversed(nodes))
    assert hash(replicas) == hash(Replicas.on(*sorted(nodes)))
    assert len(replicas) == len(nodes)
    assert all(replicas[node] == nodes.count(node) for node in "uvwx")
