"""Hold orders of an instance: stand still, or stop exactly at an offset. The instance reads them before every batch."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from rheostat.machine.disk import Disk
from rheostat.runtime.channels.records.offset import Offset, parse_offset


@dataclass(frozen=True, slots=True)
class HoldOrder:
    """An order to the readers of an instance. The default lets them go on."""

    hold: bool = False
    """Plan no new batch."""
    limits: tuple[Offset, ...] = ()
    """Go exactly there and not beyond, by channel; a query with several inputs has one each."""
    token: str = ""
    """Identity of the order: an instance acknowledges the hold it has seen, see `acknowledge`."""
    starting: bool = False
    """Held only until all the others are up: no step of a change waits for it to come to rest."""

    def limit_of(self, channel: str) -> Offset | None:
        """The offset at which a channel's reader stops, None if it goes on."""
        return next((limit for limit in self.limits if limit.channel == channel), None)


def read_control(path: Path | None) -> HoldOrder:
    """The order in a file; the default order if there is no file."""
    if path is None:
        return HoldOrder()
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return HoldOrder()
    limits = tuple(parse_offset(part) for part in document["limits"])
    return HoldOrder(document["hold"], limits, document.get("token", ""), document.get("starting", False))


def write_control(path: Path, control: HoldOrder, disk: Disk) -> None:
    """Gives the instance an order; it obeys from its next batch on. The order survives a crash."""
    if control == HoldOrder():
        disk.remove(path)
        return
    limits = [limit.to_document() for limit in control.limits]
    token = control.token or uuid4().hex
    document = {"hold": control.hold, "limits": limits, "token": token, "starting": control.starting}
    disk.replace(path, json.dumps(document).encode(), durable=True)


HELD_TRIGGERS = 2
"""After the first held trigger Spark may still run a batch without data, to close windows; not after the second."""


def acknowledge(path: Path, channel: str, control: HoldOrder, count: int, disk: Disk) -> None:
    """Records that the reader of a channel was held and has planned nothing for so many triggers."""
    document = {"token": control.token, "count": count}
    disk.replace(_seen(path, channel), json.dumps(document).encode(), durable=False)


def acknowledged(path: Path, channels: Sequence[str], triggers: int = HELD_TRIGGERS) -> bool:
    """Whether all readers of an instance have seen the present hold; by default, with all they had planned done."""
    control = read_control(path)
    if not control.hold or not channels:
        return False
    for channel in channels:
        try:
            seen = json.loads(_seen(path, channel).read_bytes())
        except (FileNotFoundError, json.JSONDecodeError):
            return False
        if seen["token"] != control.token or seen["count"] < triggers:
            return False
    return True


def _seen(path: Path, channel: str) -> Path:
    return path.with_name(f"{path.stem}.{channel}.seen")
