from itertools import pairwise

import pytest

from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.expansion import expand, expand_deployment
from rheostat.model.quality.placed import Placed
from rheostat.model.quality.qos import availability, response_time_ms
from rheostat.reference import APPLICATIONS, NETWORKS
from rheostat.reference.networks import odp_testbed
from rheostat.reference.patterns import DETECTOR_SECONDS_PER_TWEET, EXECUTORS, PHASES_TPS, TASKS, frequent_patterns
from rheostat.reference.tag_and_count import TESTBED_PINS, tag_and_count
from rheostat.reference.word_count import PEAK_TPS, STATIC_REPLICAS, word_count

MIDDLE = ("tag", "split", "normalise", "count", "format")


@pytest.mark.parametrize("name", APPLICATIONS)
def test_every_application_builds_without_arguments_always_the_same(name):
    assert APPLICATIONS[name]() == APPLICATIONS[name]()
    assert all(rate >= 0 for rate in APPLICATIONS[name]().rates.operators.values())


@pytest.mark.parametrize("application", APPLICATIONS)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_application_fits_every_network(application, network):
    assert NETWORKS[network]().mistakes_of(APPLICATIONS[application]()) == []


def eight_of_twelve_executors_on_unreliable_nodes():
    placed = {name: {"worker5": 1, "worker6": 1} for name in MIDDLE[:4]}
    pinned = {"source": {"worker1": 1}, "consumer": {"worker4": 1}}
    return Deployment.of({**placed, **pinned, "format": {"worker4": 2}})


def test_tag_and_count_has_twelve_executors_and_its_ends_are_pinned_to_nodes_that_are_always_up():
    application, network = tag_and_count(pins=TESTBED_PINS), odp_testbed()
    assert sum(op.max_replicas for op in application.operators) == 12
    assert sum(op.min_replicas for op in application.operators) == 12
    assert [op.pin for op in application.operators if op.pin] == list(TESTBED_PINS)
    assert [network.nodes[network.index[node]].availability for node in TESTBED_PINS] == [1.0, 1.0]


def test_tag_and_count_flows_as_documented():
    flows = tag_and_count().rates.operators
    assert [flows[name] for name in ("source", *MIDDLE, "consumer")] == [10, 10, 10, 50, 50, 50, 50]


def test_eight_of_twelve_executors_on_99_percent_nodes_are_available_92_27_percent():
    application, network = tag_and_count(pins=TESTBED_PINS), odp_testbed()
    deployment = eight_of_twelve_executors_on_unreliable_nodes()
    multisets = Placed(application, network, deployment)
    degrees = {name: len(replicas) for name, replicas in deployment.items()}
    executors = Placed(expand(application, degrees), network, expand_deployment(deployment))
    assert availability(multisets) == pytest.approx(0.99**8)
    assert availability(executors) == pytest.approx(0.99**8)
    assert round(100 * availability(executors), 2) == 92.27
    # The multiset formula takes the slowest pair of every stream, whether or not one path goes through all of them.
    assert response_time_ms(executors) <= response_time_ms(multisets)


def test_tag_and_count_can_be_fully_available():
    placed = {
        **{name: {"worker2": 1, "worker3": 1} for name in MIDDLE},
        "source": {"worker1": 1},
        "consumer": {"worker4": 1},
    }
    application = tag_and_count(pins=TESTBED_PINS)
    assert availability(Placed(application, odp_testbed(), Deployment.of(placed))) == 1.0


def test_frequent_patterns_has_the_executors_and_tasks_of_table_i():
    operators = frequent_patterns().by_name
    assert {name: (EXECUTORS[name], op.max_replicas, op.min_replicas) for name, op in operators.items()} == {
        "Input": (1, 1, 1),
        "Generator": (2, 2, 1),
        "Detector": (5, 20, 1),
        "Reporter": (1, 1, 1),
    }
    assert {name: op.max_replicas for name, op in operators.items()} == TASKS


def doubled_or_halved(replicas, utilization, most):
    """What Elastic Storm's thresholds make of evenly loaded executors."""
    if utilization > 0.7:
        return min(2 * replicas, most)
    return max(replicas // 2, 1) if utilization < 0.2 else replicas


@pytest.mark.parametrize(
    ("operator", "history"),
    [("Detector", [20, 10, 5, 10, 20, 10, 5]), ("Generator", [2, 1]), ("Input", [1]), ("Reporter", [1])],
)
def test_the_derived_costs_give_the_papers_sequence_of_executors(operator, history):
    replicas, seen = history[0], [history[0]]
    for rate in PHASES_TPS:
        application = frequent_patterns(rate)
        load, serves = application.rates.operators[operator], application.by_name[operator].latency.service_rate_tps
        for _ in range(7):
            replicas = doubled_or_halved(replicas, load / replicas / serves, TASKS[operator])
            seen.append(replicas)
    assert [seen[0], *(b for a, b in pairwise(seen) if a != b)] == history


def test_five_detectors_without_elasticity_keep_up_in_the_first_phase_and_from_the_fourth_on():
    busy = [rate * DETECTOR_SECONDS_PER_TWEET / EXECUTORS["Detector"] for rate in PHASES_TPS]
    assert [load < 1 for load in busy] == [True, False, False, True, True]


def test_the_state_of_the_detector_grows_with_the_load_from_2_to_16_megabytes():
    sizes = [frequent_patterns(rate).by_name["Detector"].state_bytes / 1e6 for rate in (120.0, 900.0)]
    assert sizes == pytest.approx([2.13, 16.0], abs=0.01)


@pytest.mark.parametrize("words", [5.0, 10.0, 20.0])
def test_word_count_at_its_peak_needs_just_the_static_replicas(words):
    application = word_count(PEAK_TPS, words)
    for operator in application.operators:
        load, serves = application.rates.operators[operator.name], operator.latency.service_rate_tps
        replicas = STATIC_REPLICAS[operator.name]
        assert load / replicas / serves <= 0.7
        assert replicas == 1 or load / (replicas - 1) / serves > 0.7


def test_word_count_has_fifteen_static_replicas_and_flows_as_documented():
    assert sum(STATIC_REPLICAS.values()) == 15
    flows = word_count().rates.operators
    assert [flows[name] for name in ("datasource", "split", "counter", "consumer")] == [5, 5, 50, 50]
