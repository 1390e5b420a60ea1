"""Appendix A of EDRP, by hand.

Two nodes u and v, 5 ms from the DataStore, 100 Mbps to and from it, 0.5 s to start a replica. Operator `count` has
10 MB of state (0.8 s at 100 Mbps) and 1.25 MB of code (0.1 s); a round trip to the store takes 0.01 s.
"""

import pytest

from rheostat.model.downtime.downtime_model import (
    CurrentDeployment,
    downtime_seconds,
    operator_downtime_seconds,
    pairs_of_nodes,
)
from rheostat.model.downtime.full_restart import (
    FullRestart,
    local_restart_seconds,
    serial_exchange_seconds,
    topology_download_seconds,
    whole_download_seconds,
    whole_upload_seconds,
)
from rheostat.model.downtime.measured_pauses import ChangeWay, Measured, Pause
from rheostat.model.downtime.pause_and_resume import (
    PauseAndResume,
    code_download_seconds,
    downloaded_bytes,
    exchange_seconds,
    slowest_exchange_seconds,
    state_download_seconds,
    state_upload_seconds,
    uploaded_bytes,
)
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.latency import Constant
from rheostat.model.graph.reconfiguration import Change, ChangeKind, Reconfiguration
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node, StoreAccess

SOURCE = Operator("source", Kind.SOURCE, max_replicas=2, code_bytes=1_250_000)
COUNT = Operator("count", Kind.STATEFUL, key=("word",), max_replicas=4, code_bytes=1_250_000, state_bytes=10_000_000)
APPLICATION = Application("counting", (SOURCE, COUNT), (Stream("source", "count"),))
NODES = Infrastructure("pair", (Node("u", 8), Node("v", 8)))
U, V, UV, UU = Replicas.on("u"), Replicas.on("v"), Replicas.on("u", "v"), Replicas.on("u", "u")


def at(source: Replicas, count: Replicas) -> CurrentDeployment:
    return CurrentDeployment(APPLICATION, NODES, Deployment.of({"source": source, "count": count}))


def taxi_like(state_bytes: int, before: Replicas, after: Replicas) -> float:
    """t_D with the defaults of Table II: 300 KB of code, t_syn 250 ms, spawn 500 ms, store 5 ms away at 100 Mbps."""
    kind, key = (Kind.STATEFUL, ("k",)) if state_bytes else (Kind.STATELESS, ())
    operator = Operator("o", kind, key, max_replicas=9, code_bytes=300_000, state_bytes=state_bytes, latency=Constant())
    source = Operator("s", Kind.SOURCE)
    application = Application("one", (source, operator), (Stream("s", "o"),))
    situation = CurrentDeployment(application, NODES, Deployment.of({"s": U, "o": before}))
    return operator_downtime_seconds(PauseAndResume(), situation, "o", after)


@pytest.mark.parametrize(
    ("state_bytes", "before", "after", "seconds"),
    [
        pytest.param(1376, U, V, 0.794, id="stateful to a node without its code"),
        pytest.param(0, U, V, 0.784, id="stateless to a node without its code"),
        pytest.param(1376, U, UU, 0.770, id="scale-out on the same node"),
        pytest.param(1376, UU, U, 0.270, id="scale-in on the same node"),
        pytest.param(1376, U, U, 0.0, id="it stays"),
    ],
)
def test_the_papers_defaults_give_the_papers_downtimes(state_bytes, before, after, seconds):
    assert taxi_like(state_bytes, before, after) == pytest.approx(seconds, abs=5e-4)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        pytest.param(U, UV, ChangeKind.SCALE_OUT, id="more replicas"),
        pytest.param(UU, U, ChangeKind.SCALE_IN, id="fewer replicas"),
        pytest.param(U, V, ChangeKind.MIGRATION, id="as many elsewhere"),
        pytest.param(UV, UU, ChangeKind.MIGRATION, id="as many, one of them elsewhere"),
    ],
)
def test_the_number_of_replicas_says_what_a_change_is(before, after, kind):
    assert Change("count", before, after).kind is kind


def test_operators_change_in_parallel_and_the_slowest_counts():
    """source u -> v: 0.25 + 0.11 + 0.5; count u -> v: 0.25 + max(0.11, 0.81) + 0.81 + 0.5 = 2.37 s."""
    both = Deployment.of({"source": V, "count": V})
    assert downtime_seconds(PauseAndResume(), at(U, U), both) == pytest.approx(2.37)
    only_source = Deployment.of({"source": V, "count": U})
    assert downtime_seconds(PauseAndResume(), at(U, U), only_source) == pytest.approx(0.86)


