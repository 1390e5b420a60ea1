"""`rheostat show`: graph, network, who runs where, and the picture of it all."""

from xml.etree import ElementTree as ET

import pytest

from rheostat.reference import APPLICATIONS, NETWORKS

ALL = ("clicks.yaml", "sites.yaml", "--deployment", "peak.yaml")


def test_the_graph_has_a_line_for_every_operator(rheostat):
    lines = [line.rstrip() for line in rheostat("show", "clicks.yaml").out.splitlines()]
    assert lines == [
        "application clicks",
        "     operator   kind       replicas  key   in/s  sends to",
        "●    clicks     source            1         400  parse (shuffle, 400/s)",
        "●    parse      stateless       1-4         400  sessions (key, 360/s)",
        "├─╮                                              alerts (shuffle, 40/s)",
        "● │  sessions   stateful        1-4  user   360  dashboard (single, 90/s)",
        "│ ●  alerts     stateless       1-2          40  dashboard (single, 20/s)",
        "├─╯",
        "●    dashboard  sink              1         110",
    ]


def test_the_network_has_nodes_and_delays(rheostat):
    told = rheostat("show", "clicks.yaml", "sites.yaml").out
    assert "delays in ms: least 6, lower quarter 9, median 25, mean 21.8, most 36" in told
    assert "3 cloud-a   28   22    ·  9.0" in told


def test_a_deployment_tells_what_every_node_holds(rheostat):
    told = rheostat("show", *ALL).out
    assert "alerts, parse, sessions x2" in told
    assert "2 of 1-4" in told


def test_physical_tells_the_fragments(rheostat):
    told = rheostat("show", "clicks.yaml", "sites.yaml", "--deployment", "lean.yaml", "--physical").out
    assert "clicks -> parse" in told
    answer = rheostat("show", "clicks.yaml", "--physical")
    assert answer.code == 2
    assert "--deployment" in answer.err


def test_json_is_the_whole_of_it(rheostat):
    told = rheostat("show", *ALL, "--physical", "--json").json
    assert list(told) == ["ok", "application", "infrastructure", "deployment", "fragments", "mistakes"]
    assert told["application"]["streams"][1] == {
        "from": "parse",
        "to": "sessions",
        "grouping": "key",
        "rate_tps": 360.0,
    }
    assert told["infrastructure"]["delays_ms"][0] == [0.0, 6.0, 28.0, 36.0]
    assert told["deployment"]["sessions"] == {"cloud-a": 1, "metro": 2}
    assert told["fragments"][0] == {"name": "clicks", "operators": ["clicks"], "partitions": {"edge": 1}}


def test_swapped_files_are_taken_by_what_they_are_and_it_is_said(rheostat):
    swapped = rheostat("show", "sites.yaml", "clicks.yaml")
    assert swapped.code == 0
    assert swapped.out == rheostat("show", "clicks.yaml", "sites.yaml").out
    assert "infrastructure sites.yaml, application clicks.yaml" in swapped.err


def test_a_network_may_be_shown_alone(rheostat):
    assert "infrastructure ansnet" in rheostat("show", "ansnet").out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(("clicks.yaml", "taxi"), "and so does", id="two applications"),
        pytest.param(("clicks.yaml", "goals.yaml"), "describes an objective", id="a kind that has no place"),
        pytest.param(("clicks.yaml", "--deployment", "sites.yaml"), "not a deployment", id="an option of another kind"),
        pytest.param(
            ("ansnet", "--deployment", "taxi-calm.yaml"), "name their application", id="a deployment of nothing"
        ),
        pytest.param(("clicks.yaml", "ansnet"), "there is no node 'edge'", id="a pin that is not there"),
        pytest.param(("clicks.yaml", "--deployment", "taxi-calm.yaml"), "is not deployed", id="of something else"),
        pytest.param(("nothing.yaml",), "no such file", id="a missing file"),
        pytest.param((".",), "directory", id="a directory"),
        pytest.param(("clicks.yaml", "--svg", "/nowhere/x.svg"), "/nowhere/x.svg", id="a picture in no directory"),
    ],
)
def test_wrong_use_is_told_in_one_line(rheostat, arguments, told):
    answer = rheostat("show", *arguments)
    assert answer.code == 2
    assert told in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("name", [*APPLICATIONS, *NETWORKS])
def test_everything_in_the_library_can_be_shown_and_drawn(rheostat, tmp_path, name):
    assert rheostat("show", name, "--svg", tmp_path / "picture.svg").code == 0
    assert ET.parse(tmp_path / "picture.svg").getroot().tag.endswith("svg")  # noqa: S314 - we wrote it


@pytest.mark.parametrize("arguments", [ALL, ("taxi", "ansnet", "--deployment", "taxi-rush.yaml")])
def test_the_same_input_gives_the_same_picture(rheostat, tmp_path, arguments):
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    for path in (first, second):
        assert rheostat("show", *arguments, "--svg", path).code == 0
    assert first.read_bytes() == second.read_bytes()
    root = ET.parse(first).getroot()  # noqa: S314 - we wrote it
    assert "<dc:date>" not in first.read_text()
    assert float(root.get("width").removesuffix("pt")) > 500


def test_a_name_with_brackets_is_shown_as_it_is(rheostat, tmp_path):
    odd = tmp_path / "odd.yaml"
    odd.write_text("kind: application\nname: odd\noperators: [{name: '[red]x', kind: source}]\n")
    assert "[red]x" in rheostat("show", odd).out


def test_a_picture_that_cannot_be_written_leaves_one_answer(rheostat):
    answer = rheostat("show", "clicks.yaml", "--svg", "/nowhere/x.svg", "--json")
    assert answer.code == 2
    assert answer.json["ok"] is False
    assert answer.json["mistakes"][0]["file"] == "/nowhere/x.svg"


def test_letters_that_the_font_lacks_are_a_note(rheostat, tmp_path):
    far = tmp_path / "far.yaml"
    far.write_text("kind: application\nname: far\noperators: [{name: 名前, kind: source}]\n", encoding="utf-8")
    answer = rheostat("show", far, "--svg", tmp_path / "far.svg", "--json")
    assert answer.code == 0
    assert answer.json["application"]["operators"][0]["name"] == "名前"
    assert "note: Glyph" in answer.err
