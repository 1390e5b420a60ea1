"""Where local managers leave their requests, until the application manager looks."""

from dataclasses import dataclass, field
from typing import Protocol

from rheostat.policies.contract.requests import Request


class Requests(Protocol):
    """What managers ask for, on its way to the one that grants."""

    def put(self, sender: str, request: Request | None) -> None:
        """Leaves a request, or none: then an earlier one is withdrawn."""
        ...

    def taken(self) -> list[Request]:
        """Everything that is asked for now, by sender."""
        ...


@dataclass(slots=True)
class Inbox:
    """The last request of every manager; whoever changes their mind replaces it."""

    _requests: dict[str, Request] = field(default_factory=dict)

    def put(self, sender: str, request: Request | None) -> None:
        """Leaves a request, or none: then an earlier one is withdrawn."""
        if request is None:
            self._requests.pop(sender, None)
        else:
            self._requests[sender] = request

    def taken(self) -> list[Request]:
        """All of them, by sender; afterwards it is empty."""
        requests = [self._requests[sender] for sender in sorted(self._requests)]
        self._requests.clear()
        return requests
