from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies as some

from rheostat.model.documents import read, write
from rheostat.model.graph.application import Application, Kind, Operator
from rheostat.model.graph.latency import Constant, LatencyModel, Tabulated
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import Infrastructure, Node


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round-trip") / "document.yaml"


def again(value, file: Path):
    file.write_text(write(value), encoding="utf-8")
    return read(file)


@given(application=some.applications(("n1", "yes", "1"), odd_names=True))
def test_an_application_that_was_written_is_read_as_it_was(file, application):
    document = again(application, file)
    assert (document.kind, document.value, document.path) == ("application", application, file)


@given(infrastructure=some.infrastructures(odd_names=True))
def test_an_infrastructure_that_was_written_is_read_as_it_was(file, infrastructure):
    document = again(infrastructure, file)
    assert (document.kind, document.value) == ("infrastructure", infrastructure)


@given(objective=some.objectives())
def test_an_objective_that_was_written_is_read_as_it_was(file, objective):
    document = again(objective, file)
    assert (document.kind, document.value) == ("objective", objective)


@given(placement=some.placements(odd_names=True))
def test_a_deployment_that_was_written_is_read_as_it_was(file, placement):
    document = again(placement[2], file)
    assert (document.kind, document.value) == ("deployment", placement[2])


@given(run=some.runs())
def test_a_run_that_was_written_is_read_as_it_was(file, run):
    document = again(run, file)
    assert (document.kind, document.value) == ("run", run)


@given(latency=some.latency_models())
def test_every_latency_model_survives(file, latency: LatencyModel):
    application = Application("app", (Operator("a", Kind.SOURCE, latency=latency),))
    assert again(application, file).value.operators[0].latency == latency


@given(text=st.text(st.characters(exclude_categories=("Cs",))).map(str.strip).filter(bool))
def test_any_name_survives(file, text):
    application = Application(text, (Operator(text, Kind.SOURCE, parameters=((text, text),)),))
    assert again(application, file).value == application


@given(
    value=st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(exclude_categories=["Cs"]))
)
def test_a_parameter_keeps_its_type(file, value):
    application = Application("app", (Operator("a", Kind.SOURCE, parameters=(("p", value),)),))
    ((_, read_back),) = again(application, file).value.operators[0].parameters
    assert (type(read_back), read_back) == (type(value), value)


def test_a_link_that_is_better_than_the_default_stays_so(file):
    default = LinkQuality(delay_ms=50, bandwidth_tps=10)
    links = (Link("a", "b", LinkQuality(), both_ways=True),)
    infrastructure = Infrastructure("net", (Node("a"), Node("b")), links, default_link=default)
    assert again(infrastructure, file).value == infrastructure


def test_what_is_as_usual_is_left_out():
    application = Application("app", (Operator("a", Kind.SOURCE, latency=Tabulated((0.0, 10.0), (1.0, 2.5))),))
    assert write(application) == (
        "kind: application\n"
        "name: app\n"
        "operators:\n"
        "- name: a\n"
        "  kind: source\n"
        "  latency: {model: tabulated, loads_tps: [0, 10], latencies_ms: [1, 2.5]}\n"
    )
    assert "latency" not in write(Application("app", (Operator("a", Kind.SOURCE, latency=Constant()),)))
