"""Backlog, hops and response times out of channels; a whole monitor over nodes that are made up."""

import json
import time
from pathlib import Path

import pytest
from tests.runtime.channels.world import Row, publish
from tests.runtime.query.test_progress_report import ran, read, report

from rheostat.app import App, operator
from rheostat.control.knowledge.averages import Readings
from rheostat.errors import NodeUnreachable
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.observation import FIGURES, Subject
from rheostat.runtime.channels.port.channel import EpochClaim, ProducedBatch
from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.metrics.collector import CollectorSettings, MetricsCollector
from rheostat.runtime.nodes.node_usage import Usage
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.physical_plan import physical_plan
from rheostat.runtime.plan.run_paths import RunPaths


def nothing(*_frames):
    """Never called: the nodes here are made up."""


@operator(key="k", max_replicas=100)
def keyed(*_frames):
    """Never called either."""


class MadeUpNode:
    """Runs batches of 100 rows every half second, on paper."""

    def __init__(self, name: str, blueprint: Blueprint) -> None:
        self.name, self.blueprint, self.batches, self.silent = name, blueprint, 0, False
        self.instances: dict[str, tuple[str, ...]] = {}

    def statuses(self):
        last = self.batches - 1
        return [InstanceStatus(name, "running", last, last) for name in self.instances]

    def progress(self, instance, after=-1):
        return ran(self.reports(instance, after))

    def reports(self, instance, after=-1):
        chain = self.instances[instance]
        counted = {f"to:{name}": 100 for name in chain[1:]}
        channels = [f"{stream.source}--{chain[0]}" for stream in self.blueprint.application.inputs[chain[0]]]
        first = max(after + 1, self.batches - 100)
        return [
            report(n, 1000 + n / 2, 100 + n % 7 * 20, counted=counted, work_ms=60 + n % 7 * 20, query=instance, state=9)
            | {"sources": [read(channel, 100) for channel in channels]}
            for n in range(first, self.batches)
        ]

    def usage(self):
        if self.silent:
            raise NodeUnreachable(self.name, "asleep")
        return Usage(1000 + self.batches / 2, self.batches / 4, 1e9, 4e9, 2)

    def round_trip_ms(self):
        return 5.0


def made_up(root: Path, nodes: int, operators: int):
    app = App("made-up")
    app.source("source", nothing)
    before = "source"
    for number in range(operators):
        app.operator(keyed, name=f"op{number}", reads=before)
        before = f"op{number}"
    app.sink("out", reads=before)
    application = app.build()
    names = [f"n{number}" for number in range(nodes)]
    everywhere = Replicas.on(*names)
    placed = dict.fromkeys(application.flow, everywhere) | {"source": Replicas.on("n0"), "out": Replicas.on("n0")}
    infrastructure = Infrastructure("made-up", tuple(Node(name, 64) for name in names))
    columns = {name: Columns(json.dumps({"type": "struct", "fields": []})) for name in application.flow}
    blueprint = Blueprint(application, infrastructure, RunPaths(root), columns)
    blueprint.create_channels()
    plan = physical_plan(application, Deployment.of(placed), 12)
    fakes = {name: MadeUpNode(name, blueprint) for name in names}
    for instance in plan.instances:
        fakes[instance.node].instances[instance.name] = instance.operators
    return blueprint, plan, fakes


def last_values(samples, now):
    """The last value of every figure."""
    readings = Readings(0.0, FIGURES)
    readings.take(samples, now)
    return readings


