"""Result of each heuristic by its own criterion, on problems that can be followed by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.latency import MM1, Constant
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.quality.objective import Bounds, EdrpObjective, OdpObjective
from rheostat.model.quality.qos import NetworkMetric
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.exact.exact import Exact
from rheostat.planning.heuristics.balanced import Balanced
from rheostat.planning.heuristics.executors import Executors
from rheostat.planning.heuristics.greedy import Greedy
from rheostat.planning.heuristics.latency_space import Embedding, Survey
from rheostat.planning.heuristics.pietzuch import Pietzuch, spring_rest
from rheostat.planning.heuristics.relaxation import RelaxationLimits
from rheostat.planning.heuristics.rizou import Rizou, median_rest
from rheostat.planning.heuristics.round_robin import RoundRobin
from rheostat.planning.heuristics.tstorm import TStorm, inter_node_traffic_tps
from rheostat.reference.networks import odp_testbed, random_geographic
from rheostat.reference.tag_and_count import TESTBED_PINS, tag_and_count
from rheostat.reference.taxi import taxi

USAGE = OdpObjective(0.0, 0.0, 1.0, NetworkMetric.USAGE)
TRAFFIC = OdpObjective(0.0, 0.0, 1.0, NetworkMetric.TRAFFIC)


def chain(*rates: float, pins: tuple[str | None, str | None] = (None, None)) -> Application:
    """Operators a, b, c, ... with these rates between them, the ends pinned."""
    names = "abcdefgh"[: len(rates) + 1]
    kinds = [Kind.SOURCE, *[Kind.STATELESS] * (len(names) - 2), Kind.SINK]
    places = [pins[0], *[None] * (len(names) - 2), pins[1]]
    operators = tuple(
        Operator(
            name,
            kind,
            pin=place,
            latency=Constant(1.0),
            rate_tps=rates[0] if kind is Kind.SOURCE else 0.0,
        )
        for name, kind, place in zip(names, kinds, places, strict=True)
    )
    streams = tuple(Stream(a, b, rate_tps=rate) for a, b, rate in zip(names[:-1], names[1:], rates, strict=True))
    return Application("chain", operators, streams)


def on_a_line(*positions_ms: float, resources: float = 4.0) -> Infrastructure:
    """Nodes n0, n1, ... whose delays are the distances of their places on a line."""
    places = np.array(positions_ms)
    nodes = tuple(Node(f"n{u}", resources=resources) for u in range(len(places)))
    return Infrastructure("line", nodes, delays_ms=DelayMatrix.of(np.abs(places[:, None] - places[None])))


def where(outcome: Outcome) -> dict[str, str]:
    """Operator -> its nodes, in words."""
    assert outcome.deployment is not None, outcome.conflict
    return {name: ",".join(replicas) for name, replicas in outcome.deployment.items()}


class TestRoundRobin:
    def test_one_executor_after_the_other_on_one_node_after_the_other(self) -> None:
        outcome = RoundRobin().plan(Problem(chain(1, 1, 1, 1), on_a_line(0, 1, 2)))
        assert where(outcome) == {"a": "n0", "b": "n1", "c": "n2", "d": "n0", "e": "n1"}

    def test_a_full_node_is_passed_over(self) -> None:
        outcome = RoundRobin().plan(Problem(chain(1, 1, pins=("n1", None)), on_a_line(0, 1, 2, resources=1)))
        assert where(outcome) == {"a": "n1", "b": "n0", "c": "n2"}

    def test_nobody_takes_the_only_place_of_a_pinned_operator(self) -> None:
        outcome = RoundRobin().plan(Problem(chain(1, 1, pins=(None, "n0")), on_a_line(0, 1, 2, resources=1)))
        assert where(outcome) == {"a": "n1", "b": "n2", "c": "n0"}


class TestBalanced:
    def test_as_many_on_each_of_a_few_nodes(self) -> None:
        outcome = Balanced(2).plan(Problem(chain(1, 1, 1), on_a_line(0, 1, 2, 3)))
        assert where(outcome) == {"a": "n0", "b": "n1", "c": "n0", "d": "n1"}

    def test_nodes_of_pinned_operators_are_among_the_few(self) -> None:
        outcome = Balanced(2).plan(Problem(chain(1, 1, 1, pins=("n3", None)), on_a_line(0, 1, 2, 3)))
        assert set(where(outcome).values()) == {"n0", "n3"}

    def test_where_the_few_do_not_suffice_others_are_taken(self) -> None:
        outcome = Balanced(1).plan(Problem(chain(1, 1, 1), on_a_line(0, 1, 2, resources=2)))
        assert where(outcome) == {"a": "n0", "b": "n0", "c": "n1", "d": "n1"}

    def test_no_node_at_all_is_refused(self) -> None:
        with pytest.raises(ValueError, match="at least one node"):
            Balanced(0)


class TestTStorm:
    def test_those_who_talk_most_come_together(self) -> None:
        # b and c exchange most, so they share a node; a and d take the other, each node holding 4 / 2.
        outcome = TStorm().plan(Problem(chain(1, 100, 1), on_a_line(0, 1), TRAFFIC))
        placed = where(outcome)
        assert placed["b"] == placed["c"]
        assert placed["a"] == placed["d"] != placed["b"]

    def test_a_node_holds_its_share_unless_consolidation_says_more(self) -> None:
        problem = Problem(chain(5, 5, 5), on_a_line(0, 1), TRAFFIC)
        spread, together = TStorm().plan(problem), TStorm(consolidation=2.0).plan(problem)
        assert spread.evaluation is not None
        assert together.evaluation is not None
        assert len(set(where(spread).values())) == 2
        assert together.evaluation.traffic_tps == 0

    def test_one_slot_of_a_node_is_used(self) -> None:
        nodes = tuple(Node(f"n{u}", worker_slots=2, executors_per_slot=2) for u in range(2))
        problem = Problem(chain(5, 5, 5), Infrastructure("slots", nodes), TRAFFIC)
        one, both = TStorm(2.0).plan(problem), TStorm(2.0, slots_per_node=2).plan(problem)
        assert sorted(where(one).values()) == ["n0", "n0", "n1", "n1"]
        assert len(set(where(both).values())) == 1

    def test_what_runs_is_left_alone_unless_the_traffic_falls(self) -> None:
        problem = Problem(chain(5, 5, 5), on_a_line(0, 1), TRAFFIC)
        swapped = Deployment.single({"a": "n1", "b": "n1", "c": "n0", "d": "n0"})
        stays = TStorm().plan(replace(problem, current=swapped))
        assert stays.deployment == swapped
        assert stays.effort.reassignments == 0
        poor = Deployment.single({"a": "n1", "b": "n0", "c": "n1", "d": "n0"})
        moves = TStorm().plan(replace(problem, current=poor))
        assert moves.effort.reassignments == 1
        assert moves.evaluation is not None
        # From 15 to 10, where 5 is possible: b and c come first and take a node for themselves.
        assert moves.evaluation.traffic_tps == 10

    @pytest.mark.parametrize("wrong", [{"consolidation": 0.5}, {"slots_per_node": 0}, {"consolidation": np.inf}])
    def test_what_leaves_no_room_is_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ValueError, match="consolidation"):
            TStorm(**wrong)  # type: ignore[arg-type]


class TestGreedy:
    def test_each_goes_where_its_input_is(self) -> None:
        outcome = Greedy().plan(Problem(chain(1, 1, pins=("n1", None)), on_a_line(0, 10, 20)))
        assert set(where(outcome).values()) == {"n1"}

    def test_replicas_are_added_while_that_pays(self) -> None:
        busy = Application("busy", (Operator("s", Kind.SOURCE, latency=MM1(110), rate_tps=100, max_replicas=4),))
        objective = EdrpObjective(0.5, 0.5, 0.0, Bounds(100.0, 10.0))
        outcome = Greedy().plan(Problem(busy, on_a_line(0), objective))
        assert outcome.deployment == Deployment.of({"s": {"n0": 2}})
        assert outcome.objective == pytest.approx(0.5 * (1000 / 60) / 100 + 0.5 * 2 / 10)

    def test_what_runs_after_is_not_known_yet_so_it_can_be_led_astray(self) -> None:
        # The source may go anywhere and takes the first node; the sink is far away.
        problem = Problem(chain(1, 1, pins=(None, "n1")), on_a_line(0, 50, 51, 52, resources=1))
        greedy, best = Greedy().plan(problem), Exact().plan(problem)
        assert greedy.objective is not None
        assert best.objective is not None
        assert greedy.objective < best.objective


class TestLatencySpace:
    def test_a_network_in_the_plane_is_learnt(self) -> None:
        delays = np.array(random_geographic(15, 3).network.delay_ms)
        space = Survey(delays, Embedding()).space()
        assert space.relative_error(delays) < 0.1
        assert np.diag(space.delay_ms).tolist() == [0.0] * 15

    def test_one_that_is_not_in_the_plane_is_not(self) -> None:
        rng = np.random.default_rng(1)
        delays = rng.uniform(1, 40, (15, 15))
        assert Survey(delays, Embedding()).space().relative_error(delays) > 0.2

    def test_without_jitter_the_same_seed_gives_the_same_space(self) -> None:
        delays = np.array(odp_testbed().network.delay_ms)
        first, again = Survey(delays, Embedding(seed=4)).space(), Survey(delays, Embedding(seed=4)).space()
        assert np.array_equal(first.points, again.points)

    def test_a_single_node_and_delays_of_nothing_have_a_space_too(self) -> None:
        assert Survey(np.zeros((1, 1)), Embedding()).space().delay_ms.tolist() == [[0.0]]
        assert np.isfinite(Survey(np.zeros((3, 3)), Embedding()).space().points).all()

    @pytest.mark.parametrize("wrong", [{"dimensions": 0}, {"rounds": 0}, {"jitter_ms": -1.0}, {"jitter_ms": np.nan}])
    def test_what_is_no_space_is_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ValueError, match="dimensions and rounds"):
            Embedding(**wrong)  # type: ignore[arg-type]

    @pytest.mark.parametrize("wrong", [{"rounds": 0}, {"threshold": 1.0}, {"rest_ms": 0.0}, {"refreshed": -1}])
    def test_a_patience_that_is_none_is_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ValueError, match="need"):
            RelaxationLimits(**wrong)  # type: ignore[arg-type]


POINTS = st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100), st.floats(0.1, 50)), min_size=1, max_size=6)


class TestRest:
    @settings(max_examples=40, deadline=None)
    @given(POINTS, st.floats(-1, 1), st.floats(-1, 1))
    def test_springs_rest_where_the_energy_is_least(
        self, given_: list[tuple[float, float, float]], x: float, y: float
    ) -> None:
        table = np.array(given_)
        points, traffic = table[:, :2], table[:, 2]

        def energy(at: np.ndarray) -> float:
            return float(traffic @ (np.linalg.norm(points - at, axis=1) ** 2))

        rest = spring_rest(points, traffic, np.zeros(2))
        assert energy(rest) <= energy(rest + np.array([x, y])) + 1e-6

    @settings(max_examples=40, deadline=None)
    @given(POINTS, st.floats(-1, 1), st.floats(-1, 1))
    def test_medians_rest_where_the_usage_is_least(
        self, given_: list[tuple[float, float, float]], x: float, y: float
    ) -> None:
        table = np.array(given_)
        points, traffic = table[:, :2], table[:, 2]

        def usage(at: np.ndarray) -> float:
            return float(traffic @ np.linalg.norm(points - at, axis=1))

        rest = settled(points, traffic)
        # Distances are rounded off by a millisecond.
        assert usage(rest) <= usage(rest + 10 * np.array([x, y])) + traffic.sum()

    def test_the_heavier_of_two_neighbours_wins_the_median_and_only_bends_the_spring(self) -> None:
        points, traffic = np.array([[0.0, 0.0], [10.0, 0.0]]), np.array([3.0, 1.0])
        assert settled(points, traffic)[0] < 0.5
        assert spring_rest(points, traffic, np.zeros(2)).tolist() == [2.5, 0.0]


def settled(points: np.ndarray, traffic: np.ndarray) -> np.ndarray:
    """Where the steps of the median end."""
    here = points.mean(axis=0)
    for _ in range(2000):
        before, here = here, median_rest(points, traffic, here)
        if np.linalg.norm(here - before) < 1e-4:
            break
    return here


class TestDecentralised:
    PROBLEM = Problem(chain(3, 1, pins=("n0", "n4")), on_a_line(0, 25, 50, 75, 100, resources=1), USAGE)

    def test_a_spring_stops_half_way_a_median_goes_all_the_way(self) -> None:
        assert where(Pietzuch(None).plan(self.PROBLEM))["b"] == "n1"
        roomy = replace(self.PROBLEM, infrastructure=on_a_line(0, 25, 50, 75, 100, resources=2))
        assert where(Rizou(None).plan(roomy))["b"] == "n0"
        assert where(Rizou().plan(roomy))["b"] == "n0"
        assert where(Pietzuch().plan(roomy))["b"] == "n1"

    def test_a_full_node_is_replaced_by_the_nearest_with_room(self) -> None:
        assert where(Rizou(None).plan(self.PROBLEM))["b"] == "n1"
        assert where(Rizou().plan(self.PROBLEM))["b"] == "n1"

    @pytest.mark.parametrize("planner", [Pietzuch(), Pietzuch(None), Rizou(), Rizou(None)])
    def test_re_assignments_are_counted_until_nobody_moves(self, planner: Pietzuch | Rizou) -> None:
        first = planner.plan(self.PROBLEM)
        assert first.deployment is not None
        again = planner.plan(replace(self.PROBLEM, current=first.deployment))
        assert again.deployment == first.deployment
        assert again.effort.reassignments == 0
        far = Deployment.single({"a": "n0", "b": "n3", "c": "n4"})
        assert planner.plan(replace(self.PROBLEM, current=far)).effort.reassignments == 1

    def test_a_gain_below_the_threshold_moves_nobody(self) -> None:
        far = Deployment.single({"a": "n0", "b": "n2", "c": "n4"})
        stubborn = Rizou(None, RelaxationLimits(threshold=0.9)).plan(replace(self.PROBLEM, current=far))
        assert stubborn.deployment == far

    def test_jitter_keeps_coordinates_and_operators_moving(self) -> None:
        problem = Problem(tag_and_count(pins=TESTBED_PINS), odp_testbed(), USAGE)
        calm = Pietzuch(patience=RelaxationLimits(threshold=0.0)).plan(problem)
        nervous = Pietzuch(Embedding(jitter_ms=6.0), RelaxationLimits(threshold=0.0)).plan(problem)
        assert calm.effort.note.startswith("stable")
        assert calm.effort.reassignments is not None
        assert nervous.effort.reassignments is not None
        assert nervous.effort.reassignments > calm.effort.reassignments


class TestExecutors:
    def executors(self) -> Executors:
        return Executors.of(EncodedProblem(normalised(Problem(taxi(120), random_geographic(6)))))

    def test_as_few_of_every_operator_as_keep_up(self) -> None:
        # 21 x 120 tuples/s are more than the 2371 that one partialRank serves.
        executors = self.executors()
        names = [executors.instance.names[i] for i in executors.operator]
        assert names.count("partialRank") == 2
        assert len(names) == 9

    def test_traffic_is_that_of_the_model(self) -> None:
        executors = self.executors()
        nodes = np.arange(9) % 6
        told = executors.instance.problem.evaluated(executors.deployment(nodes))
        assert inter_node_traffic_tps(executors, nodes) == pytest.approx(told.traffic_tps)

    def test_a_deployment_comes_back_from_its_executors(self) -> None:
        executors = self.executors()
        begun = RoundRobin().place(executors, Deadline())
        assert not isinstance(begun, str)
        places = executors.places(executors.deployment(begun.nodes))
        assert places is not None
        assert executors.deployment(places) == executors.deployment(begun.nodes)

    def test_another_number_of_replicas_is_no_beginning(self) -> None:
        executors = self.executors()
        begun = RoundRobin().place(executors, Deadline())
        assert not isinstance(begun, str)
        other = executors.deployment(begun.nodes).having("partialRank", Replicas.on("n1"))
        assert executors.places(other) is None


def test_a_bound_that_a_heuristic_does_not_know_is_kept_all_the_same() -> None:
    objective = replace(USAGE, bounds=Bounds(response_time_ms=20.0))
    outcome = RoundRobin().plan(Problem(chain(1, 1), on_a_line(0, 25, 50), objective))
    assert outcome.status is PlanStatus.NO_ANSWER
    assert "response_time_ms 53 exceeds 20" in "; ".join(outcome.conflict)
