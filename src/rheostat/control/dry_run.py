"""Decides and tells, and changes nothing: what stands between managers and a world that shall stay as it is."""

from rheostat.control.ports import Done, Effect, Refused
from rheostat.model.reconfiguration import Reconfiguration
from rheostat.policies.granting import DRY_RUN


class Untouched:
    """An actuator that refuses everything."""

    def apply(self, change: Reconfiguration) -> Effect:
        """Nothing takes place."""
        return Refused((DRY_RUN,)) if change else Done(0.0)