def test_a_monitor_tells_of_everything_and_of_nodes_that_fall_silent(tmp_path):
    blueprint, plan, nodes = made_up(tmp_path, 3, 2)
    monitor = MetricsCollector(blueprint, nodes, CollectorSettings(period_seconds=10, silence_seconds=15))
    results = blueprint.results("out")
    producer = results.producers.open(EpochClaim("out@n0", 1))
    seen = Readings(0.0, FIGURES)
    for period in range(1, 4):
        for node in nodes.values():
            node.batches = 20 * period
        nodes["n2"].silent = period > 1
        now = 1000 + 10 * period
        ingest = IngestHistogram.of([now * 1000 - 700] * 10)
        producer.publish(ProducedBatch(period, frontier=period, ingest=ingest), now * 1000 - 200)
        samples = monitor.samples(plan, now)
        assert monitor.samples(plan, now + 1) == [], "the period is not over"
        seen.take(samples, now)
        if period == 1:
            whole = last_values(samples, now)
    assert whole.value(Subject.operator("op0"), "input_rate") == pytest.approx(3 * 200)
    assert whole.value(Subject.stream("op0", "op1"), "input_rate") == pytest.approx(3 * 200)
    assert whole.value(Subject.operator("op1"), "replicas") == 3
    assert whole.value(Subject.operator("op1"), "state_rows") == 27
    assert whole.value(Subject.application("made-up"), "response_p50_ms") == pytest.approx(500, rel=0.03)
    assert whole.value(Subject.link("n0", "n1"), "delay_ms") > 0
    assert seen.value(Subject.node("n2"), "availability") == pytest.approx(1 / 3)
    assert seen.value(Subject.node("n2"), "heartbeat_age") == pytest.approx(20)
    latest = {(sample.subject, figure) for sample in samples for figure in sample.figures}
    assert (Subject.instance("op0", "n1"), "input_rate") in latest
    assert (Subject.operator("op0"), "input_rate") not in latest, "a part of it is not known"
    assert (Subject.stream("op0", "op1"), "input_rate") not in latest, "here too"
    (silent,) = monitor.symptoms
    assert (silent.subject, silent.since_seconds) == (Subject.node("n2"), 1010)


@pytest.mark.parametrize(("seconds_ago", "told"), [(10, 810.0), (1, 600.0)])
def test_what_arrives_is_told_by_what_waits_where_an_operator_does_not_keep_up(seconds_ago, told, tmp_path):
    """Three instances read 200 rows a second each, 900 arrive; the last of them were not published yet."""
    blueprint, plan, nodes = made_up(tmp_path, 3, 1)
    for node in nodes.values():
        node.batches = 20
    channel = blueprint.inputs_of(plan.with_head("op0")[0])[0]
    producer = channel.producers.open(EpochClaim("source@n0", 1))
    for number in range(seconds_ago):
        rows = [Row("source@n0", n, n % 12) for n in range(900)]
        publish(channel, producer, number, rows, now_ms=(1010 - seconds_ago + number) * 1000)
    samples = MetricsCollector(blueprint, nodes, CollectorSettings(period_seconds=10)).samples(plan, 1010)
    seen = last_values(samples, 1010)
    assert seen.value(Subject.operator("op0"), "input_rate") == pytest.approx(told)
    assert seen.value(Subject.stream("source", "op0"), "input_rate") == pytest.approx(600), "what was read"


@pytest.mark.parametrize("seconds_ago", [10, 1])
def test_who_lets_more_wait_than_it_reads_is_as_busy_as_all_of_it_would_keep_it(seconds_ago, tmp_path):
    """A node that was never used reads little at first: it looks idle, and is not."""
    blueprint, plan, nodes = made_up(tmp_path, 3, 1)
    for node in nodes.values():
        node.batches, node.reports = 20, varied(node.reports)
    channel = blueprint.inputs_of(plan.with_head("op0")[0])[0]
    producer = channel.producers.open(EpochClaim("source@n0", 1))
    for number in range(seconds_ago):
        rows = [Row("source@n0", n, n % 12) for n in range(900)]
        publish(channel, producer, number, rows, now_ms=(1010 - seconds_ago + number) * 1000)
    samples = MetricsCollector(blueprint, nodes, CollectorSettings(period_seconds=10)).samples(plan, 1010)
    seen = last_values(samples, 1010)
    has_to = 810 if seconds_ago == 10 else seen.value(Subject.stream("source", "op0"), "input_rate")
    assert seen.value(Subject.operator("op0"), "true_rate") == pytest.approx(1000 / ROW_MS)
    assert seen.value(Subject.operator("op0"), "utilization") == pytest.approx(ROW_MS / 1000 * has_to / 3)


