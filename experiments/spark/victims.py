"""`rheostat run` as a separate process: started, killed at any moment, started again; and so are its agents."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.spark.stage import Stage
from rheostat.control.history.sqlite_journal import SqliteJournalReader
from rheostat.control.loop.ports import Entry
from rheostat.controller.controller_client import read_address
from rheostat.machine.processes import is_alive
from rheostat.model.documents import write
from rheostat.model.network.resources import Infrastructure
from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.observe.result_rows import published, read_results
from rheostat.runtime.nodes.agent_address import address_file, addressed_nodes
from rheostat.runtime.plan.run_paths import RunPaths

ROOT = Path(__file__).parents[2]
GRACE_SECONDS = 60.0
CONTROLLER = "controller"


@dataclass
class Victim:
    """The process of `rheostat run` with process nodes, in a folder of its own."""

    stage: Stage
    folder: Path
    options: tuple[str, ...]
    """Of the command, beside what is run and where."""
    process: subprocess.Popen[bytes] | None = None
    started: int = 0
    waiting: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Who was killed and is not back: its pid then, and when."""

    def __post_init__(self) -> None:
        """Writes the documents of the command."""
        self._write("application.yaml", write(self.stage.application))
        self._write("nodes.yaml", write(self.infrastructure))
        self._write("deployment.yaml", write(self.stage.at_first))

    @property
    def infrastructure(self) -> Infrastructure:
        """Where it runs."""
        return self.stage.infrastructure

    @property
    def directory(self) -> Path:
        """Of the application."""
        return self.folder / "run"

    @property
    def log(self) -> Path:
        """What all controllers said."""
        return self.folder / "controllers.log"

    def arguments(self) -> list[str]:
        """Of `rheostat`."""
        documents = ["application.yaml", "nodes.yaml", "--deployment", "deployment.yaml", "--directory", "run"]
        groups = str(self.stage.runtime.key_groups)
        return ["run", *documents, "--nodes", "process", "--key-groups", groups, "--until-drained", *self.options]

    def command(self) -> list[str]:
        """By this interpreter, so that it is this version that runs."""
        return [sys.executable, "-c", "from rheostat.cli.main import main; main()", *self.arguments()]

    def start(self) -> None:
        """Starts a controller: the first one, or the one that takes over."""
        path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                self.command(),
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started += 1

    def ended(self) -> int | None:
        """With what the controller has ended by itself, None while it runs."""
        return None if self.process is None else self.process.poll()

    def pid(self, who: str) -> int | None:
        """Of the controller, or of the agent of a node, if it is up and can be asked; None if not."""
        found = self._told(who)
        return found if found is not None and is_alive(found) and self._is_ours(found, who) else None

    def agents(self) -> list[str]:
        """The nodes whose agents are up, also of those that came later."""
        return [name for name in addressed_nodes(self.directory) if self.pid(name) is not None]

    def has_node(self, name: str) -> bool:
        """Whether a node was not released; one whose agent is dead will come back."""
        return address_file(self.directory, name).exists()

    def kill(self, who: str) -> bool:
        """kill -9, of a controller also while it is starting; False if it is not there."""
        if who == CONTROLLER:
            if self.process is None or self.process.poll() is not None:
                return False
            pid = self.process.pid
            self.process.kill()
            self.process.wait()
        else:
            found = self.pid(who)
            if found is None:
                return False
            pid = found
            # An agent leads a group of its own: Spark and the Python workers go with it.
            os.killpg(pid, signal.SIGKILL)
        self.waiting[who] = (pid, time.monotonic())
        return True

    def back(self) -> list[tuple[str, float]]:
        """Who is there again, and how many seconds after its death; each is told once."""
        found = []
        for who, (before, at) in list(self.waiting.items()):
            pid = self.pid(who)
            if pid is not None and pid != before:
                del self.waiting[who]
                found.append((who, time.monotonic() - at))
        return found

    def end(self) -> None:
        """Whatever still runs is ended; gracefully if it can be."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
        for node in self.agents():
            if (pid := self.pid(node)) is not None:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)

    def last_words(self) -> str:
        """The end of the log."""
        return self.log.read_text(errors="replace")[-500:].strip()

    def rows(self) -> list[dict[str, Any]]:
        """What has come out."""
        channel = self.directory / "results" / self.stage.sink
        return read_results(open_channel(str(channel))).to_pylist() if channel.exists() else []

    def published_seconds(self) -> list[float]:
        """When something came out, in order."""
        channel = self.directory / "results" / self.stage.sink
        return sorted({part.published_ms / 1000 for part in published(open_channel(str(channel)))})

    def journal(self) -> list[Entry]:
        """Everything in it."""
        journal = SqliteJournalReader(RunPaths(self.directory).journal)
        try:
            return [entry for _, entry in journal.read()]
        finally:
            journal.close()

    def _told(self, who: str) -> int | None:
        if who == CONTROLLER:
            address = read_address(self.directory)
            return address.pid if address is not None and self.process and address.pid == self.process.pid else None
        try:
            return int(json.loads(address_file(self.directory, who).read_text())["pid"])
        except (OSError, json.JSONDecodeError, KeyError):
            return None

    @staticmethod
    def _is_ours(pid: int, who: str) -> bool:
        """Whether the process id still belongs to the same process, not to another one by now."""
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
        return (b"rheostat.cli.main" if who == CONTROLLER else b"rheostat.runtime.agent") in command

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")
