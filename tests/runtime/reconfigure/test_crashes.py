"""A controller that dies at any step of a change: the next one finishes or undoes it, and nothing is lost."""

from random import Random

import pytest
from experiments.crashes import STEPS, ControllerDied, CrashingJournal, controller_dies
from experiments.subjects import subject
from experiments.walks import SETTINGS, finish, random_deployment, three_nodes

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.control.loop.migration import Event, Migration
from rheostat.runtime.nodes.spark_node import SparkNode
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.query.schema_discovery import discover_columns
from rheostat.runtime.reconfigure.runtime import Runtime

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


def test_a_controller_killed_at_every_step_of_the_table_loses_nothing(nodes_session, tmp_path):
    one = subject("window", 3, 60.0, 30.0)
    random = Random(5)
    journal = SqliteJournal(RunPaths(tmp_path).journal)
    blueprint = Blueprint(
        one.application, three_nodes(), RunPaths(tmp_path), discover_columns(nodes_session, one.application), SETTINGS
    )
    # The agents outlive their controller: the same nodes serve the next one.
    nodes = {node.name: SparkNode(node.name, nodes_session, tmp_path) for node in three_nodes().nodes}
    runtime = Runtime(blueprint, nodes, journal)
    current = random_deployment(one.application, random)
    runtime.launch(current)
    # Before and after: in one process there is nobody to die in the middle; `test_faults` kills processes.
    for event, moment in (step for step in STEPS if step[1] != "during"):
        wanted = random_deployment(one.application, random)
        doomed = Runtime(blueprint, nodes, CrashingJournal(journal, event, moment, controller_dies))
        doomed.launch(current)
        with pytest.raises(ControllerDied):
            assert doomed.deploy(wanted) is None, (event, moment)
        runtime = Runtime(blueprint, nodes, journal)
        runtime.launch(current)
        switched = (event, moment) == (Event.BUILT, "after") or event in {
            Event.STARTED,
            Event.RESUMED,
        }
        assert runtime.deployment() == (wanted if switched else current)
        current = runtime.deployment()
    finish(runtime, one.total)
    assert one.differences(runtime.results(one.sink).to_pylist()) == (0, 0)
    runtime.stop()
    journal.close()


def test_what_is_in_the_journal_is_a_path_through_the_table(nodes_session, tmp_path):
    one = subject("count", 3, 60.0, 6.0)
    random = Random(8)
    journal = SqliteJournal(RunPaths(tmp_path).journal)
    blueprint = Blueprint(
        one.application, three_nodes(), RunPaths(tmp_path), discover_columns(nodes_session, one.application), SETTINGS
    )
    nodes = {node.name: SparkNode(node.name, nodes_session, tmp_path) for node in three_nodes().nodes}
    runtime = Runtime(blueprint, nodes, journal)
    runtime.launch(random_deployment(one.application, random))
    for _ in range(2):
        runtime.deploy(random_deployment(one.application, random))
    runtime.stop()
    events: dict[int, list[Event]] = {}
    for _, entry in journal.read(kind="change"):
        events.setdefault(entry.facts["change"], []).append(Event(entry.facts["event"]))
    assert all(Migration.replayed(steps).is_finished for steps in events.values())
    journal.close()