def test_an_operator_that_stays_is_not_paused():
    assert operator_downtime_seconds(PauseAndResume(), at(U, U), "count", U) == 0


def test_exchanges_run_side_by_side_and_the_longest_counts():
    """{u} -> {v}: only (u,v). max(0.11 code, 0.81 upload) + 0.81 download + 0.5."""
    assert slowest_exchange_seconds(NODES, COUNT, U, V) == pytest.approx(2.12)


def test_only_pairs_of_different_nodes_exchange_unless_there_is_none():
    assert pairs_of_nodes(UV, UU) == [("v", "u")]
    assert pairs_of_nodes(U, UU) == [("u", "u")]


def test_an_exchange_is_code_or_upload_then_download_then_start():
    """Scale-out {u} -> {u,v}: u gives half: max(0.11, 0.01 + 0.4) + (0.01 + 0.4) + 0.5 = 1.32 s."""
    assert exchange_seconds(NODES, COUNT, ("u", "v"), U, UV) == pytest.approx(1.32)


def test_code_is_downloaded_once_per_node():
    """0.01 s round trip and 1.25 MB at 100 Mbps."""
    assert code_download_seconds(NODES, COUNT, "v") == pytest.approx(0.11)


def test_a_stateless_operator_has_nothing_to_upload_or_download():
    assert state_upload_seconds(NODES, SOURCE, "u", U, V) == 0
    assert state_download_seconds(NODES, SOURCE, "v", U, V) == 0


def test_upload_and_download_take_a_round_trip_and_their_share():
    """All 10 MB leave u: 0.01 + 0.8."""
    assert state_upload_seconds(NODES, COUNT, "u", U, V) == pytest.approx(0.81)
    assert state_download_seconds(NODES, COUNT, "v", U, V) == pytest.approx(0.81)


@pytest.mark.parametrize(
    ("before", "after", "node", "share"),
    [
        pytest.param(U, V, "u", 1.0, id="migration: everything leaves"),
        pytest.param(UV, UU, "v", 1 / 2, id="migration of one of two: its half"),
        pytest.param(U, UV, "u", 1 / 2, id="scale-out 1 to 2: half of it"),
        pytest.param(UV, Replicas.of({"u": 1, "v": 2}), "u", 1 / 6, id="scale-out 2 to 3: a half becomes a third"),
        pytest.param(UU, Replicas.of({"u": 1, "v": 2}), "u", 2 / 3, id="scale-out 2 to 3, one leaves: 1/2 + 1/6"),
        pytest.param(UV, U, "v", 1 / 2, id="scale-in: the removed replica's half"),
        pytest.param(UV, U, "u", 0.0, id="scale-in: who stays uploads nothing"),
    ],
)
def test_uploads(before, after, node, share):
    assert uploaded_bytes(COUNT, node, before, after) == pytest.approx(share * 10_000_000)


@pytest.mark.parametrize(
    ("before", "after", "node", "share"),
    [
        pytest.param(U, V, "v", 1.0, id="migration: everything arrives"),
        pytest.param(U, UV, "v", 1 / 2, id="scale-out: the new replica's half"),
        pytest.param(UV, U, "u", 1 / 2, id="scale-in 2 to 1: a half becomes all"),
        pytest.param(Replicas.of({"u": 1, "v": 2}), UV, "u", 1 / 6, id="scale-in 3 to 2: a third becomes a half"),
        pytest.param(U, UV, "u", 0.0, id="scale-out: who stays downloads nothing"),
    ],
)
def test_downloads(before, after, node, share):
    assert downloaded_bytes(COUNT, node, before, after) == pytest.approx(share * 10_000_000)


def test_a_store_on_a_node_is_as_far_as_the_network_says():
    """Store on u; u -> v 30 ms, v -> u 10 ms: from v a round trip of 40 ms, from u none."""
    nodes = Infrastructure(
        "pair", (Node("u"), Node("v")), delays_ms=DelayMatrix(((0, 30), (10, 0))), store=StoreAccess(at="u")
    )
    assert code_download_seconds(nodes, COUNT, "v") == pytest.approx(0.14)
    assert code_download_seconds(nodes, COUNT, "u") == pytest.approx(0.0)


