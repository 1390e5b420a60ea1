"""The process that owns a run: brings nodes up, measures, decides, changes, recovers, answers.

It uses `runtime`, `control`, `report`, `policies`, `model`, `machine` and `logs`; they meet here alone.
"""

from rheostat.controller.controller import Controller

__all__ = ["Controller"]
