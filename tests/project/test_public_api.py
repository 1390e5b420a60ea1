"""The public names: enough for an application, and free of Spark until they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rheostat

ROOT = Path(__file__).parents[2]
APPLICATIONS = sorted(
    path
    for example in ("word_count", "tag_and_count", "frequent_patterns", "orders")
    for path in (ROOT / "examples" / example).glob("*.py")
)
TEMPLATES = sorted((ROOT / "src/rheostat/cli/commands/setup/project").glob("*.py.template"))


def test_all_public_names_are_there():
    assert rheostat.__all__ == ["App", "operator", "sinks", "sources"]
    assert all(getattr(rheostat, name) for name in rheostat.__all__)
    assert all(getattr(rheostat.sources, name) for name in rheostat.sources.__all__)


def test_a_name_that_is_not_public_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'Operator'"):
        rheostat.Operator  # noqa: B018 - asked for to be refused
    with pytest.raises(AttributeError, match="no attribute 'rates'"):
        rheostat.sources.rates  # noqa: B018 - asked for to be refused


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import rheostat", id="the package"),
        pytest.param(
            "from rheostat import App, operator, sources, sinks; App('a').sink('b', reads='c')", id="the names"
        ),
        pytest.param("import rheostat.cli.main", id="the command line"),
    ],
)
def test_importing_loads_no_spark(code):
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('pyspark' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "False\n"


def imported(path):
    """Modules and names that a file takes from rheostat."""
    tree = ast.parse(path.read_text(encoding="utf-8").replace("$module", "module"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "rheostat":
            found |= {(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names if alias.name.partition(".")[0] == "rheostat"}
    return found


def test_examples_and_new_projects_use_public_names_alone():
    allowed = {("rheostat", name) for name in rheostat.__all__}
    private = {path.name: imported(path) - allowed for path in (*APPLICATIONS, *TEMPLATES)}
    assert {name: names for name, names in private.items() if names} == {}
    assert any(imported(path) for path in APPLICATIONS)
    assert any(imported(path) for path in TEMPLATES)
