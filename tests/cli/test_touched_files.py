"""A controller whose nodes are processes touches no file of a node: launched, changed, after a failover, and stopped.

Every Python process of the run records the files that it opens, lists, makes, renames, links or deletes, except for the
agents and the processes that they start. A controller has no Java of its own, which would not be recorded.
"""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import psutil
import pytest

from rheostat.runtime.nodes.agent_address import read_agent_address
from tests.cli.test_run_on_spark import PATIENCE_SECONDS, ROOT, Place, counted, end, wait_until

SENTENCES = 1200
THREE = """kind: infrastructure
name: three
nodes: [{name: n1, resources: 8}, {name: n2, resources: 8}, {name: n3, resources: 8}]
"""
SPLIT = "kind: deployment\noperators: {datasource: n1, split: n1, counter: {n2: 2, n3: 1}, consumer: n1}\n"
RECORDER = """
import os, sys

if "rheostat.runtime.agent" in sys.orig_argv:
    os.environ["RECORDED_BY_AGENT"] = "yes"
if "RECORDED_BY_AGENT" not in os.environ:
    events = {
        "open", "os.listdir", "os.scandir", "os.rename", "os.remove", "os.link", "os.symlink", "os.mkdir", "os.rmdir",
        "os.chmod", "os.truncate", "os.utime", "shutil.rmtree", "shutil.copytree", "shutil.copyfile", "shutil.move",
        "sqlite3.connect", "glob.glob", "pathlib.Path.glob", "pathlib.Path.rglob",
    }
    log = os.open(os.environ["RECORDED_IN"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    root = os.environ["RECORDED_BELOW"] + os.sep

    def record(event, arguments):
        if event in events:
            for each in arguments:
                if isinstance(each, (str, bytes, os.PathLike)):
                    path = os.path.abspath(os.fsdecode(each))
                    if path.startswith(root):
                        os.write(log, f"{os.getpid()} {event} {path[len(root):]}\\n".encode())

    sys.addaudithook(record)
"""


class RecordedPlace(Place):
    """A place whose processes record what they touch in the directory of the run."""

    def __init__(self, path):
        super().__init__(path, SENTENCES)
        (path / "nodes.yaml").write_text(THREE)
        (path / "split.yaml").write_text(SPLIT)
        self.log, hook = path / "touched.log", path / "hook"
        hook.mkdir()
        (hook / "sitecustomize.py").write_text(RECORDER)
        recording = {"RECORDED_IN": str(self.log), "RECORDED_BELOW": str(self.directory)}
        self.plain = dict(self.settings)
        self.settings["env"] = {**self.settings["env"], "PYTHONPATH": f"{hook}{os.pathsep}{ROOT}", **recording}

    def ask(self, *arguments):
        """Other commands do not record: only the run is looked at."""
        recording, self.settings = self.settings, self.plain
        try:
            return super().ask(*arguments)
        finally:
            self.settings = recording

    def touched(self, since=0):
        """First part of every path that was touched -> how often; and the touched paths of nodes."""
        paths = [line.split(" ", 2) for line in self.log.read_text().splitlines()[since:]]
        of_nodes = [" ".join(parts) for parts in paths if Path(parts[2]).parts[0] in {"nodes", "control"}]
        return Counter(Path(path).parts[0] for _, _, path in paths), of_nodes


def beside_the_agents(controller):
    """Names of the processes below a controller that are no agents, nor started by one."""
    found = []
    for child in psutil.Process(controller).children():
        if "rheostat.runtime.agent" not in child.cmdline():
            found += [each.name() for each in (child, *child.children(recursive=True))]
    return found


def status(place):
    code, told = place.ask("status")
    assert code == 0, told
    return told


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_controller_with_process_nodes_touches_no_file_of_a_node(tmp_path):
    place, wanted, seen = RecordedPlace(tmp_path), counted(SENTENCES), {}
    process = place.start("--nodes", "process", "--for", str(PATIENCE_SECONDS))

    def note(moment):
        """What was touched up to a moment, and by whom else it could have been."""
        assert beside_the_agents(process.pid) == []
        seen[moment] = place.touched()

    def is_lost():
        return next(node["lost"] for node in status(place)["nodes"] if node["name"] == "n2")

    try:
        wait_until((place.directory / "controller.json").exists, process)
        wait_until(lambda: bool(place.counts()), process)
        note("launch")
        code, told = place.ask("scale", "counter=3")
        assert (code, told["effect"]) == (0, "done"), told
        code, told = place.ask("deploy", "split.yaml")
        assert (code, told["effect"]) == (0, "done"), told
        note("change")
        os.killpg(read_agent_address(place.directory, "n2").pid, signal.SIGKILL)
        wait_until(is_lost, process)
        wait_until(lambda: all(one["state"] == "running" for one in status(place)["instances"]), process)
        wait_until(lambda: sum(place.counts().values()) == sum(wanted.values()), process)
        note("failover")
        assert place.ask("stop")[0] == 0
        out, _ = process.communicate(timeout=60)
    finally:
        end(process)
    seen["stop"] = place.touched()
    assert place.counts() == wanted
    assert "node n2 lost" in out
    for moment, (touched, of_nodes) in seen.items():
        assert of_nodes == [], moment
        assert touched["journal.db"] or touched["channels"], f"nothing was recorded until {moment}"
    counts = [sum(touched.values()) for touched, _ in seen.values()]
    assert counts == sorted(set(counts)), "every part of the run has touched something"
    assert (place.directory / "nodes" / "n3" / "checkpoints").is_dir()


def test_the_recorder_sees_every_way_to_touch_a_file(tmp_path):
    """Else the test above could not fail."""
    hook, below = tmp_path / "hook", tmp_path / "run" / "nodes"
    hook.mkdir()
    below.mkdir(parents=True)
    (hook / "sitecustomize.py").write_text(RECORDER)
    touching = """
import os, pathlib, shutil, sys
nodes = pathlib.Path(sys.argv[1])
(nodes / "a").write_text("")
(nodes / "a").rename(nodes / "b")
(nodes / "c").hardlink_to(nodes / "b")
(nodes / "b").unlink()
list(nodes.iterdir())
list(nodes.parent.glob("nodes/*"))
(nodes / "d").mkdir()
shutil.rmtree(nodes / "d")
"""
    recording = {"RECORDED_IN": str(tmp_path / "log"), "RECORDED_BELOW": str(tmp_path / "run")}
    environment = {**os.environ, "PYTHONPATH": str(hook), **recording}
    subprocess.run([sys.executable, "-c", touching, str(below)], check=True, env=environment)
    recorded = {tuple(line.split(" ", 2)[1:]) for line in (tmp_path / "log").read_text().splitlines()}
    assert recorded >= {
        ("open", "nodes/a"),
        ("os.rename", "nodes/b"),
        ("os.link", "nodes/c"),
        ("os.remove", "nodes/b"),
        ("os.listdir", "nodes"),
        ("os.scandir", "nodes"),
        ("os.mkdir", "nodes/d"),
        ("shutil.rmtree", "nodes/d"),
    }
