import pytest
from tests.model.documents.told import told

from rheostat.model.documents import read, read_infrastructure, read_topology

HEAD = """\
<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="label" for="node" id="d3" /><key attr.name="Longitude" for="node" id="d2" />
<key attr.name="Latitude" for="node" id="d1" />
<graph edgedefault="undirected">
"""
TAIL = "</graph></graphml>\n"


def node(id_: str, label: str = "", place: tuple[float, float] | None = (40.0, 10.0)) -> str:
    where = f'<data key="d1">{place[0]}</data><data key="d2">{place[1]}</data>' if place else ""
    return f'<node id="{id_}">{where}<data key="d3">{label}</data></node>\n'


def edge(source: str, target: str, more: str = "") -> str:
    return f'<edge source="{source}" target="{target}" {more}/>\n'


def topology(tmp_path, *parts: str, head: str = HEAD):
    path = tmp_path / "Abilene.graphml"
    path.write_text(head + "".join(parts) + TAIL)
    return path


NEW_YORK, CHICAGO = (40.71427, -74.00597), (41.85003, -87.65005)


def test_delays_follow_the_great_circle(tmp_path):
    path = topology(
        tmp_path, node("0", "New York", NEW_YORK), node("1", "Chicago", CHICAGO), edge("0", "1"), edge("1", "0")
    )
    network = read_infrastructure(path)
    assert network.name == "Abilene"
    assert [n.name for n in network.nodes] == ["New York", "Chicago"]
    (link,) = network.links
    assert (link.source, link.target, link.both_ways) == ("New York", "Chicago", True)
    assert link.quality.delay_ms == pytest.approx(5.729, abs=1e-3)  # 1146 km at 200 km per ms
    assert read(path).kind == "infrastructure"


def test_labels_that_do_not_tell_apart_get_their_ids(tmp_path):
    path = topology(tmp_path, node("0", "Rome"), node("1", "Rome"), node("2"), edge("0", "1"), edge("1", "2"))
    assert [n.name for n in read_topology(path).nodes] == ["Rome (0)", "Rome (1)", "2"]


def test_a_directed_edge_leads_one_way(tmp_path):
    directed = HEAD.replace("undirected", "directed")
    path = topology(tmp_path, node("0"), node("1"), edge("0", "1"), edge("1", "0"), head=directed)
    assert [link.both_ways for link in read_topology(path).links] == [False, False]
    path = topology(tmp_path, node("0"), node("1"), edge("0", "1"), head=directed)
    assert told(path) == [(7, "no links lead from '0' to '1' and back | add a link")]


def test_nodes_without_a_place_are_refused_each_by_itself(tmp_path):
    path = topology(
        tmp_path,
        node("0", "Rome"),
        node("1", "Nowhere", None),
        node("2", "Off", (99.0, 0.0)),
        edge("0", "1"),
        edge("1", "2"),
    )
    assert [(line, message[:14]) for line, message in told(path)] == [(7, "node 'Nowhere'"), (8, "node 'Off' has")]
    assert [n.name for n in read_topology(path, largest_part=True).nodes] == ["Rome"]


def test_a_part_that_is_cut_off_is_named(tmp_path):
    path = topology(tmp_path, *(node(str(i), f"city {i}") for i in range(5)), edge("0", "1"), edge("2", "3"))
    assert told(path) == [
        (8, "no edges lead from 'city 0' to 'city 2' | add an edge"),
        (10, "no edges lead from 'city 0' to 'city 4' | add an edge"),
    ]
    assert len(read_topology(path, largest_part=True).nodes) == 2


def test_edges_and_ids_that_are_none(tmp_path):
    path = topology(tmp_path, node("100"), node("100"), node(""), edge("100", "101"))
    assert told(path) == [
        (7, "the id '100' is used twice | rename one node"),
        (8, 'this node has no id | write <node id="...">'),
        (9, "there is no node of id '101' | did you mean '100'?"),
    ]


@pytest.mark.parametrize("largest_part", [False, True])
def test_a_graph_without_nodes(tmp_path, largest_part):
    path = topology(tmp_path)
    assert told(path) == [(1, "there is no node | give a graph with nodes")]


BOMB = """\
<?xml version="1.0"?>
<!DOCTYPE graphml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>
<graphml><graph><node id="&b;"/></graph></graphml>
"""


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        pytest.param(BOMB, 2, "a DOCTYPE is not read", id="entities"),
        pytest.param("<graphml>\n<graph>\n</graphml>", 3, "this is not XML: mismatched tag", id="wrong nesting"),
        pytest.param("", 1, "this is not XML: no element found", id="empty"),
        pytest.param("<html/>", 1, "there is no <graphml> element", id="something else"),
    ],
)
def test_what_is_no_graphml_is_refused(tmp_path, text, line, message):
    path = tmp_path / "net.graphml"
    path.write_text(text)
    ((at, what),) = told(path)
    assert (at, what.partition(" | ")[0]) == (line, message)
