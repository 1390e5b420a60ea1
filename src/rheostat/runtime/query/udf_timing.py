"""Timing of an operator's own Python code, in Spark's workers, per batch.

Every function that PySpark runs in a worker for the user, from `udf` to `transformWithState`, is wrapped in one place
on its way there (`UserDefinedFunction._create_judf`). While an operator is called, every function that passes that
place is put on a `CodeMeter`. It counts the time inside the function: not the time Spark needs to bring rows there and
back, and not the wait for input. Processor time is counted including taking the input, and only for some calls if there
are many: reading it takes the system longer than many a function runs. An exception of a function is marked with its
operator's name there, too (`failure_attribution`).
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import astuple, dataclass
from functools import cache, wraps
from inspect import signature
from itertools import count
from pathlib import Path
from shutil import rmtree
from struct import Struct
from time import perf_counter_ns, thread_time_ns
from typing import Any, ClassVar
from uuid import uuid4

from pyspark import TaskContext
from pyspark.sql.udf import UserDefinedFunction

from rheostat.runtime.query.failure_attribution import add_operator_note
from rheostat.runtime.query.progress_report import CodeTime
from rheostat.runtime.spark.task import batch_of

BATCHES_KEPT = 128
"""Number of batches that Spark remembers, rounded up."""
ENTRY = Struct("<qqq")
"""Batch, wall time in nanoseconds, processor time in nanoseconds."""
NOTED_FROM_NS, NOTED_EVERY_NS = 1_000_000, 5_000_000
"""Time that is written at once, and interval after which less is written, too: writing takes twenty microseconds, and a
function of a row or a key may take less."""
SAMPLED = 16
"""Number of calls in a task for which processor time is read, before only every such call."""
REMEMBERED_AT_MOST = 256
"""Greatest number of files and rests kept by a reused worker."""


class CodeMeter:
    """Measures the time inside one function in this worker, and writes it where the node can read it.

    Every partition has its own file with an entry per batch; no other task writes to it at that time. A time too short
    to be written stays in the process: Spark creates the function, and so its meter, anew for every task.
    """

    _opened: ClassVar[dict[str, int]] = {}
    _rests: ClassVar[dict[str, list[int]]] = {}

    def __init__(self, path: str) -> None:
        self.path = path
        if len(self._rests) >= REMEMBERED_AT_MOST:
            self._rests.clear()
        self._rest = self._rests.setdefault(path, [0, 0, -NOTED_EVERY_NS])
        self._wall = self._cpu = self._times = self._weight = 0
        self._from_input: BaseException | None = None

    def __reduce__(self) -> tuple[type["CodeMeter"], tuple[str]]:
        return CodeMeter, (self.path,)

    def start(self) -> None:
        """Starts the clock when the function starts or continues."""
        self._times += 1
        self._weight = 1 if self._times <= SAMPLED else 0 if self._times % SAMPLED else SAMPLED
        if self._weight:
            self._cpu = thread_time_ns()
        self._wall = perf_counter_ns()

    def exclude_wait(self, since_ns: int) -> None:
        """Excludes the time of a wait for input."""
        self._wall += perf_counter_ns() - since_ns

    def record_input_failure(self, failure: Exception) -> None:
        """Records that reading the input failed: the function did not cause the error."""
        self._from_input = failure

    def record_failure(self, failure: Exception) -> None:
        """Marks an exception of the function with its operator."""
        if failure is not self._from_input:
            add_operator_note(failure, Path(self.path).parent.name)

    def stop(self) -> None:
        """Stops the clock when the function ends or emits a result."""
        rest = self._rest
        rest[0] += perf_counter_ns() - self._wall
        if self._weight:
            rest[1] += self._weight * (thread_time_ns() - self._cpu)
        if rest[0] >= NOTED_FROM_NS:
            self.write()

    def finish(self) -> None:
        """Writes the remaining time at the end of a call."""
        if perf_counter_ns() - self._rest[2] >= NOTED_EVERY_NS:
            self.write()

    def write(self) -> None:
        """Adds the measured time to the entry of the present batch."""
        task, (wall, cpu, _) = TaskContext.get(), self._rest
        self._rest[:] = 0, 0, perf_counter_ns()
        batch = batch_of(task)
        if task is None or batch < 0 or not wall:
            return
        place = batch % BATCHES_KEPT * ENTRY.size
        # A full disk must not fail the user's function.
        with suppress(OSError):
            file = self._file(f"{self.path}-{task.partitionId()}")
            before = os.pread(file, ENTRY.size, place)
            if len(before) == ENTRY.size and (entry := ENTRY.unpack(before))[0] == batch:
                wall, cpu = wall + entry[1], cpu + entry[2]
            os.pwrite(file, ENTRY.pack(batch, wall, cpu), place)

    @classmethod
    def _file(cls, path: str) -> int:
        if path not in cls._opened:
            if len(cls._opened) >= REMEMBERED_AT_MOST:
                for file in cls._opened.values():
                    os.close(file)
                cls._opened.clear()
            cls._opened[path] = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        return cls._opened[path]


def timed(function: Callable[..., Any], path: str) -> Callable[..., Any]:
    """The function with a meter. An iterator that it returns is timed while results are drawn from it."""
    meter = CodeMeter(path)

    @wraps(function)
    def on_the_meter(*inputs: Any, **named: Any) -> Any:
        meter.start()
        try:
            result = function(*[_awaited(it, meter) if isinstance(it, Iterator) else it for it in inputs], **named)
        except Exception as failure:
            meter.record_failure(failure)
            raise
        finally:
            meter.stop()
        return _drawn(result, meter) if isinstance(result, Iterator) else result

    with suppress(ValueError, TypeError):
        on_the_meter.__signature__ = signature(function)  # type: ignore[attr-defined] # Spark counts its parameters
    return on_the_meter


def _awaited(rows: Iterator[Any], meter: CodeMeter) -> Iterator[Any]:
    """The rows; the time of waiting for them is excluded."""
    while True:
        since = perf_counter_ns()
        try:
            row = next(rows)
        except StopIteration:
            return
        except Exception as failure:
            meter.record_input_failure(failure)
            raise
        finally:
            meter.exclude_wait(since)
        yield row


def _drawn(results: Iterator[Any], meter: CodeMeter) -> Iterator[Any]:
    while True:
        meter.start()
        try:
            result = next(results)
        except StopIteration:
            break
        except Exception as failure:
            meter.record_failure(failure)
            raise
        finally:
            meter.stop()
        yield result
    meter.finish()


@dataclass(frozen=True, slots=True)
class _Naming:
    """The operator being called, and the number of its next function."""

    path: str
    number: "count[int]"
    in_python: set[str]

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self.in_python.add(Path(self.path).name)
        return timed(function, f"{self.path}/{next(self.number)}")


_CALLED: ContextVar[_Naming | None] = ContextVar("called", default=None)


class TimingNotes:
    """Folder with the times of one start of an instance; older contents are removed."""

    def __init__(self, folder: Path) -> None:
        _patch_udf_creation()
        rmtree(folder, ignore_errors=True)
        # A new name each time: reused workers still have files of the last start open.
        self.folder = folder / uuid4().hex
        self.folder.mkdir(parents=True)
        self.in_python = set[str]()
        """Operators that have passed Python functions to Spark."""

    @contextmanager
    def of(self, operator: str) -> Iterator[None]:
        """Context in which functions passed to Spark belong to an operator."""
        path = self.folder / operator
        path.mkdir(exist_ok=True)
        token = _CALLED.set(_Naming(str(path), count(), self.in_python))
        try:
            yield
        finally:
            _CALLED.reset(token)

    def times_of(self, batches: Sequence[int]) -> dict[int, dict[str, CodeTime]]:
        """Time in each operator's own code, by batch; operators without any are left out."""
        notes: dict[str, list[tuple[int, dict[int, tuple[int, int]]]]] = {}
        for path in sorted(self.folder.glob("*/*")):
            # Entries never written read as batch 0 without any time.
            entries = {batch: (wall, cpu) for batch, wall, cpu in _entries(path) if wall}
            notes.setdefault(path.parent.name, []).append((int(path.name.rpartition("-")[2]), entries))
        return {batch: {name: _in_batch(batch, noted) for name, noted in notes.items()} for batch in batches}

    def __str__(self) -> str:
        return str(self.folder)


