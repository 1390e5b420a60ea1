import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.model.network.globe import great_circle_km
from rheostat.reference import NETWORKS
from rheostat.reference.ansnet import LINKS, SITES, ansnet
from rheostat.reference.networks import odp_testbed, random_gaussian, random_geographic, scaled_to_mean


def delays(infrastructure):
    return infrastructure.network.delay_ms


def between(infrastructure):
    """Delays of all ordered pairs of distinct nodes."""
    matrix = delays(infrastructure)
    return matrix[~np.eye(len(matrix), dtype=bool)]


def keeps_the_triangle_inequality(matrix):
    detours = matrix[:, :, None] + matrix[None]
    return bool((matrix[:, None, :] <= detours + 1e-9).all())


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_builds_without_arguments_always_the_same(name):
    assert NETWORKS[name]() == NETWORKS[name]()


def test_ansnet_is_as_edrp_7_2_describes_it():
    network = ansnet()
    assert len(network.nodes) == 15
    assert between(network).mean() == pytest.approx(32.0, abs=1e-9)
    assert np.isfinite(delays(network)).all()
    assert (delays(network) == delays(network).T).all()
    assert keeps_the_triangle_inequality(delays(network))


@pytest.mark.parametrize("network", [ansnet(), random_geographic()], ids=["ansnet", "geographic"])
def test_nodes_links_and_store_are_those_of_edrp_7_2(network):
    assert {(node.capacity, node.speedup, node.availability, node.spawn_seconds) for node in network.nodes} == {
        (2.0, 1.0, 1.0, 0.5)
    }
    assert (network.store.at, network.store.delay_ms, network.store.transfer_mbps) == (None, 5.0, 100.0)
    distinct = ~np.eye(len(network.nodes), dtype=bool)
    assert set(network.network.price[distinct]) == {2e-4}
    assert set(network.network.transfer_mbps[distinct]) == {100.0}


def test_ansnet_routes_over_its_links_only():
    network = ansnet()
    scale = between(network).mean() / between(ansnet(1.0)).mean()
    assert scale == pytest.approx(32.0)
    index, matrix = network.index, delays(network)
    seattle, denver, chicago, miles = (index[name] for name in ("seattle", "denver", "chicago", "cleveland"))
    through = matrix[seattle, denver] + matrix[denver, chicago] + matrix[chicago, miles]
    assert matrix[seattle, miles] == pytest.approx(through)
    ratio = great_circle_km(SITES["dallas"], SITES["houston"]) / great_circle_km(SITES["seattle"], SITES["denver"])
    assert matrix[index["dallas"], index["houston"]] / matrix[seattle, denver] == pytest.approx(ratio)


def test_every_link_joins_two_sites_once():
    assert {site for link in LINKS for site in link} == set(SITES)
    assert len({frozenset(link) for link in LINKS}) == len(LINKS) == 21


@pytest.mark.parametrize(
    ("a", "b", "km"),
    [
        pytest.param("new-york", "los-angeles", 3936, id="coast to coast"),
        pytest.param("dallas", "houston", 362, id="within Texas"),
        pytest.param("chicago", "chicago", 0, id="no way at all"),
    ],
)
def test_distances_are_those_of_the_atlas(a, b, km):
    assert great_circle_km(SITES[a], SITES[b]) == pytest.approx(km, rel=0.005)


@given(st.integers(2, 40), st.integers(0, 2**32 - 1), st.floats(1, 200))
def test_geographic_networks_have_the_mean_asked_for_and_are_metric(nodes, seed, mean_ms):
    network = random_geographic(nodes, seed, mean_ms)
    assert len(network.nodes) == nodes
    assert between(network).mean() == pytest.approx(mean_ms)
    assert (delays(network) == delays(network).T).all()
    assert keeps_the_triangle_inequality(delays(network))
    assert network == random_geographic(nodes, seed, mean_ms)


@pytest.mark.parametrize("build", [random_geographic, random_gaussian])
def test_other_seeds_give_other_networks(build):
    assert (delays(build(15, 1)) != delays(build(15, 2))).any()


def test_gaussian_networks_are_those_of_odps_table_2():
    network = random_gaussian(100, seed=1)
    assert between(network).mean() == pytest.approx(22, abs=0.5)
    assert between(network).std() == pytest.approx(5, abs=0.5)
    assert {(node.capacity, node.speedup, node.availability) for node in network.nodes} == {(4.0, 1.0, 1.0)}
    assert (network.network.availability == 1.0).all()
    assert len(random_gaussian().nodes) == 20


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.booleans())
def test_gaussian_delays_are_at_least_a_millisecond_and_symmetric_if_asked(nodes, seed, symmetric):
    network = random_gaussian(nodes, seed, mean_ms=2.0, symmetric=symmetric)
    assert (between(network) >= 1.0).all()
    assert not symmetric or (delays(network) == delays(network).T).all()
    assert network == random_gaussian(nodes, seed, mean_ms=2.0, symmetric=symmetric)


def test_asymmetric_gaussian_delays_differ_by_direction():
    matrix = delays(random_gaussian(20, symmetric=False))
    assert (matrix != matrix.T).any()


@given(st.integers(0, 2**32 - 1))
def test_the_testbed_of_odp_7_1(seed):
    network = odp_testbed(seed)
    assert [node.capacity for node in network.nodes] == [8.0] * 8
    assert sorted(node.availability for node in network.nodes) == [0.99] * 4 + [1.0] * 4
    assert ((between(network) >= 12) & (between(network) <= 32)).all()
    assert (network.network.availability == 1.0).all()
    assert network == odp_testbed(seed)


@pytest.mark.parametrize("build", [random_geographic, random_gaussian])
def test_a_network_without_nodes_is_refused(build):
    with pytest.raises(ValueError, match="at least"):
        build(0)


def test_a_single_place_has_no_mean_delay():
    with pytest.raises(ValueError, match="at least 2"):
        scaled_to_mean(np.zeros((1, 1)), 32.0)
