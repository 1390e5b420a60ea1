"""Options of the form `name=value`."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rheostat.cli.output import Complaint, WrongUse


def pairs_of(option: str, texts: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Names and values, in their order."""
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise wrong_option(option, f"{text!r} is not `name=value`")
        yield name, value


def texts_from(option: str, texts: Sequence[str]) -> dict[str, str]:
    """The values as text."""
    return dict(pairs_of(option, texts))


def settings_from(option: str, texts: Sequence[str]) -> dict[str, Any]:
    """The values as settings of a policy: numbers and JSON as such, everything else as text."""
    found: dict[str, Any] = {}
    for name, text in pairs_of(option, texts):
        try:
            found[name] = json.loads(text)
        except json.JSONDecodeError:
            found[name] = text
    return found


def wrong_option(option: str, what: str, remedy: str | None = None) -> WrongUse:
    """A complaint about an option."""
    return WrongUse(Complaint(f"--{option.replace('_', '-')}: {what}", remedy))
