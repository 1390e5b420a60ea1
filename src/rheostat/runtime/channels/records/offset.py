"""Offsets: the progress of a consumer, as a value that can be stored, split and joined by key group.

A *position* in a producer's log is (epoch, done, seen, cut): everything below slot `done` was handed over; of the
slots from `done` to `seen`, what event time allowed: per key group the rows at or before `cut` of the last slot that
has any, and everything before that slot.
Mostly done equals seen, and a position is one number. Groups that share all positions form a *cohort*; a merge of two
instances with different progress has two cohorts, which become one when the slower has caught up.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rheostat.runtime.channels.records.key_groups import Groups, format_groups, parse_groups
from rheostat.runtime.channels.records.manifest import NEVER


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the log of one producer."""

    epoch: int
    seen: int
    """Slots looked at."""
    done: int
    """Slots handed over entirely."""
    cut: int | None = None
    """Event time up to which the slots between done and seen were handed over; None if there are none."""

    def __post_init__(self) -> None:
        """Rejects positions that two texts could stand for."""
        if not 0 <= self.done <= self.seen or (self.done == self.seen) != (self.cut is None):
            raise ValueError(f"need 0 <= done <= seen and a cut exactly between them, got {self}")

    @classmethod
    def at(cls, epoch: int, slot: int) -> "Position":
        """Everything below the slot is handed over."""
        return cls(epoch, slot, slot)

    def meet(self, other: "Position") -> "Position":
        """The position up to which both have handed over."""
        if self.epoch != other.epoch:
            return min(self, other)
        cuts = [place.cut for place in (self, other) if place.cut is not None]
        seen, done = min(self.seen, other.seen), min(self.done, other.done, self.seen, other.seen)
        return Position(self.epoch, seen, done, min(cuts) if done < seen else None)

    def join(self, other: "Position") -> "Position":
        """The position up to which either has handed over."""
        if self.epoch != other.epoch:
            return max(self, other)
        cuts = [place.cut for place in (self, other) if place.cut is not None]
        seen, done = max(self.seen, other.seen), max(self.done, other.done)
        return Position(self.epoch, seen, done, max(cuts) if done < seen else None)


At = Mapping[str, Position]
"""Positions by producer. A producer that is missing has not been read at all."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """Key groups that have come equally far."""

    groups: Groups
    at: At


@dataclass(frozen=True, slots=True)
class Offset:
    """Progress of a consumer in one channel. Build it with `of`, which gives equal offsets equal forms."""

    channel: str
    cohorts: tuple[Cohort, ...]
    frontier: int = NEVER
    """Least event time promised by all producers: the consumer may promise it about the rest of its input."""

    @classmethod
    def of(cls, channel: str, cohorts: Iterable[Cohort], frontier: int = NEVER) -> "Offset":
        """The offset with as few cohorts as possible, in a fixed order."""
        joined: dict[tuple[tuple[str, Position], ...], set[int]] = {}
        covered: set[int] = set()
        for cohort in cohorts:
            if covered & cohort.groups:
                raise ValueError(f"key groups {format_groups(covered & cohort.groups)} occur twice")
            covered |= cohort.groups
            if cohort.groups:
                joined.setdefault(tuple(sorted(cohort.at.items())), set()).update(cohort.groups)
        parts = sorted(joined.items(), key=lambda item: min(item[1]))
        return cls(channel, tuple(Cohort(frozenset(groups), dict(at)) for at, groups in parts), frontier)

    @classmethod
    def start(cls, channel: str, groups: Groups) -> "Offset":
        """Nothing was read."""
        return cls.of(channel, [Cohort(groups, {})])

    @property
    def groups(self) -> Groups:
        """All groups covered."""
        return frozenset().union(*(cohort.groups for cohort in self.cohorts))

    def to_document(self) -> dict[str, Any]:
        """The offset as JSON."""
        cohorts = [{"groups": format_groups(cohort.groups), "at": _written(cohort.at)} for cohort in self.cohorts]
        return {"channel": self.channel, "cohorts": cohorts, "frontier": self.frontier}


def format_offset(offset: Offset) -> str:
    """The offset as text; equal offsets give equal texts, as Spark compares them."""
    return json.dumps(offset.to_document())


def parse_offset(document: str | Mapping[str, Any]) -> Offset:
    """The offset that `to_document` or `format_offset` wrote."""
    content = json.loads(document) if isinstance(document, str) else document
    cohorts = [Cohort(parse_groups(part["groups"]), _read(part["at"])) for part in content["cohorts"]]
    return Offset.of(content["channel"], cohorts, content.get("frontier", NEVER))


def merge(offsets: Iterable[Offset]) -> Offset:
    """One offset for all the groups of several; their groups are disjoint."""
    parts = list(offsets)
    names = {part.channel for part in parts}
    if len(names) != 1:
        raise ValueError(f"only offsets of one channel can be merged, got {sorted(names)}")
    cohorts = [cohort for part in parts for cohort in part.cohorts]
    return Offset.of(names.pop(), cohorts, min(part.frontier for part in parts))


def restrict(offset: Offset, groups: Groups) -> Offset:
    """The part of an offset that is about these groups."""
    if not groups <= offset.groups:
        raise ValueError(f"the offset does not cover key groups {format_groups(groups - offset.groups)}")
    cohorts = [Cohort(cohort.groups & groups, cohort.at) for cohort in offset.cohorts]
    return Offset.of(offset.channel, cohorts, offset.frontier)


def side_by_side(left: Offset, right: Offset) -> Iterator[tuple[Groups, At, At]]:
    """Groups with their positions in both offsets, in parts as large as possible."""
    for a in left.cohorts:
        for b in right.cohorts:
            if a.groups & b.groups:
                yield a.groups & b.groups, a.at, b.at


def meet(left: Offset, right: Offset) -> Offset:
    """The offset up to which both have handed over, for the groups both cover."""
    cohorts = [
        Cohort(groups, {name: a[name].meet(b[name]) for name in a.keys() & b.keys()})
        for groups, a, b in side_by_side(left, right)
    ]
    return Offset.of(left.channel, cohorts, min(left.frontier, right.frontier))


def join(left: Offset, right: Offset) -> Offset:
    """The offset up to which either has handed over, for the groups both cover."""
    cohorts = [
        Cohort(groups, {**a, **b, **{name: a[name].join(b[name]) for name in a.keys() & b.keys()}})
        for groups, a, b in side_by_side(left, right)
    ]
    return Offset.of(left.channel, cohorts, max(left.frontier, right.frontier))


def _written(at: At) -> dict[str, Any]:
    return {
        f"{name}/{place.epoch}": place.seen if place.cut is None else [place.done, place.seen, place.cut]
        for name, place in sorted(at.items())
    }


def _read(written: Mapping[str, Any]) -> dict[str, Position]:
    at: dict[str, Position] = {}
    for key, value in written.items():
        name, _, epoch = key.rpartition("/")
        done, seen, cut = value if isinstance(value, list) else (value, value, None)
        at[name] = Position(int(epoch), seen, done, cut)
    return at
