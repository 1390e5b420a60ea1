"""Checks of this machine: each is ok, warn or fail, with a remedy.

Planning needs Python alone; running on Spark needs the `spark` extra and Java. Nothing here imports pyspark: this
command has to work where it is missing or broken.
"""

import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rheostat.cli.output import Complaint, ExitCode, answer_json, page, say

LEAST_JAVA = 17
LEAST_MEMORY_GB, GOOD_MEMORY_GB = 1.0, 4.0
LEAST_DISK_GB, GOOD_DISK_GB = 0.5, 5.0
SPARK_PACKAGES = ("pyspark", "pyarrow", "pandas")


class CheckStatus(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARN = "warn"
    """It works, but not everything or not well."""
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the machine."""

    name: str
    status: CheckStatus
    what: str
    """What was found."""
    remedy: str | None = None
    """What to do, unless all is well."""


app = typer.Typer(add_completion=False)


@app.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False) -> None:
    """Check whether this machine is ready."""
    checks = [check() for check in CHECKS]
    bad = [check for check in checks if check.status is CheckStatus.FAIL]
    if as_json:
        mistakes = [Complaint(f"{check.name}: {check.what}", check.remedy) for check in bad]
        answer_json(ok=not bad, checks=[asdict(check) for check in checks], mistakes=mistakes)
    else:
        _show(checks)
    raise typer.Exit(ExitCode.NO if bad else ExitCode.FINE)


def _show(checks: list[Check]) -> None:
    colours = {CheckStatus.OK: "green", CheckStatus.WARN: "yellow", CheckStatus.FAIL: "bold red"}
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for check in checks:
        status = Text(check.status, colours[check.status])
        table.add_row(status, check.name, check.what + (f"; {check.remedy}" if check.remedy else ""))
    page().print(table)
    worst = max(checks, key=lambda check: list(CheckStatus).index(check.status)).status
    verdicts = {
        CheckStatus.OK: "ready",
        CheckStatus.WARN: "ready, with the limits above",
        CheckStatus.FAIL: "not ready: mend what failed",
    }
    say("", verdicts[worst])


def check_python() -> Check:
    """The version of Python; an older one could not have installed this package."""
    what = f"{platform.python_version()} ({sys.implementation.name})"
    return Check("python", CheckStatus.OK, what)


def check_spark() -> Check:
    """The packages of the `spark` extra, by their metadata."""
    found = {name: version for name in SPARK_PACKAGES if (version := _installed(name)) is not None}
    missing = [name for name in SPARK_PACKAGES if name not in found]
    what = ", ".join(f"{name} {version}" for name, version in found.items()) or "not installed"
    if not missing:
        return Check("spark", CheckStatus.OK, what)
    remedy = "validate, show and evaluate work without; to run on Spark: pip install 'rheostat[spark]'"
    return Check("spark", CheckStatus.WARN, what + (f", no {', '.join(missing)}" if found else ""), remedy)


def check_java() -> Check:
    """The java that Spark would start: JAVA_HOME's, else the one on the PATH."""
    needed = _installed("pyspark") is not None
    bad = CheckStatus.FAIL if needed else CheckStatus.WARN
    remedy = f"install Java {LEAST_JAVA} or later (Debian, Ubuntu: apt-get install openjdk-17-jre-headless)"
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        return Check("java", bad, "not found", remedy)
    version = java_version(java)
    if version is None:
        remedy = "unset JAVA_HOME or set it to where Java is" if home else remedy
        return Check("java", bad, f"{java} does not run", remedy)
    if version < LEAST_JAVA:
        return Check("java", bad, f"Java {version} at {java}", remedy)
    return Check("java", CheckStatus.OK, f"Java {version} at {java}")


def java_version(java: str) -> int | None:
    """The major version, or None if there is no Java there."""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603 - no shell, and a path that Spark itself would start
    except (OSError, subprocess.SubprocessError):
        return None
    return major_version(told.stderr + told.stdout)


def major_version(text: str) -> int | None:
    """The major version in the output of `java -version`.

    >>> major_version('openjdk version "17.0.15" 2025-04-15'), major_version('java version "1.8.0_292"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def check_cores() -> Check:
    """Cores this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if cores >= 2:
        return Check("cores", CheckStatus.OK, f"{cores}")
    return Check("cores", CheckStatus.WARN, f"{cores}", "everything works, one after the other; two or more are better")


def check_memory() -> Check:
    """Memory of the machine or of the container, whichever is less."""
    limit = memory_gb()
    if limit is None:
        return Check("memory", CheckStatus.WARN, "unknown", f"see to it that there are {GOOD_MEMORY_GB:g} GB")
    what = f"{limit:.1f} GB"
    if limit >= GOOD_MEMORY_GB:
        return Check("memory", CheckStatus.OK, what)
    status = CheckStatus.WARN if limit >= LEAST_MEMORY_GB else CheckStatus.FAIL
    return Check("memory", status, what, f"Spark wants {GOOD_MEMORY_GB:g} GB or more")


def memory_gb() -> float | None:
    """The least of the limits that can be found."""
    limits = []
    if hasattr(os, "sysconf"):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        path = Path(limit)
        if path.is_file() and (text := path.read_text(encoding="utf-8").strip()).isdigit():
            limits.append(int(text))
    return min(limits) / 1e9 if limits else None


def check_disk() -> Check:
    """Room for checkpoints and shuffles where temporary files go."""
    place = tempfile.gettempdir()
    try:
        with tempfile.NamedTemporaryFile(dir=place) as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        return Check(
            "disk", CheckStatus.FAIL, f"{place} cannot be written: {error.strerror}", "set TMPDIR to a place that can"
        )
    free = shutil.disk_usage(place).free / 1e9
    what = f"{free:.1f} GB free in {place}"
    if free >= GOOD_DISK_GB:
        return Check("disk", CheckStatus.OK, what)
    status = CheckStatus.WARN if free >= LEAST_DISK_GB else CheckStatus.FAIL
    return Check("disk", status, what, f"make room, or set TMPDIR to a place with {GOOD_DISK_GB:g} GB or more")


def check_host() -> Check:
    """The address of the host name, which Spark needs."""
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        return Check(
            "host", CheckStatus.WARN, f"the host name {name} has no address", "export SPARK_LOCAL_IP=127.0.0.1"
        )
    return Check("host", CheckStatus.OK, f"{name} is {address}")


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


CHECKS: tuple[Callable[[], Check], ...] = (
    check_python,
    check_java,
    check_spark,
    check_cores,
    check_memory,
    check_disk,
    check_host,
)