class TestAnEngineThatRestartsEverything:
    """Sync 6 s. Both operators on u, count moves to v, which runs nothing yet."""

    situation = at(U, U)
    restart = FullRestart()

    def test_the_unchanged_save_and_load_locally_and_start_again(self):
        """source: 6 + 0.5. count: 10 MB at 4 Gbps twice: 0.04 s more."""
        assert self.restart.unchanged_seconds(self.situation, SOURCE) == pytest.approx(6.5)
        assert local_restart_seconds(self.situation, COUNT, "u") == pytest.approx(0.54)

    def test_the_changed_do_one_thing_after_the_other(self):
        """Code of both 0.01 + 0.2, upload 0.81, download 0.81, one start 0.5: 2.33, after 6 s of synchronising."""
        assert serial_exchange_seconds(self.situation, COUNT, ("u", "v"), V) == pytest.approx(2.33)
        assert self.restart.changed_seconds(self.situation, COUNT, V) == pytest.approx(8.33)

    def test_code_comes_as_one_archive_and_only_where_nothing_runs(self):
        assert topology_download_seconds(self.situation, "v") == pytest.approx(0.21)
        used = at(V, U)
        assert serial_exchange_seconds(used, COUNT, ("u", "v"), V) == pytest.approx(2.12)

    def test_whole_shares_are_saved_and_restored(self):
        """Two of three replicas on u: two thirds leave it; half arrives at v of {u, v}."""
        situation = at(U, Replicas.of({"u": 2, "v": 1}))
        assert whole_upload_seconds(situation, COUNT, "u") == pytest.approx(0.01 + 0.8 * 2 / 3)
        assert whole_download_seconds(situation, COUNT, "v", UV) == pytest.approx(0.01 + 0.4)
        assert whole_upload_seconds(situation, SOURCE, "u") == 0
        assert whole_download_seconds(situation, SOURCE, "v", V) == 0

    def test_everything_waits_for_the_slowest_if_anything_changes(self):
        """Moving only the source: 6 + 0.21 + 0.5 = 6.71; count restarts in 6.54."""
        wanted = Deployment.of({"source": V, "count": U})
        assert downtime_seconds(self.restart, self.situation, wanted) == pytest.approx(6.71)
        assert downtime_seconds(self.restart, self.situation, self.situation.current) == 0

    def test_the_restart_of_an_unchanged_operator_can_be_what_everybody_waits_for(self):
        """source goes from two replicas on u to one there: 6 + 0.5; count restarts its 4 replicas: 6 + 0.04 + 2."""
        situation = at(UU, Replicas.of({"u": 4}))
        wanted = Deployment.of({"source": U, "count": {"u": 4}})
        assert downtime_seconds(self.restart, situation, wanted) == pytest.approx(8.04)


class TestMeasuredPauses:
    def test_the_way_a_change_takes(self):
        assert ChangeWay.of(SOURCE, U, V) is ChangeWay.STATELESS
        assert ChangeWay.of(COUNT, U, UU) is ChangeWay.RESCALE
        assert ChangeWay.of(COUNT, UU, V) is ChangeWay.RELOCATE
        assert ChangeWay.of(COUNT, U, UV) is ChangeWay.REDISTRIBUTE

    def test_a_pause_is_a_fixed_part_and_one_per_megabyte(self):
        model = Measured({ChangeWay.RELOCATE: Pause(1.0, 0.05)}, unknown=Pause(9.0))
        assert model.changed_seconds(at(U, U), COUNT, V) == pytest.approx(1.5)
        assert model.changed_seconds(at(U, U), COUNT, UU) == 9.0

    def test_pauses_are_fitted_by_least_squares(self):
        pause = Pause.fit([0.0, 10.0, 20.0], [1.0, 1.5, 2.0])
        assert (pause.fixed_seconds, pause.seconds_per_mb) == (pytest.approx(1.0), pytest.approx(0.05))
        assert Pause.fit([5.0], [2.0]) == Pause(2.0, 0.0)


def test_a_reconfiguration_lists_what_differs():
    change = Reconfiguration.between(
        Deployment.of({"source": U, "count": UV}), Deployment.of({"source": U, "count": {"v": 3}})
    )
    assert [str(one) for one in change.changes] == ["scale-out count: {u:1, v:1} -> {v:3}"]
    assert change.changes[0].added == {"v": 2}
    assert change.changes[0].removed == {"u": 1}


def test_two_deployments_of_different_applications_have_no_difference():
    with pytest.raises(ValueError, match="different operators"):
        Reconfiguration.between(Deployment.of({"a": U}), Deployment.of({"b": U}))
