"""Events of a run are logged by the room that they happen in."""

import logging

from tests.cli.quiet_nodes import quiet_run

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.controller.watchdog import SILENCES, Watchdog
from rheostat.model.graph.deployment import Replicas
from rheostat.runtime.plan.run_paths import RunPaths


def logged(caplog):
    return [(one.name, one.levelname, one.getMessage()) for one in caplog.records]


def test_a_change_and_a_lost_run_are_logged(tmp_path, caplog):
    caplog.set_level(logging.INFO, "rheostat.controller")
    with quiet_run(tmp_path / "app") as running:
        running.controller.change(running.controller.runtime.deployment().having("split", Replicas.on("n2")))
        SqliteJournal(RunPaths(running.directory).journal).close()
        running.controller.tend()
    (_, level, change), *_, (room, severity, lost) = logged(caplog)
    assert (level, change.startswith("change migration split: {n1:1} -> {n2:1}: Done(")) == ("INFO", True)
    assert (room, severity) == ("rheostat.controller", "ERROR")
    assert "term 2 owns its journal" in lost


class SilentAgent:
    name = "n7"
    put_down_for = ""

    def is_silent(self, patience_seconds):  # noqa: ARG002 - the protocol
        return True

    def put_down(self, why):
        self.put_down_for = why


def test_an_agent_that_the_watchdog_kills_is_logged_with_the_reason(caplog):
    agent = SilentAgent()
    watchdog = Watchdog(lambda: [agent], patience_seconds=0.5)
    for _ in range(SILENCES):
        watchdog.round()
    ((_, level, message),) = logged(caplog)
    assert (level, message) == ("WARNING", f"agent of node n7 is killed: {agent.put_down_for}")
