"""How a running instance is told to stand still or to stop exactly at an offset: a file it reads before every batch."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from rheostat.runtime.channels.records.disk import Disk
from rheostat.runtime.channels.records.offset import Offset, parse_offset


@dataclass(frozen=True, slots=True)
class HoldOrder:
    """What a reader may do. The default is: whatever it wants."""

    hold: bool = False
    """Plan nothing new."""
    limits: tuple[Offset, ...] = ()
    """Go exactly there and not beyond, by channel; a query with several inputs has one each."""
    token: str = ""
    """Which order this is: an instance says of a hold that it has seen it, see `acknowledge`."""
    starting: bool = False
    """Held only until all the others are up: nobody waits for it to come to rest."""

    def limit_of(self, channel: str) -> Offset | None:
        """Where a channel's reader ends, None if it does not."""
        return next((limit for limit in self.limits if limit.channel == channel), None)


def read_control(path: Path | None) -> HoldOrder:
    """What the file says; no file says nothing."""
    if path is None:
        return HoldOrder()
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return HoldOrder()
    limits = tuple(parse_offset(part) for part in document["limits"])
    return HoldOrder(document["hold"], limits, document.get("token", ""), document.get("starting", False))


def write_control(path: Path, control: HoldOrder, disk: Disk) -> None:
    """Tells the instance; it obeys from its next batch on. It survives a crash, as protocols build on it."""
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
    """Says that the reader of a channel has planned nothing, for so many triggers, because it is held."""
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
