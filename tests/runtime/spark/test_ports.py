"""Spark requires no token: a Spark that is one process can be reached from this machine alone."""

from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark
LISTENING = "0A"


def test_no_port_of_spark_can_be_reached_from_outside(nodes_session):
    process = Path(f"/proc/{nodes_session._jvm.java.lang.ProcessHandle.current().pid()}")
    sockets = set()
    for descriptor in (process / "fd").iterdir():
        with suppress(OSError):
            sockets.add(str(descriptor.readlink()))
    found = []
    for table in ("tcp", "tcp6"):
        for line in (process / "net" / table).read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == LISTENING and f"socket:[{rest[5]}]" in sockets:
                found.append(address_of(local.split(":")[0]))
    assert found, "it listens, for its Python processes"
    assert all(address.is_loopback for address in found), found


def address_of(digits: str):
    """As the kernel writes it: words of four bytes, each backwards."""
    words = [bytes.fromhex(digits[start : start + 8])[::-1] for start in range(0, len(digits), 8)]
    address = ip_address(b"".join(words))
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
