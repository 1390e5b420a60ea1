"""Decides and tells, and changes nothing: what stands between managers and a world that shall stay as it is."""

from rheostat.control.loop.ports import Done, Effect, Refused
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.policies.grants.grants import DRY_RUN


class Untouched:
    """An actuator that refuses everything."""

    def apply(self, change: Reconfiguration) -> Effect:
        """Nothing takes place."""
        return Refused((DRY_RUN,)) if change else Done(0.0)
