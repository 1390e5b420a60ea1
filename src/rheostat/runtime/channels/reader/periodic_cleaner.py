"""Cleaning of a channel by one of its readers, now and then."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rheostat.runtime.channels.port.channel import ChannelConsumers, Place


@dataclass(slots=True)
class PeriodicCleaner:
    """Cleans a channel now and then, each time up to the floors of the time before.

    So a probe that looks at a batch that has just ended, to measure how long its rows were on their way, finds all of
    them.
    """

    consumers: ChannelConsumers
    every_ms: int
    _cleaned_ms: int = 0
    _floors: Mapping[str, Place] = field(default_factory=dict)

    def clean_if_due(self, now_ms: int) -> None:
        """Cleans if the last cleaning is long enough ago."""
        if now_ms - self._cleaned_ms < self.every_ms:
            return
        floors = self.consumers.floors()
        self.consumers.clean(now_ms, below=self._floors)
        self._cleaned_ms, self._floors = now_ms, floors
