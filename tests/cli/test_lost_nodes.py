"""A node that is gone: others run what ran there, nothing new goes there, and it takes its own again."""

from rheostat.control.ports import Refused
from rheostat.model.deployment import Deployment
from tests.cli.quiet_nodes import quiet_run


def test_others_stand_in_for_a_lost_node_until_it_is_back(tmp_path):
    with quiet_run(tmp_path / "app") as running:
        runtime, nodes = running.controller.runtime, running.nodes
        own = set(nodes["n1"].running)
        assert own, "everything is on n1 at first"
        nodes["n1"].kill()
        runtime.lose("n1")
        runtime.heal()
        assert set(nodes["n2"].running) | set(nodes["n3"].running) == own
        assert set(nodes["n1"].running) == set()
        before = runtime.deployment()
        refused = runtime.deploy(Deployment.of({**{n: dict(r.counts) for n, r in before.items()}, "split": {"n1": 2}}))
        assert isinstance(refused, Refused)
        runtime.use(nodes["n1"])
        runtime.heal()
        assert set(nodes["n1"].running) == own
        assert not nodes["n2"].running
        assert not nodes["n3"].running
