"""Every command, option, setting and document key is in the generated references."""

import json
import re
from dataclasses import fields

import pytest
from scripts.pages.cli_reference import cli_reference, common_options, parser_of
from scripts.pages.documents_reference import documents_reference
from scripts.pages.settings_reference import meanings_of, settings_reference

import rheostat
from rheostat.cli.inputs.control_set import TUNABLE
from rheostat.cli.main import COMMANDS
from rheostat.control.setup.control_settings import KINDS, PLACEMENTS, VICTIMS, ControlSettings
from rheostat.model import documents
from rheostat.planning.planner_registry import PLANNERS
from rheostat.policies.policy_registry import GRANTING, POLICIES
from rheostat.runtime.spark.spark_settings import LEAN, LOOPBACK
from tests.docs.pages import ROOT, text_of

CLI, SETTINGS, DOCUMENTS = cli_reference(), settings_reference(), documents_reference()


def section(page: str, heading: str) -> str:
    """From a heading to the next one of its level."""
    level = heading.partition(" ")[0]
    return page.partition(f"\n{heading}\n")[2].partition(f"\n{level} ")[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_a_section_with_all_its_arguments_and_options(command):
    told = section(CLI, f"## {command}")
    for parameter in parser_of(command).params:
        for name in parameter.opts:
            assert (f"`{name}`" if name.startswith("-") else (parameter.metavar or name.upper())) in told


def test_the_options_of_every_command_are_listed_first():
    names = [name for option in common_options() for name in option.opts]
    assert {"--debug", "--log-level"} <= set(names)
    assert [name for name in names if f"`{name}`" not in CLI.partition("\n## ")[0]] == []


def test_the_list_of_commands_is_complete():
    assert [name for name in COMMANDS if f"[`{name}`](#{name})" not in CLI] == []


def test_every_option_says_what_it_means():
    rows = [line for line in CLI.splitlines() if line.startswith("| `--")]
    assert len(rows) > 50
    assert [row for row in rows if row.endswith("|  |")] == []


@pytest.mark.parametrize("field", [field.name for field in fields(ControlSettings)])
def test_a_setting_of_a_control_is_listed(field):
    assert f"| `{field}` |" in section(SETTINGS, "## Settings of a control")


def test_what_the_command_line_can_set_is_among_them():
    assert set(TUNABLE) <= {field.name for field in fields(ControlSettings)}


@pytest.mark.parametrize(("name", "kind"), [*POLICIES.items(), *GRANTING.items()])
def test_a_policy_is_listed_with_its_settings_and_their_meanings(name, kind):
    told = section(SETTINGS, f"### {name}")
    meanings = meanings_of(kind)
    for field in fields(kind):
        assert f"| `{field.name}` |" in told
        assert " ".join(meanings.get(field.name, "").split())[:20].partition("|")[0] in told


@pytest.mark.parametrize("name", [*KINDS, *PLACEMENTS, *VICTIMS, *PLANNERS, *LEAN, *LOOPBACK])
def test_a_name_is_in_the_first_cell_of_a_row(name):
    assert f"\n| `{name}` |" in SETTINGS


def keys_of(schema: object) -> set[str]:
    """All keys of a document, wherever they stand in its schema."""
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    return own.union(*map(keys_of, schema.values()))


@pytest.mark.parametrize("kind", documents.KINDS)
def test_every_key_of_a_document_is_listed(kind):
    schema = json.loads((ROOT / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8"))
    told, keys = section(DOCUMENTS, f"## {kind}"), keys_of(schema)
    assert "kind" in keys
    assert [key for key in keys if f"| `{key}` |" not in told] == []


def test_every_public_name_is_in_the_python_reference():
    shown = re.findall(r"^::: ([\w.]+)$", text_of("docs/reference/python.md"), re.MULTILINE)
    names = {name.rpartition(".")[2] for name in shown}
    assert set(rheostat.__all__) - {"sources"} | set(rheostat.sources.__all__) == names