def _in_batch(batch: int, notes: Sequence[tuple[int, Mapping[int, tuple[int, int]]]]) -> CodeTime:
    """Time of an operator in a batch, from the entries of its functions in each partition."""
    parts, cpu_ms = [0.0] * (1 + max(partition for partition, _ in notes)), 0.0
    for partition, entries in notes:
        wall, cpu = entries.get(batch, (0, 0))
        parts[partition] += wall / 1e6
        cpu_ms += cpu / 1e6
    return CodeTime(sum(parts), cpu_ms, tuple(parts))


def _entries(path: Path) -> Iterator[tuple[int, int, int]]:
    with suppress(OSError):
        noted = path.read_bytes()
        yield from ENTRY.iter_unpack(noted[: len(noted) // ENTRY.size * ENTRY.size])


def with_own_code(report: Mapping[str, Any], worked: Mapping[str, CodeTime]) -> dict[str, Any]:
    """A report of Spark with the times of the operators' own code, as `read_batch` expects it."""
    return {**report, "ownCode": {name: list(astuple(each)) for name, each in worked.items()}}


@cache
def _patch_udf_creation() -> None:
    """Patches the creation of UDFs in PySpark, which has no hook for it; its profiler wraps functions there, too."""
    create, known = UserDefinedFunction._create_judf, UserDefinedFunction._judf  # noqa: SLF001

    def create_timed(self: UserDefinedFunction, func: Callable[..., Any], include_transpiled: bool = True) -> Any:
        called = _CALLED.get()
        return create(self, func if called is None else called.timed(func), include_transpiled)

    def timed_anew(self: UserDefinedFunction) -> Any:
        # A function made before belongs to no operator, or to another one.
        return known.fget(self) if _CALLED.get() is None else self._create_judf(self.func)  # type: ignore[attr-defined]

    UserDefinedFunction._create_judf = create_timed  # type: ignore[method-assign] # noqa: SLF001
    UserDefinedFunction._judf = property(timed_anew)  # type: ignore[assignment] # noqa: SLF001
