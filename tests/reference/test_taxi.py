from itertools import pairwise

import pytest

from rheostat.model.downtime.downtime_model import CurrentDeployment, downtime_seconds
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application, Grouping, Kind, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.quality.placed import Placed
from rheostat.model.quality.qos import operator_latencies_ms, response_time_ms
from rheostat.reference.ansnet import ansnet
from rheostat.reference.taxi import taxi

TABLE_II = {
    "dataSource": (284, 82),
    "parser": (233, 0),
    "filterByCoordinates": (253, 0),
    "computeRouteID": (253, 0),
    "metronome": (300, 328),
    "countByWindow": (335, 1376),
    "partialRank": (2371, 1536),
    "globalRank": (3000, 480),
}
CHAIN = ("dataSource", "parser", "filterByCoordinates", "computeRouteID", "countByWindow", "partialRank", "globalRank")


def test_operators_are_those_of_table_ii():
    described = {op.name: (op.latency.service_rate_tps, op.state_bytes) for op in taxi().operators}
    assert described == TABLE_II
    assert all((op.cost_per_hour, op.resources, op.code_bytes) == (1.0, 1.0, 300_000) for op in taxi().operators)


def test_the_nine_edges():
    chain = set(pairwise(CHAIN))
    clock = {("dataSource", "metronome"), ("metronome", "countByWindow"), ("metronome", "partialRank")}
    streams = taxi().streams
    assert len(streams) == 9
    assert {stream.ends for stream in streams} == chain | clock


@pytest.mark.parametrize("replicas", [1, 2, 3, 4])
def test_source_metronome_and_global_rank_are_never_replicated(replicas):
    most = {op.name: op.max_replicas for op in taxi(max_replicas=replicas).operators}
    single = {"dataSource", "metronome", "globalRank"}
    assert most == {name: 1 if name in single else replicas for name in TABLE_II}


def test_only_the_ends_are_pinned_and_only_if_asked():
    assert all(op.pin is None for op in taxi().operators)
    pinned = {op.name: op.pin for op in taxi(pins=("seattle", "atlanta")).operators if op.pin is not None}
    assert pinned == {"dataSource": "seattle", "globalRank": "atlanta"}


@pytest.mark.parametrize("rate", [0.0, 70.0, 105.0, 220.0])
@pytest.mark.parametrize("ticks", [0.0, 1.0, 5.0])
def test_rates_are_as_documented(rate, ticks):
    rates = taxi(rate, ticks_tps=ticks).rates
    assert [rates.operators[name] for name in (*CHAIN[:4], "metronome")] == [rate] * 5
    assert rates.operators["countByWindow"] == rate + ticks
    assert rates.operators["partialRank"] == pytest.approx(21 * rate + ticks)
    assert rates.operators["globalRank"] == 10 * ticks


@pytest.mark.parametrize("rate", [70.0, 100.0, 220.0])
def test_another_source_rate_is_less_exact_but_within_one_percent(rate):
    moved = taxi(70.0).with_source_rate(rate).rates.streams[("countByWindow", "partialRank")]
    assert moved == pytest.approx(21 * rate, rel=0.01)


def test_partial_rank_saturates_first_and_two_replicas_carry_the_peak():
    def busiest(rate):
        application = taxi(rate)
        loads = application.rates.operators
        return max(application.operators, key=lambda op: loads[op.name] / op.latency.service_rate_tps)

    assert busiest(105.0).name == "partialRank"
    assert 105 * 21 + 1 < busiest(105.0).latency.service_rate_tps < 115 * 21 + 1
    assert busiest(220.0).latency.service_rate_tps > (220 * 21 + 1) / 2


@pytest.mark.parametrize(("rate", "milliseconds"), [(70, 25.5), (105, 31.3), (190, 72.5), (205, 97.7), (220, 161.8)])
def test_the_first_five_of_the_chain_take_what_was_computed_by_hand(rate, milliseconds):
    whole, first = taxi(rate), CHAIN[:5]
    streams = tuple(Stream(a, b) for a, b in pairwise(first))
    chain = Application("chain", tuple(whole.by_name[name] for name in first), streams)
    here = Infrastructure("one node", (Node("u", resources=5.0),))
    placed = Placed(chain, here, Deployment.single(dict.fromkeys(first, "u")))
    by_hand = sum(1000 / (TABLE_II[name][0] - rate) for name in first)
    assert response_time_ms(placed) == pytest.approx(by_hand)
    assert round(by_hand, 1) == milliseconds


def test_every_operator_keeps_up_at_the_start_of_7_2_with_one_replica_each():
    network = ansnet()
    names = [op.name for op in taxi().operators]
    sites = dict(zip(names, network.index, strict=False))
    assert max(operator_latencies_ms(Placed(taxi(70.0), network, Deployment.single(sites)))) < 7.0


def test_one_reconfiguration_costs_what_a_third_of_the_balanced_row_of_table_iii_does():
    network, application = ansnet(), taxi()
    sites = dict(zip((op.name for op in application.operators), network.index, strict=False))
    before = Deployment.single(sites)
    after = Deployment.single({**sites, "countByWindow": "washington"})
    pause = downtime_seconds(PauseAndResume(), CurrentDeployment(application, network, before), after)
    assert pause == pytest.approx(0.794, abs=5e-4)
    assert round(3 * pause, 1) == 2.4


def test_keyed_operators_get_their_tuples_by_key_and_every_tick():
    groupings = {stream.ends: stream.grouping for stream in taxi().streams}
    for name, before in (("countByWindow", "computeRouteID"), ("partialRank", "countByWindow")):
        assert groupings[(before, name)] is Grouping.KEY
        assert groupings[("metronome", name)] is Grouping.BROADCAST


def test_stateful_operators_have_keys():
    keys = {op.name: op.key for op in taxi().operators if op.kind is Kind.STATEFUL}
    assert keys == {
        "metronome": ("minute",),
        "countByWindow": ("route",),
        "partialRank": ("route",),
        "globalRank": ("minute",),
    }
