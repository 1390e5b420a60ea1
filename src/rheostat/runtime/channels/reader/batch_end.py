"""Choice of the next offset of a reader: how far it may go, given what is in the log.

Without event time: everything that is there, oldest publication first, up to the wanted number of rows.

With event time, the rows of several producers are mixed so that Spark's watermark drops no rows. Two rules:

1. Only the producer with the least frontier is looked at further; the others are ahead of it already, nothing of theirs
   could be handed over. So what waits here is about one manifest per producer, whatever was paused for how long.
2. Of what was looked at, producer p's rows are handed over up to the *cut*: the least frontier of all other producers.
   What stays back of p lies above that, what the others bring later lies above it too. Only the producer with the
   least frontier has a cut above its own frontier; it is lowered to the earliest row that stays back of the others.

Slots are handed over in their order, the rows of the last one by their times: a slot has no order inside, several tasks
wrote it, and they read several producers. Hence, if every producer keeps the disorder *between* its slots below d (no
row is more than d earlier than one of a slot before), then so does the mixture, however the log was cut into manifests
and batches: with a watermark delay of d no row is ever late.
Differs from releasing whole manifests: two manifests whose times overlap can never both be released that way in order.
"""

from dataclasses import dataclass, replace

from rheostat.runtime.channels.port.channel import ManifestLog
from rheostat.runtime.channels.port.places import FIRST_EPOCH, frontier_at, is_over, required
from rheostat.runtime.channels.records.channel_errors import Gone
from rheostat.runtime.channels.records.key_groups import Groups
from rheostat.runtime.channels.records.manifest import FOREVER, NEVER, Manifest
from rheostat.runtime.channels.records.offset import At, Cohort, Offset, Position


def advance(log: ManifestLog, start: Offset, max_rows: int | None = None) -> Offset:
    """The offset after the next batch: `start` itself if there is nothing new.

    At least one manifest is taken if there is one, and no further one once `max_rows` is reached.
    """
    producers = log.producers()
    walks = [_Walk(log, cohort.groups, cohort.at, producers) for cohort in start.cohorts]
    rows = 0
    while max_rows is None or rows < max_rows:
        steps = [(step.rank, index) for index, walk in enumerate(walks) if (step := walk.next_step()) is not None]
        if not steps:
            break
        rows += walks[min(steps)[1]].take()
    cohorts = [Cohort(walk.groups, walk.positions()) for walk in walks]
    frontier = min((walk.frontier() for walk in walks), default=NEVER)
    end = Offset.of(start.channel, cohorts, max(frontier, start.frontier))
    return start if end.cohorts == start.cohorts else end


@dataclass(frozen=True, slots=True)
class _Step:
    rank: int
    producer: str
    epoch: int
    slot: int
    manifest: Manifest


