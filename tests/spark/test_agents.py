"""Node agents as processes: reached only with the token, killed with kill -9, exact all the same."""

import time
from random import Random

import httpx
import pytest
from experiments.subjects import subject
from experiments.walks import SETTINGS, finish, random_deployment

from rheostat.control.ports import Done
from rheostat.model.documents import write
from rheostat.model.resources import Infrastructure, Node
from rheostat.runtime.journal_sqlite import SqliteJournal
from rheostat.runtime.layout import Layout
from rheostat.runtime.processes import node_processes
from rheostat.runtime.specs import Blueprint
from rheostat.runtime.world import Runtime

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


def test_agents_that_are_killed_during_changes_lose_nothing(tmp_path):
    one = subject("window", 6, 40.0, 40.0)
    two = Infrastructure("two", (Node("n1", 64), Node("n2", 64)))
    random = Random(11)
    with node_processes(two, tmp_path) as (processes, nodes):
        journal = SqliteJournal(Layout(tmp_path).journal)
        columns = nodes["n1"].columns(write(one.application))
        blueprint = Blueprint(one.application, two, Layout(tmp_path), columns, SETTINGS)
        runtime = Runtime(blueprint, nodes, journal)

        def anywhere():
            wanted = random_deployment(one.application, random)
            replaced = {name: {node.replace("n3", "n1"): n for node, n in r.counts} for name, r in wanted.items()}
            return type(wanted).of(replaced)

        runtime.launch(anywhere())
        kills = 0
        for number in range(4):
            if number % 2:
                processes.kill("n1" if number == 1 else "n2")
                kills += 1
            runtime.deploy(anywhere())
            for node in processes.revive():
                runtime.use(node)
            runtime.heal()
        assert kills == 2
        assert isinstance(runtime.deploy(anywhere()), Done)
        finish(runtime, one.total)
        assert one.differences(runtime.results(one.sink).to_pylist()) == (0, 0)
        port = next(iter(nodes.values()))._client.base_url.port
        runtime.stop()
        journal.close()
        assert processes.dead() == []
        assert port is not None
    deadline = time.monotonic() + 10
    while True:
        try:
            httpx.get(f"http://127.0.0.1:{port}/heartbeat", timeout=1)
        except httpx.TransportError:
            break
        assert time.monotonic() < deadline
