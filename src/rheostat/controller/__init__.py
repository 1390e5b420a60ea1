"""The process that owns a run: brings nodes up, measures, decides, changes, recovers, answers.

The only place where `runtime`, `control` and `report` meet.
"""

from rheostat.controller.controller import Controller

__all__ = ["Controller"]
