"""The document of a run: every option can stand in it, options win over it, every mistake has its line."""

import importlib
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import typer.main
from tests.cli.quiet_nodes import THREE, WORDS

from rheostat.cli.inputs.given_settings import given_settings
from rheostat.cli.inputs.run_checks import checked_run
from rheostat.cli.main import module_of
from rheostat.cli.output import WrongUse
from rheostat.model.documents import write
from rheostat.model.documents.shapes.run_shape import RunShape
from rheostat.model.documents.text.shape import keys_of
from rheostat.model.run_settings import NodeForm, RunSettings

RUN = """\
kind: run
application: words.yaml
infrastructure: three.yaml
directory: here
key_groups: 4
until_drained: true
control: edf
policy: threshold
set: {scale_out: 0.7, slack: 0.2}
global: token-bucket
bound: {split: 100}
spark: {spark.driver.memory: 2g, spark.x: true}
master: "local[2]"
"""
NO_FILE = "there is no such file, and no such name in the reference library"
BROKEN = """\
kind: run
application: words.yaml
infrastructure: three.yaml
deployment: bad.yaml
objective: nothing.yaml
policy: threshold
set: {hihg: 0.7}
spark: {spark.sql.shuffle.partitions: 4}
control_set: {free_capacty: 1}
"""


@pytest.fixture
def place(rheostat, tmp_path, monkeypatch):
    """A folder with documents, and another one below it that is the current one."""
    (tmp_path / "words.yaml").write_text(write(WORDS))
    (tmp_path / "three.yaml").write_text(write(THREE))
    (tmp_path / "run.yaml").write_text(RUN)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def options_of_run():
    command = typer.main.get_command(importlib.import_module(module_of("run")).app)
    names = [next((name for name in one.opts if name.startswith("--")), one.name) for one in command.params]
    return {name.removeprefix("--").replace("-", "_") for name in names} - {"json"}


def test_every_option_can_stand_in_the_document_and_every_key_is_an_option():
    assert set(keys_of(RunShape)) - {"kind"} == options_of_run()
    settings = RunSettings(**{field.name: "1" for field in fields(RunSettings) if field.type == "str | None"})
    assert set(settings.given()) <= options_of_run()


def test_paths_start_at_the_document(place):
    settings = given_settings("../run.yaml", RunSettings()).settings
    assert settings.application == str(Path("../words.yaml"))
    assert settings.infrastructure == str(Path("../three.yaml"))
    assert settings.directory == str(Path("../here"))
    assert (settings.key_groups, settings.until_drained, settings.bounds_ms) == (4, True, {"split": 100})
    assert settings.spark == {"spark.driver.memory": "2g", "spark.x": "true"}
    assert checked_run(given_settings("../run.yaml", RunSettings())).wanted.application == WORDS


def test_options_win_over_the_document_and_settings_by_name_are_merged(place):
    options = RunSettings(
        nodes=NodeForm.PROCESS, key_groups=8, until_drained=False, policy_settings={"slack": 0.3}, local_nodes=2
    )
    settings = given_settings("../run.yaml", options).settings
    assert (settings.nodes, settings.key_groups, settings.until_drained) == (NodeForm.PROCESS, 8, False)
    assert settings.policy_settings == {"scale_out": 0.7, "slack": 0.3}
    assert (settings.local_nodes, settings.infrastructure) == (2, None)
    assert settings.control == "edf"


def test_what_is_wrong_is_told_at_its_line_all_at_once(place):
    (place / "run.yaml").write_text(BROKEN)
    (place / "bad.yaml").write_text("kind: deployment\noperators: {lines: n1, split: n7, out: n2}\n")
    with pytest.raises(WrongUse) as told:
        checked_run(given_settings("../run.yaml", RunSettings()))
    assert str(told.value).splitlines() == [
        "../run.yaml:5: objective requires planner; e.g. planner: exact",
        "../run.yaml:6: policy requires control; e.g. control: edf",
        "../run.yaml:7: set requires control; e.g. control: edf",
        "../run.yaml:9: control_set requires control; e.g. control: edf",
        f"../nothing.yaml: {NO_FILE}; did you mean '../three.yaml'?",
    ]


def test_settings_of_control_are_told_at_their_line_or_at_their_option(place):
    (place / "run.yaml").write_text(RUN.replace("scale_out", "scale_uot"))
    options = RunSettings(spark={"spark.sql.shuffle.partitions": "4"}, bounds_ms={"splt": 3})
    with pytest.raises(WrongUse) as told:
        checked_run(given_settings("../run.yaml", options))
    lines = str(told.value).splitlines()
    assert lines[0].startswith("--spark: spark.sql.shuffle.partitions cannot be set")
    assert lines[1].startswith("../run.yaml:9: scale_uot: threshold has no setting 'scale_uot'; did you mean")
    assert any("there is no operator 'splt'" in line for line in lines)


def test_validate_checks_a_run_with_the_documents_it_names(rheostat, place):
    assert rheostat("validate", "../run.yaml").out == "../run.yaml: run is sound\n"
    told = rheostat("validate", "../run.yaml", "--json").json
    assert told["documents"][0]["settings"]["set"] == {"scale_out": 0.7, "slack": 0.2}
    (place / "run.yaml").write_text(BROKEN)
    broken = rheostat("validate", "../run.yaml")
    assert broken.code == 1
    assert all(line in broken.out for line in ("../run.yaml:6: policy requires control", "nothing.yaml: there is no"))


def test_validate_does_not_import_an_application_in_python(rheostat, place):
    (place / "mine.py").write_text("raise SystemExit('imported')")
    (place / "run.yaml").write_text("kind: run\napplication: mine.py\nlocal_nodes: 2\n")
    assert rheostat("validate", "../run.yaml").out == "../run.yaml: run is sound\n"


def test_a_document_of_another_kind_is_the_application(place):
    assert given_settings("../words.yaml", RunSettings()).settings.application == "../words.yaml"