class _Walk:
    """One cohort on its way through the log."""

    def __init__(self, log: ManifestLog, groups: Groups, at: At, producers: tuple[str, ...]) -> None:
        self.groups = groups
        self._log, self._timed = log, log.spec.event_time is not None
        self._start = at
        self._places = {name: at.get(name) or self._newcomer(name) for name in {*producers, *at}}
        self._frontiers = {name: self._frontier_of(name) for name in self._places}
        self._ahead: dict[str, _Step | None] = {}
        self._next: _Step | None = None
        if self._timed:
            self._settle()
        self._choose()

    def next_step(self) -> _Step | None:
        """The manifest to take next, None if none may be taken."""
        return self._next

    def take(self) -> int:
        """Takes the next manifest; returns how many rows it brings."""
        step = self._next
        if step is None:
            raise ValueError("there is no manifest to take")
        self._ahead.pop(step.producer)
        place = self._places[step.producer]
        if self._timed:
            done, cut = (place.done, place.cut) if place.epoch == step.epoch else (step.slot, None)
            waits = done < step.slot or step.manifest.latest > NEVER
            cut = NEVER if waits and cut is None else cut
            self._places[step.producer] = Position(
                step.epoch, step.slot + 1, done if waits else step.slot + 1, cut if waits else None
            )
            self._frontiers[step.producer] = self._frontier_of(step.producer)
            self._settle()
        else:
            self._places[step.producer] = Position.at(step.epoch, step.slot + 1)
        self._choose()
        return step.manifest.rows_for(self.groups)

    def positions(self) -> dict[str, Position]:
        """Position of every producer; one of which nothing was taken is left out, as it is in the start."""
        return {
            name: place for name, place in self._places.items() if name in self._start or place != self._newcomer(name)
        }

    def frontier(self) -> int:
        """The event time that may be promised about the rest of the input."""
        if not self._frontiers:
            return NEVER
        return min(self._frontier_of(name) for name in self._places)

    def _newcomer(self, name: str) -> Position:
        return Position.at(FIRST_EPOCH, self._log.begin(name, FIRST_EPOCH))

    def _frontier_of(self, name: str) -> int:
        place = self._places[name]
        return frontier_at(self._log, name, place.epoch, place.seen)

    def _choose(self) -> None:
        """Chooses the next step. With event time: that of the least producer, if any; else the oldest publication."""
        for name in self._places:
            if name not in self._ahead:
                self._ahead[name] = self._look_ahead(name)
        steps = [step for step in self._ahead.values() if step is not None]
        if self._timed:
            ranks = {name: self._rank(name) for name in self._places}
            least = min(ranks.values(), default=FOREVER)
            steps = [replace(step, rank=least) for step in steps if ranks[step.producer] == least]
        self._next = min(steps, key=lambda step: (step.rank, step.producer), default=None)

    def _look_ahead(self, name: str) -> _Step | None:
        """The producer's next manifest: in its epoch, or the first of the next one once all of this is handed over."""
        place = self._places[name]
        epoch, slot = place.epoch, place.seen
        found = self._log.entry(name, epoch, slot)
        if found is None and place.cut is None and is_over(self._log, name, epoch, slot):
            if self._log.opening(name, epoch + 1) is None:
                return None
            epoch, slot = epoch + 1, self._log.begin(name, epoch + 1)
            found = self._log.entry(name, epoch, slot)
        if found is None:
            if slot < self._log.begin(name, epoch):
                raise Gone(self._log.spec.name, f"{name}/{epoch}/{slot}")
            return None
        return _Step(found.published_ms, name, epoch, slot, found)

    def _rank(self, name: str) -> int:
        """Rank of a producer: the least is read next. One whose ended epoch has rows back waits for the others."""
        place = self._places[name]
        if place.cut is not None and is_over(self._log, name, place.epoch, place.seen):
            waiting = range(place.done, place.seen)
            return max(required(self._log, name, place.epoch, slot).latest for slot in waiting)
        return self._frontiers[name]

    def _settle(self) -> None:
        """Cuts every producer at the least frontier of the others and counts the slots that are all handed over."""
        if not self._places:
            return
        reached = {name: max(self._rank(name), self._frontiers[name]) for name in self._places}
        (least, at_least), *others = sorted(reached.items(), key=lambda item: item[1])
        for name in self._places:
            if name != least:
                self._cut(name, at_least)
        self._cut(least, min(others[0][1] if others else FOREVER, self._earliest_back(least, at_least)))

    def _earliest_back(self, least: str, reached: int) -> int:
        """Least event time of the rows that stay back of the other producers."""
        back = [
            required(self._log, name, other.epoch, slot).earliest
            for name, other in self._places.items()
            if name != least and other.cut is not None
            for slot in range(other.done, other.seen)
        ]
        return max(reached, min(back, default=FOREVER))

    def _cut(self, name: str, at: int) -> None:
        place = self._places[name]
        if place.cut is None:
            return
        cut, done = max(place.cut, at), place.done
        while done < place.seen and required(self._log, name, place.epoch, done).latest <= cut:
            done += 1
        if done == place.seen:
            self._ahead.pop(name, None)  # at the end of an epoch, the next one is open now
        self._places[name] = Position(place.epoch, place.seen, done, cut if done < place.seen else None)
