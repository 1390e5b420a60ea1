"""What is shown of a running application: its instances, and what has flowed in the last ten seconds.

For people, who look at any time and want to see it move; managers decide by the samples of the monitor, whose periods
are the user's.
"""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from rheostat.model.graph.application import Kind
from rheostat.runtime.channels.log.consumers import lag
from rheostat.runtime.channels.log.disk_log import DiskLog
from rheostat.runtime.channels.observe.backlog import UnorderedTail
from rheostat.runtime.channels.records.channel import Channel
from rheostat.runtime.channels.records.manifest import Manifest
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.reconfigure.runtime import Runtime

WINDOW_SECONDS = 10.0
"""Rates and response times are those of the last so many seconds."""


@dataclass
class StatusView:
    """What one look has seen."""

    instances: list[dict[str, Any]] = field(default_factory=list)
    streams: list[dict[str, Any]] = field(default_factory=list)
    sources: dict[str, float] = field(default_factory=dict)
    sinks: dict[str, float | None] = field(default_factory=dict)
    response_ms: dict[str, float] | None = None
    failures: list[str] = field(default_factory=list)


class RecentRows:
    """What was published in a channel in the last seconds."""

    def __init__(self, channel: Channel) -> None:
        self._tail = UnorderedTail(DiskLog(channel))
        self._manifests: deque[Manifest] = deque()

    def at(self, now_ms: int) -> Sequence[Manifest]:
        """The manifests of the window, oldest first."""
        begin_ms = now_ms - 1000 * WINDOW_SECONDS
        self._manifests.extend(sorted(self._tail.fresh(begin_ms), key=lambda one: one.published_ms))
        while self._manifests and self._manifests[0].published_ms < begin_ms:
            self._manifests.popleft()
        return self._manifests


class SourceRows:
    """What a source has brought in the last seconds, from Spark's reports: each is asked for once."""

    def __init__(self) -> None:
        self.last_batch = -1
        self._batches: deque[tuple[float, int]] = deque()

    def rate(self, reports: Sequence[Mapping[str, Any]], now_ms: float) -> float:
        """Rows per second of the window, with the reports that are new."""
        for report in reports:
            # A trigger without rows is reported under the number that the next batch will have.
            if report["batchId"] > self.last_batch and report["numInputRows"]:
                self.last_batch = report["batchId"]
                began_ms = 1000 * datetime.fromisoformat(report["timestamp"]).timestamp()
                self._batches.append((began_ms + float(report["batchDuration"]), int(report["numInputRows"])))
        while self._batches and self._batches[0][0] < now_ms - 1000 * WINDOW_SECONDS:
            self._batches.popleft()
        return round(sum(rows for _, rows in self._batches) / WINDOW_SECONDS, 1)


class RunStatus:
    """Looks at a running application again and again."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime, self._application = runtime, runtime.blueprint.application
        self._followed: dict[str, RecentRows] = {}
        self._sources: dict[int, SourceRows] = {}
        self._failed: set[str] = set()

    def at(self, statuses: Mapping[str, InstanceStatus]) -> StatusView:
        """Everything that can be seen while instances are doing like this."""
        blueprint, now_ms = self._runtime.blueprint, time.time_ns() // 1_000_000
        plan = self._runtime.plan
        heads = {instance.head for instance in plan.instances}
        seen, stand_ins = StatusView(), self._runtime.stand_ins()
        for instance in plan.instances:
            one = statuses.get(instance.name, InstanceStatus(instance.name, "starting"))
            places = {"node": instance.node, "runs_on": stand_ins.get(instance.name, instance.node)}
            facts = {"operators": list(instance.operators), **places, "replicas": instance.replicas}
            counted = {"planned": one.planned, "committed": one.committed}
            seen.instances.append({"name": one.name, "state": one.state, **facts, **counted, "error": one.error})
            # One that failed is started again in the same round; it counts if that did not help, or cannot.
            if one.state == "failed" and (one.by_user or one.name in self._failed):
                seen.failures.append(one.error)
            if self._application.by_name[instance.head].kind is Kind.SOURCE:
                brought = self._sources.setdefault(instance.number, SourceRows())
                reports = self._runtime.progress(instance, brought.last_batch)
                seen.sources[instance.head] = brought.rate(reports, now_ms)
        for stream in self._application.streams:
            # A stream inside a query has no channel in use: nothing can wait there.
            inside = stream.target not in heads
            channel = blueprint.channel(stream)
            rate = None if inside else _rate(self._recent(channel).at(now_ms))
            waiting = 0 if inside else lag(DiskLog(channel), stream.target).rows
            ends = {"from": stream.source, "to": stream.target}
            seen.streams.append({**ends, "inside": inside, "rate_tps": rate, "lag_rows": waiting})
        arrived: list[Manifest] = []
        for sink in (operator.name for operator in self._application.operators if operator.kind is Kind.SINK):
            channel = blueprint.results(sink)
            known = (channel.path / "channel.json").exists()
            manifests = self._recent(channel).at(now_ms) if known else ()
            seen.sinks[sink] = _rate(manifests) if known else None
            arrived += manifests
        seen.response_ms = _response_ms(arrived)
        self._failed = {name for name, one in statuses.items() if one.state == "failed"}
        return seen

    def _recent(self, channel: Channel) -> RecentRows:
        key = str(channel.path)
        if key not in self._followed:
            self._followed[key] = RecentRows(channel)
        return self._followed[key]


def _rate(manifests: Sequence[Manifest]) -> float:
    return round(sum(manifest.rows for manifest in manifests) / WINDOW_SECONDS, 1)


def _response_ms(manifests: Sequence[Manifest]) -> dict[str, float] | None:
    """From source to sink, over the rows of the window; None if none has come out whose age is known."""
    ages = sorted(pair for one in manifests for pair in one.ingest.ages_ms(one.published_ms))
    rows = sum(count for _, count in ages)
    if not rows:
        return None
    found = {"mean": sum(age * count for age, count in ages) / rows}
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        passed = 0
        for age, count in ages:
            passed += count
            if passed >= share * rows:
                found[name] = age
                break
    return {name: round(value, 1) for name, value in found.items()}
