"""A node that is gone: others run what ran there, nothing new goes there, and it takes its own again."""

from rheostat.control.loop.ports import Done, Refused
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.runtime.reconfigure.runtime import Runtime
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
        nodes["n1"].revive()
        runtime.use(nodes["n1"])
        runtime.heal()
        assert set(nodes["n1"].running) == own
        assert not nodes["n2"].running
        assert not nodes["n3"].running


def test_who_has_the_most_room_stands_in(tmp_path):
    with quiet_run(tmp_path / "app") as running:
        runtime, nodes = running.controller.runtime, running.nodes
        runtime.deploy(runtime.deployment().having("split", Replicas.on("n1", "n1")).having("out", Replicas.on("n3")))
        nodes["n3"].kill()
        runtime.lose("n3")
        runtime.heal()
        assert set(nodes["n2"].running) == {"out@n3"}, "n1 is full"
        nodes["n2"].kill()
        runtime.lose("n2")
        runtime.heal()
        assert set(nodes["n1"].running) == {"lines@n1", "split@n1", "out@n3"}, "there is nobody else"
        nodes["n2"].revive()
        runtime.use(nodes["n2"])
        runtime.heal()
        assert not nodes["n2"].running, "who stands in goes on doing so"


def test_a_run_that_is_taken_up_without_one_of_its_nodes_can_be_changed_all_the_same(tmp_path):
    with quiet_run(tmp_path / "app") as running:
        blueprint, journal = running.controller.runtime.blueprint, running.controller.runtime.journal
        before = running.controller.runtime.deployment()
        running.controller.runtime.deploy(before.having("split", Replicas.on("n1", "n2")))
        running.nodes["n2"].kill()
        others = {name: node for name, node in running.nodes.items() if name != "n2"}
        runtime = Runtime(blueprint, others, journal)
        runtime.lose("n2")
        runtime.launch(before)
        assert runtime.deployment()["split"] == Replicas.on("n1", "n2"), "it goes on with the deployment it had"
        assert isinstance(runtime.deploy(runtime.deployment().having("out", Replicas.on("n3"))), Done)
        assert isinstance(runtime.deploy(runtime.deployment().having("out", Replicas.on("n2"))), Refused)
        assert isinstance(runtime.deploy(runtime.deployment().having("split", Replicas.on("n1", "n1"))), Done)


def test_an_operator_can_leave_one_lost_node_while_it_is_on_another(tmp_path):
    with quiet_run(tmp_path / "app") as running:
        runtime = running.controller.runtime
        runtime.deploy(runtime.deployment().having("split", Replicas.on("n2", "n3")))
        for name in ("n2", "n3"):
            running.nodes[name].kill()
            runtime.lose(name)
        runtime.heal()
        assert isinstance(runtime.deploy(runtime.deployment().having("split", Replicas.on("n2", "n2"))), Refused)
        assert isinstance(runtime.deploy(runtime.deployment().having("split", Replicas.on("n1", "n3"))), Done)
        assert set(running.nodes["n1"].running) == {instance.name for instance in runtime.plan.instances}
