import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.model.graph.application import Kind
from rheostat.model.graph.latency import Constant
from rheostat.reference.generators import fat, heterogeneous, layered, sequential


@pytest.mark.parametrize("count", [2, 3, 20, 50])
def test_a_sequential_application_is_one_pipeline(count):
    application = sequential(count)
    assert len(application.operators) == count
    assert [stream.ends for stream in application.streams] == list(
        zip(application.flow, application.flow[1:], strict=False)
    )
    assert set(application.rates.operators.values()) == {100.0}


@pytest.mark.parametrize("count", [3, 20, 50])
def test_a_fat_application_has_one_source_one_sink_and_all_others_side_by_side(count):
    application = fat(count)
    source, *middle, sink = [op.name for op in application.operators]
    assert len(application.streams) == 2 * (count - 2)
    assert all(application.inputs[name][0].source == source for name in middle)
    assert all(application.outputs[name][0].target == sink for name in middle)
    assert application.rates.operators[middle[0]] == pytest.approx(100 / (count - 2))
    assert application.rates.operators[sink] == pytest.approx(100)


@pytest.mark.parametrize("application", [sequential(), fat()], ids=["sequential", "fat"])
def test_operators_are_those_of_odps_table_2(application):
    assert len(application.operators) == 20
    kinds = [op.kind for op in application.operators]
    assert kinds == [Kind.SOURCE, *[Kind.STATELESS] * 18, Kind.SINK]
    for op in application.operators:
        assert (op.resources, op.latency, op.max_replicas, op.pin) == (1.0, Constant(1000.0), 1, None)


@pytest.mark.parametrize(
    ("build", "arguments"),
    [(sequential, (1,)), (fat, (2,)), (layered, (5, 1)), (layered, (5, 6))],
)
def test_a_graph_too_small_for_its_shape_is_refused(build, arguments):
    with pytest.raises(ValueError, match="need"):
        build(*arguments)


@given(st.data(), st.integers(2, 30), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_layered_graphs_are_connected_layer_by_layer_and_lose_no_tuple(data, count, seed, density):
    layers = data.draw(st.integers(2, count))
    application = layered(count, layers, seed, density)
    assert application == layered(count, layers, seed, density)
    edges = [stream.ends for stream in application.streams]
    assert edges == sorted(edges), "sets have another order in every process"
    depth = {}
    for name in application.flow:
        depth[name] = 1 + max((depth[s.source] for s in application.inputs[name]), default=0)
        assert len({depth[s.source] for s in application.inputs[name]}) <= 1
    assert max(depth.values()) == layers
    by_kind = {kind: [op.name for op in application.operators if op.kind is kind] for kind in Kind}
    assert set(by_kind[Kind.SINK]) == {name for name in depth if not application.outputs[name]}
    assert set(by_kind[Kind.SOURCE]) == {name for name in depth if not application.inputs[name]}
    arriving = sum(application.rates.operators[name] for name in by_kind[Kind.SINK])
    assert arriving == pytest.approx(100.0 * len(by_kind[Kind.SOURCE]))


def test_other_seeds_give_other_layered_graphs():
    assert layered(seed=1).streams != layered(seed=2).streams


def test_density_one_joins_layers_completely():
    application = layered(12, 2, seed=1, density=1.0)
    sources = sum(op.kind is Kind.SOURCE for op in application.operators)
    assert 1 < sources < 11
    assert len(application.streams) == sources * (12 - sources)


@given(st.integers(0, 2**32 - 1))
def test_heterogeneous_operators_differ_by_seed_on_the_same_graph(seed):
    plain = fat(20)
    application = heterogeneous(plain, seed)
    assert application == heterogeneous(plain, seed)
    assert [s.ends for s in application.streams] == [s.ends for s in plain.streams]
    assert len({op.latency.milliseconds for op in application.operators}) == 20
    assert all(500 <= op.latency.milliseconds <= 1500 for op in application.operators)
    assert {op.resources for op in application.operators} <= {0.5, 1.0, 1.5}
    changed = [new.selectivity / old.selectivity for new, old in zip(application.streams, plain.streams, strict=True)]
    assert all(0.5 <= factor <= 1.5 for factor in changed)
    assert application != heterogeneous(plain, seed + 1)
