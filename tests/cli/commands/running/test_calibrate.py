"""calibrate: the loads, and the inputs that cannot be calibrated."""

import pytest

from rheostat.cli.commands.running.calibrate import with_loads
from rheostat.cli.output import WrongUse
from rheostat.model.graph.application import Application, Kind, Operator, Stream


def words(**parameters):
    source = Operator("lines", Kind.SOURCE, code="words:lines", parameters=tuple(parameters.items()))
    return Application("words", (source, Operator("out", Kind.SINK, code="words:out")), (Stream("lines", "out"),))


def test_sources_bring_the_loads_one_after_the_other_and_have_no_end_of_their_own():
    stepped = with_loads(words(curve="5", total=10, seed=3), [10.0, 20.0], 30.0)
    assert dict(stepped.by_name["lines"].parameters) == {"curve": "10 for 30; 20 for 30", "seed": 3}
    assert stepped.by_name["out"] == words().by_name["out"]


def test_a_source_whose_rate_cannot_be_set_is_told():
    with pytest.raises(WrongUse, match="the rate of lines cannot be set"):
        with_loads(words(path="trips.csv"), [10.0], 30.0)


@pytest.mark.parametrize("loads", ["", "ten", "10,-5", "0", "10,inf", "nan"])
def test_loads_that_are_none_are_one_clear_line(rheostat, loads, tmp_path, monkeypatch):
    (tmp_path / "my_lines.py").write_text(
        "from tests.cli.commands.running.test_calibrate import words\napp = words(curve='5')\n"
    )
    (tmp_path / "nodes.yaml").write_text("kind: infrastructure\nname: one\nnodes: [{name: n1, resources: 4}]\n")
    monkeypatch.chdir(tmp_path)
    told = rheostat("calibrate", "my_lines:app", "nodes.yaml", "--loads", loads)
    assert (told.code, "--loads" in told.err) == (2, True)
    assert not (tmp_path / "profile.json").exists()


def test_a_profile_that_is_none_is_told_before_anything_is_started(rheostat, tmp_path, monkeypatch):
    (tmp_path / "my_more_lines.py").write_text(
        "from tests.cli.commands.running.test_calibrate import words\napp = words(curve='5')\n"
    )
    (tmp_path / "nodes.yaml").write_text("kind: infrastructure\nname: one\nnodes: [{name: n1, resources: 4}]\n")
    (tmp_path / "wrong.json").write_text("[1, 2]")
    monkeypatch.chdir(tmp_path)
    told = rheostat("run", "my_more_lines:app", "nodes.yaml", "--profile", "wrong.json")
    assert (told.code, "wrong.json is no profile" in told.err) == (2, True)