def test_of_a_query_that_begins_with_a_source_all_operators_have_to_do_what_comes_in_there(tmp_path):
    """It reads a third of what comes in: as much as it can, so nothing else shows that it is too slow."""
    blueprint, plan, nodes = made_up(tmp_path, 1, 1)
    assert [instance.operators for instance in plan.instances] == [("source", "op0", "out")]
    told, nodes["n0"].batches = nodes["n0"].reports, 20

    def seen(arriving):
        """A batch reads 100 rows on average while so many arrive."""

        def reports_of(instance, after=-1):
            reports = told(instance, after)
            for number, one in enumerate(reports, 1):
                end = {"endOffset": {"rows": 100 * number}, "latestOffset": {"rows": 5000 + arriving * number}}
                rows = 60 + (number - 1) % 5 * 20
                one["sources"] = [{"numInputRows": rows, "startOffset": None, **end}]
                one["sink"] = {"description": "channels", "numOutputRows": rows}
                one["durationMs"] = {"addBatch": 40 + ROW_MS * rows, "triggerExecution": 90 + ROW_MS * rows}
            return reports

        nodes["n0"].reports = reports_of
        samples = MetricsCollector(blueprint, nodes, CollectorSettings(period_seconds=10)).samples(plan, 1010)
        found = last_values(samples, 1010)
        return {name: found.value(Subject.operator("op0"), name) for name in ("utilization", "input_rate")}

    at_ease, behind = seen(arriving=100), seen(arriving=300)
    assert at_ease["input_rate"] == pytest.approx(200, rel=0.05)
    assert behind == pytest.approx({name: 3 * value for name, value in at_ease.items()}, rel=0.05)


ROW_MS = 0.5


def varied(told):
    """Batches of several sizes, so that it is known what a row costs."""

    def reports_of(instance, after=-1):
        reports = told(instance, after)
        for number, one in enumerate(reports):
            rows = 60 + number % 5 * 20
            one["sources"] = [{**source, "numInputRows": rows} for source in one["sources"]]
            one["durationMs"] = {"addBatch": 40 + ROW_MS * rows, "triggerExecution": 90 + ROW_MS * rows}
        return reports

    return reports_of


def test_a_query_that_is_behind_its_source_is_a_symptom(tmp_path):
    blueprint, plan, nodes = made_up(tmp_path, 3, 1)
    told = nodes["n0"].reports

    def behind(instance, after=-1):
        offsets = {"numInputRows": 100, "endOffset": {"rows": 100}, "latestOffset": {"rows": 9100}}
        at_the_source = nodes["n0"].instances[instance][0] == "source"
        return [{**one, "sources": [offsets]} if at_the_source else one for one in told(instance, after)]

    nodes["n0"].batches, nodes["n0"].reports = 20, behind
    monitor = MetricsCollector(blueprint, nodes, CollectorSettings(period_seconds=10))
    monitor.samples(plan, 1010)
    lags = [one for one in monitor.symptoms if "9000 rows" in one.what]
    assert [one.subject for one in lags] == [Subject.instance("source", "n0")]


def test_a_hundred_instances_cost_little(tmp_path):
    blueprint, plan, nodes = made_up(tmp_path, 10, 10)
    assert len(plan.instances) >= 100
    monitor = MetricsCollector(blueprint, nodes, CollectorSettings(period_seconds=10))
    for period in range(1, 7):
        for node in nodes.values():
            node.batches = 20 * period
        began = time.process_time()
        samples = monitor.samples(plan, 1000 + 10 * period)
        took = time.process_time() - began
    print(f"{len(plan.instances)} instances, {len(samples)} samples: {1000 * took:.0f} ms of processor time")
    assert took < 1.0
