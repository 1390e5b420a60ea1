"""Processes of this machine, by their numbers."""

import os
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from rheostat.machine.waits import wait_until

BIRTH_SECONDS = 1.0
"""Time in which a process that was just started has to have an environment; without one by then it was given none."""


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except (psutil.Error, ValueError):
        return False


def group_of(leader: int) -> list[int]:
    """The processes that run in a process group; those that have ended and were not waited for do not."""
    found = []
    for pid in psutil.pids():
        with suppress(OSError):
            if os.getpgid(pid) == leader and is_alive(pid):
                found.append(pid)
    return found


def command_of(pid: int) -> list[str]:
    """The words of the command that a process was started with; none if it has ended."""
    try:
        return list(psutil.Process(pid).cmdline())
    except (psutil.Error, ValueError):
        return []


def environment_of(pid: int, pause: Callable[[float], object] = time.sleep) -> dict[str, str]:
    """The environment that a process was started with; empty if it has ended.

    A process that is only just being started has none yet, for up to 20 ms on a busy machine, and is asked again.
    """
    found: dict[str, str] = {}

    def is_known() -> bool:
        with suppress(psutil.Error, ValueError):
            found.update(psutil.Process(pid).environ())
        return bool(found) or not is_alive(pid)

    wait_until(is_known, BIRTH_SECONDS, look_seconds=0.01, pause=pause)
    return found
