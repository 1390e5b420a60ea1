"""Processor time and memory that a node uses, and its heartbeats.

A node in a process of its own is measured with all its children: Spark's JVM and the Python workers. Embedded nodes
share one process, so each of them tells the same figures, those of all together.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from threading import Lock

import psutil

HEARTBEATS_REMEMBERED = 100
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process and its children have used."""

    at_seconds: float
    cpu_seconds: float
    """Processor time since the start, with that of children that are gone."""
    memory_bytes: float
    memory_limit_bytes: float
    processors: float

    def to_dict(self) -> dict[str, float]:
        """As plain data, for the way from an agent."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, float]) -> "Usage":
        """What `to_dict` gave."""
        return cls(**document)

    def figures(self, before: "Usage | None") -> dict[str, float]:
        """As figures of a node; the share of the processors needs an earlier measurement of the same process."""
        found = {
            "cpu_seconds": self.cpu_seconds,
            "memory_bytes": self.memory_bytes,
            "memory_limit_bytes": self.memory_limit_bytes,
        }
        if before is not None and self.at_seconds > before.at_seconds and self.cpu_seconds >= before.cpu_seconds:
            used = (self.cpu_seconds - before.cpu_seconds) / (self.at_seconds - before.at_seconds)
            found["cpu"] = used / self.processors
        return found


@dataclass(slots=True)
class UsageMeter:
    """Measures this process and all below it, and not more often than needed.

    It took 55 ms, most of them for adding up the pages of a JVM, and embedded nodes all ask the same at the same
    moment: three of them, every 4/3 s, make an eighth of a core.
    """

    fresh_seconds: float = 0.3
    """Age up to which an answer is given again."""
    memory_seconds: float = 10.0
    """Time for which a measured memory counts; processor time is measured each time."""
    clock: Callable[[], float] = time.monotonic
    _lock: Lock = field(default_factory=Lock)
    _known: Usage | None = None
    _known_at: float = -inf
    _memory_at: float = -inf

    def usage(self) -> Usage:
        """As it is now, or as it was just before."""
        with self._lock:
            now = self.clock()
            if self._known is None or now - self._known_at >= self.fresh_seconds:
                weigh = self._known is None or now - self._memory_at >= self.memory_seconds
                self._memory_at = now if weigh else self._memory_at
                self._known_at = now
                self._known = measured_usage(None if weigh or self._known is None else self._known.memory_bytes)
            return self._known


def measured_usage(memory_bytes: float | None = None) -> Usage:
    """Of this process and all below it; with `memory_bytes` the memory is not added up anew."""
    own = psutil.Process()
    cpu_seconds = memory = 0.0
    for process in [own, *own.children(recursive=True)]:
        try:
            with process.oneshot():
                times = process.cpu_times()
                memory += _memory_of(process) if memory_bytes is None else 0.0
                # Children that ended are in the times of who waited for them.
                cpu_seconds += times.user + times.system + times.children_user + times.children_system
        except psutil.Error:
            continue  # it ended meanwhile
    known = memory if memory_bytes is None else memory_bytes
    return Usage(time.time(), cpu_seconds, known, _memory_limit(), float(len(os.sched_getaffinity(0))))


def _memory_of(process: psutil.Process) -> float:
    """Its share of the memory that is really taken: Spark's Python processes are forks that have most pages in common.

    What two of them share counts half for each; where the system does not tell, all that is resident counts.
    """
    try:
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024.0 * float(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return float(process.memory_info().rss)


def _memory_limit() -> float:
    physical = float(psutil.virtual_memory().total)
    try:
        return min(physical, float(_CGROUP_LIMIT.read_text()))
    except (OSError, ValueError):
        return physical


@dataclass(slots=True)
class Heartbeats:
    """When a node answered, and how often in time."""

    since_seconds: float
    """When it was first asked."""
    last_seconds: float | None = None
    _in_time: deque[bool] = field(default_factory=lambda: deque(maxlen=HEARTBEATS_REMEMBERED))

    def beat(self, at_seconds: float, *, in_time: bool, answered: bool = True) -> None:
        """Notes one question; an answer that came too late is an answer, but not in time."""
        self._in_time.append(in_time and answered)
        if answered:
            self.last_seconds = at_seconds

    def age_seconds(self, now_seconds: float) -> float:
        """Time since the last answer, or since the first question if there was none."""
        known = self.since_seconds if self.last_seconds is None else self.last_seconds
        return max(0.0, now_seconds - known)

    def figures(self, now_seconds: float) -> dict[str, float]:
        """As figures of a node."""
        found = {"heartbeat_age": self.age_seconds(now_seconds)}
        if self._in_time:
            found["availability"] = sum(self._in_time) / len(self._in_time)
        return found
