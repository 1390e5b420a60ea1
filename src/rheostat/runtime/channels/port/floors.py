"""Floors: places in a log below which nothing will be asked for again."""

from collections.abc import Iterable, Mapping

from rheostat.runtime.channels.port.channel import Place
from rheostat.runtime.channels.records.key_groups import Groups
from rheostat.runtime.channels.records.offset import Offset

Committed = Mapping[str, Mapping[str, Offset]]
"""Offsets by subscription and consumer."""


def floors_of(committed: Committed, groups: Groups, producers: Iterable[str]) -> dict[str, Place]:
    """Places below which every group of every subscription is done; without producers that some have not begun."""
    found = ((producer, _floor(committed, groups, producer)) for producer in producers)
    return {producer: floor for producer, floor in found if floor is not None}


def finished_before(offsets: Iterable[Offset], producer: str) -> Place | None:
    """The place before which all these offsets are done with a producer, None if one of them has not begun."""
    places = [cohort.at.get(producer) for offset in offsets for cohort in offset.cohorts]
    known = [(place.epoch, place.done) for place in places if place is not None]
    return min(known) if known and len(known) == len(places) else None


def lower(floors: Mapping[str, Place], others: Mapping[str, Place]) -> dict[str, Place]:
    """The lower floor of each producer; one that is missing in either has none."""
    return {name: min(floor, others[name]) for name, floor in floors.items() if name in others}


def _floor(committed: Committed, groups: Groups, producer: str) -> Place | None:
    """The floor of one producer, None if some group of some subscription has no consumer that has begun."""
    least: Place | None = None
    for by_consumer in committed.values():
        covered: frozenset[int] = frozenset().union(*(offset.groups for offset in by_consumer.values()))
        floor = finished_before(by_consumer.values(), producer)
        if covered != groups or floor is None:
            return None
        least = floor if least is None else min(least, floor)
    return least
