"""Word Count through the real commands: run, scale and stop from outside, run again, and the counts are right.

Begun with all nodes in one process and taken up again with a process each; neither leaves anything behind.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from examples.word_count.answer import answer
from examples.word_count.sentences import sentence

from rheostat.cli.output import ExitCode
from rheostat.control.history.sqlite_journal import SqliteJournalReader
from rheostat.controller.remote_managers import TOLD_BY
from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.observe.result_rows import read_results
from rheostat.runtime.ends.seeded_random import Draw
from rheostat.runtime.nodes.agent_address import address_file, read_agent_address
from rheostat.runtime.nodes.node_messages import ManagerQuestion
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.plan.run_paths import RunPaths

ROOT = Path(__file__).parents[2]
SENTENCES, SEED = 900, 5
OUTLASTING = 2400
"""So many still come in when an agent that stands still has been found out."""
MODULE = """
from examples.word_count.app import application

app = application("30", total={sentences}, seed={seed})
"""
NODES = "kind: infrastructure\nname: two\nnodes: [{name: n1, resources: 8}, {name: n2, resources: 8}]\n"
PATIENCE_SECONDS = 240
GOES_ON = "start rheostat run again to continue from the last committed batch"


def counted(sentences):
    """Every word of so many sentences."""
    return answer(sentence(Draw(SEED, index))[0] for index in range(sentences))


WANTED = counted(SENTENCES)


def command(*arguments):
    return [sys.executable, "-c", "from rheostat.cli.main import main; main()", *arguments]


class Place:
    """A directory with an application in it."""

    def __init__(self, path, sentences=SENTENCES):
        self.path, self.directory = path, path / ".rheostat" / "word-count"
        (path / "my_words.py").write_text(MODULE.format(sentences=sentences, seed=SEED))
        (path / "nodes.yaml").write_text(NODES)
        self.scratch = path / "tmp"
        self.scratch.mkdir()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(self.scratch)}
        self.settings = {"cwd": path, "env": environment, "text": True}

    def start(self, *arguments):
        whole = command("run", "my_words:app", "nodes.yaml", "--key-groups", "4", *arguments)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(whole, start_new_session=True, **pipes, **self.settings)

    def ask(self, *arguments):
        told = subprocess.run(command(*arguments, "--json"), capture_output=True, check=False, **self.settings)
        return told.returncode, json.loads(told.stdout)

    def counts(self):
        rows = read_results(open_channel(str(self.directory / "results" / "consumer"))).to_pylist()
        return {row["word"]: row["count"] for row in rows}

    def left_behind(self):
        """Processes that were started in this place and still run, and files that only a running one needs."""
        processes = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                environment = (entry / "environ").read_bytes().split(b"\0")
                if f"TMPDIR={self.scratch}".encode() in environment and entry.name != str(os.getpid()):
                    processes.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        files = [path for path in (*self.scratch.rglob("*"), *self.directory.glob("**/scratch/**/*")) if path.is_file()]
        return processes, files


def wait_until(reached, process):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline, "out of patience"
        time.sleep(0.5)


def end(process):
    """Gracefully if it still runs: what it has started goes with it."""
    process.terminate()
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()


def insist(place, process):
    """Signals while it is being taken down, which goes on all the same."""
    wait_until(lambda: not (place.directory / "controller.json").exists(), process)
    for _ in range(3):
        process.terminate()
        time.sleep(0.1)


@pytest.mark.spark
def test_it_is_changed_stopped_and_taken_up_again_and_no_word_is_lost(tmp_path):
    place = Place(tmp_path)
    process = place.start("--for", str(PATIENCE_SECONDS))
    try:
        wait_until((place.directory / "controller.json").exists, process)
        wait_until(lambda: bool(place.counts()), process)
        code, told = place.ask("scale", "counter=3", "split=2")
        assert (code, told["effect"]) == (0, "done"), told
        code, told = place.ask("scale", "counter=9")
        assert (code, told["effect"]) == (1, "refused")
        code, told = place.ask("move", "counter", "n2")
        assert (code, told["effect"]) == (0, "done"), told
        code, told = place.ask("status")
        assert (code, told["deployment"]["counter"]) == (0, {"n2": 3})
        assert len(told["changes"]) == 2
        code, _ = place.ask("stop")
        assert code == 0
        out, _ = process.communicate(timeout=60)
    finally:
        end(process)
    assert process.returncode == 0
    assert "done: " in out
    assert place.left_behind() == ([], [])
    assert told_when_spark_dies(place) == [f"Spark has ended, see {place.directory / 'spark.log'}; {GOES_ON}"]
    again = place.start("--until-drained", "--nodes", "process")
    try:
        out, _ = again.communicate(timeout=PATIENCE_SECONDS)
    finally:
        end(again)
    assert (again.returncode, "taking word-count up again" in out) == (0, True), out
    assert place.counts() == WANTED
    code, told = place.ask("results", "--latest-by", "word", "--last", "10000")
    assert {row["word"]: row["count"] for row in told["rows"]} == place.counts()
    assert not (place.directory / "controller.json").exists()
    assert place.left_behind() == ([], [])


def told_when_spark_dies(place):
    """What a run says when its Java is killed."""
    process = place.start("--for", str(PATIENCE_SECONDS))
    try:
        wait_until((place.directory / "controller.json").exists, process)
        (java,) = [child for child in psutil.Process(process.pid).children() if child.name() == "java"]
        java.kill()
        out, _ = process.communicate(timeout=60)
    finally:
        end(process)
    assert process.returncode not in (0, ExitCode.BUG)
    assert "Traceback" not in out
    return [line for line in out.splitlines() if "Spark" in line]


def java_of(pid):
    """The Spark of an agent."""
    (java,) = [child for child in psutil.Process(pid).children() if child.name() == "java"]
    return java.pid


HARMS = {
    "killed": (lambda pid: os.killpg(pid, signal.SIGKILL), ""),
    "frozen": (lambda pid: os.killpg(pid, signal.SIGSTOP), "was ended: it left"),
    "its Spark frozen": (lambda pid: os.kill(java_of(pid), signal.SIGSTOP), "the Spark of node n2 stands still"),
}
"""What may happen to an agent, and what its log says of it."""


@pytest.mark.spark
@pytest.mark.parametrize(
    "harm", ["frozen", *(pytest.param(harm, marks=pytest.mark.acceptance) for harm in HARMS if harm != "frozen")]
)
def test_others_run_what_a_dead_agent_ran_until_its_spark_is_warm_again(tmp_path, harm):
    place, wanted, seen = Place(tmp_path, OUTLASTING), counted(OUTLASTING), []
    process = place.start("--nodes", "process", "--for", str(PATIENCE_SECONDS))

    def counter():
        """Where the counter runs, whether n2 is lost, and the last batch that is done."""
        _, told = place.ask("status")
        one = next(one for one in told["instances"] if "counter" in one["operators"])
        seen.append((one["runs_on"], next(n["lost"] for n in told["nodes"] if n["name"] == "n2"), one["committed"]))
        return seen[-1]

    try:
        wait_until((place.directory / "controller.json").exists, process)
        wait_until(lambda: bool(place.counts()), process)
        code, told = place.ask("move", "counter", "n2")
        assert (code, told["effect"]) == (0, "done"), told
        wait_until(lambda: counter()[0] == "n2", process)
        pid = json.loads(address_file(place.directory, "n2").read_text())["pid"]
        do_harm, said = HARMS[harm]
        do_harm(pid)
        wait_until(lambda: counter()[:2] == ("n1", True), process)
        then = seen[-1][2]
        wait_until(lambda: counter()[2] >= then + 3, process)
        assert seen[-1][:2] == ("n1", True), "it did not wait for a Spark to start"
        wait_until(lambda: counter()[:2] == ("n2", False), process)
        wait_until(lambda: sum(place.counts().values()) == sum(wanted.values()), process)
        assert place.ask("stop")[0] == 0
        insist(place, process)
        out, _ = process.communicate(timeout=60)
    finally:
        end(process)
    assert place.counts() == wanted
    assert "node n2 lost; instances failed over" in out
    assert "node n2 is back" in out
    assert said in (place.directory / "agents" / "n2" / "agent.log").read_text()
    assert place.left_behind() == ([], [])


def journaled(place, kind=None):
    journal = SqliteJournalReader(RunPaths(place.directory).journal)
    try:
        return [entry for _, entry in journal.read(kind=kind)]
    finally:
        journal.close()


def notes(place):
    """What the managers on the nodes have written down and no controller has taken yet."""
    entries = []
    for name in ("n1", "n2"):
        address = read_agent_address(place.directory, name)
        node = RemoteNode(name, address.port, address.token)
        report = node.exchange(ManagerQuestion()).report
        entries += [(entry.kind, entry.at_seconds) for _, entry in (report.entries if report else ())]
        node.close()
    return entries


@pytest.mark.spark
def test_application_and_managers_go_on_without_their_controller_and_the_next_one_takes_over(tmp_path):
    place = Place(tmp_path)
    control = ("--nodes", "process", "--control", "edf", "--period", "3")
    process = place.start(*control, "--for", str(PATIENCE_SECONDS))
    try:
        wait_until((place.directory / "controller.json").exists, process)
        wait_until(lambda: bool(place.counts()), process)
        wait_until(lambda: bool(journaled(place, "proposal")), process)
        process.kill()
        process.wait()
        killed_at = time.time()
        before = sum(place.counts().values())
        deadline = time.monotonic() + PATIENCE_SECONDS
        while sum(place.counts().values()) <= before or not any(at > killed_at + 3 for _, at in notes(place)):
            assert time.monotonic() < deadline, "nothing came out without the controller, or nobody looked"
            time.sleep(0.5)
        agents, _ = place.left_behind()
        assert any("rheostat.runtime.agent" in agent for agent in agents)
        taken_up_at = time.time()
        again = place.start(*control, "--until-drained")
        out, _ = again.communicate(timeout=PATIENCE_SECONDS)
        assert again.returncode == 0, out
    finally:
        end(process)
    assert place.counts() == WANTED
    assert place.left_behind() == ([], [])
    proposed = [entry.at_seconds for entry in journaled(place, "proposal")]
    told = [tuple(entry.facts[TOLD_BY]) for entry in journaled(place) if TOLD_BY in entry.facts]
    assert any(killed_at < at < taken_up_at for at in proposed), "what was found out meanwhile has arrived"
    assert len(set(told)) == len(told) >= len(proposed), "every word of every manager once"
