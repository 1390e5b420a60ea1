"""Names that a run can give to files, channels and producers."""

import re

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.=+]|-(?!-|$))*")
LONGEST_NAME = 80
"""Two names are a file's name, which has 255 bytes on most disks."""
NAME_REMEDY = "files are named by it: use letters a to z, digits, _ . = + and single dashes inside"


def is_run_name(name: str) -> bool:
    """Whether operators and nodes of a run may be called so.

    >>> [is_run_name(name) for name in ("split-words", "split words", "split--words", "..")]
    [True, False, False, False]
    """
    return len(name) <= LONGEST_NAME and _NAME.fullmatch(name) is not None
