"""Inbox for requests of local managers, emptied by the application manager."""

from dataclasses import dataclass, field
from typing import Protocol

from rheostat.policies.contract.requests import Request


class Requests(Protocol):
    """Requests on their way to the manager that grants them."""

    def put(self, sender: str, request: Request | None) -> None:
        """Leaves a request, or none: then an earlier one is withdrawn."""
        ...

    def take_all(self) -> list[Request]:
        """Everything that is asked for now, by sender."""
        ...


@dataclass(slots=True)
class Inbox:
    """The last request of every manager; a newer one replaces it."""

    _requests: dict[str, Request] = field(default_factory=dict)

    def put(self, sender: str, request: Request | None) -> None:
        """Leaves a request, or none: then an earlier one is withdrawn."""
        if request is None:
            self._requests.pop(sender, None)
        else:
            self._requests[sender] = request

    def take_all(self) -> list[Request]:
        """All of them, by sender; afterwards it is empty."""
        requests = [self._requests[sender] for sender in sorted(self._requests)]
        self._requests.clear()
        return requests
