"""The choice of `--downtime`: how the engine changes a deployment."""

from enum import StrEnum


class Downtime(StrEnum):
    """How the engine changes a deployment."""

    PAUSE_AND_RESUME = "pause-and-resume"
    FULL_RESTART = "full-restart"
