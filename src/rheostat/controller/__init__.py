"""The process that owns a run: brings nodes up, measures, decides, changes, recovers, answers.

It uses `runtime`, `control`, `report`, `policies`, `model` and `logs`, and is the only place where they meet.
"""

from rheostat.controller.controller import Controller

__all__ = ["Controller"]
