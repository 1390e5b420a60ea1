"""A channel's files are opened in one room: everything else goes through the port."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "rheostat"
CHANNELS = SOURCES / "runtime" / "channels"
FILES = re.compile(
    r"channel\.json|opened\.json|cleaner\.lock|\.arrow\b(?!\.)|[\"'/](producers|consumers|segments)[\"'/]"
)
"""Names of files and folders that only a channel on disk has."""


def mentions(text: str) -> list[str]:
    return [found.group() for found in FILES.finditer(text)]


def test_no_module_outside_names_a_file_of_a_channel():
    found = {
        str(path.relative_to(SOURCES)): mentions(path.read_text())
        for path in sorted(SOURCES.rglob("*.py"))
        if CHANNELS not in path.parents
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_inside_it_is_the_disk_log_alone():
    found = {
        path.relative_to(CHANNELS).parts[0]
        for path in CHANNELS.rglob("*.py")
        if ".json" in str(mentions(path.read_text()))
    }
    assert found == {"log"}


@pytest.mark.parametrize("text", ['path / "channel.json"', 'glob("*/consumers/*")', "x.arrow", "root / 'segments'"])
def test_a_mention_is_noticed(text):
    assert mentions(text)


def test_the_port_needs_no_disk_and_no_spark():
    """Whatever implements the port elsewhere needs neither."""
    program = (
        "import sys, rheostat.runtime.channels.port.channel, rheostat.runtime.channels.port.backlog, "
        "rheostat.runtime.channels.port.floors; "
        "print([name for name in sys.modules if name.startswith(('pyspark', 'rheostat.runtime.channels.log', "
        "'rheostat.machine'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
