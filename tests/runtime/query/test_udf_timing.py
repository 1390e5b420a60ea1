"""The meter on an operator's own code: what counts, by which batch, and what the function's caller sees of it."""

import inspect
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import TaskContext
from pyspark.serializers import CloudPickleSerializer

from rheostat.runtime.query import udf_timing as own_code
from rheostat.runtime.query.progress_report import read_batch
from rheostat.runtime.query.udf_timing import BATCHES_KEPT, CodeTime, TimingNotes, timed, with_own_code

MS = 1_000_000


class VirtualTime:
    """Passes when it is told to; a processor works for half of it."""

    def __init__(self) -> None:
        self.now = 0

    def pass_ms(self, milliseconds: float) -> None:
        self.now += round(milliseconds * MS)


@pytest.fixture
def clock(monkeypatch):
    time = VirtualTime()
    monkeypatch.setattr(own_code, "perf_counter_ns", lambda: time.now)
    monkeypatch.setattr(own_code, "thread_time_ns", lambda: time.now // 2)
    return time


@pytest.fixture
def task(monkeypatch):
    """The task of a micro-batch, as Spark's worker sets it up."""
    context = TaskContext()
    context._partitionId, context._localProperties = 0, {"streaming.sql.batchId": "0"}
    monkeypatch.setattr(TaskContext, "_taskContext", context)

    def become(batch: int, partition: int = 0) -> None:
        context._partitionId, context._localProperties = partition, {"streaming.sql.batchId": str(batch)}

    return become


@pytest.fixture
def notes(tmp_path):
    return TimingNotes(tmp_path / "notes")


def path_of(notes: TimingNotes, operator: str = "parse", number: int = 0) -> str:
    (notes.folder / operator).mkdir(exist_ok=True)
    return str(notes.folder / operator / str(number))


def test_a_function_of_values_counts_from_call_to_answer(clock, task, notes):
    def doubled(x):
        clock.pass_ms(3)
        return 2 * x

    function = timed(doubled, path_of(notes))
    assert [function(x) for x in (1, 2)] == [2, 4]
    clock.pass_ms(100)
    assert notes.times_of([0, 1]) == {0: {"parse": CodeTime(6, 3, (6,))}, 1: {"parse": CodeTime(0, 0, (0,))}}


def test_waiting_for_input_and_for_whoever_takes_the_output_does_not_count(clock, task, notes):
    def arriving():
        for row in (1, 2, 3):
            clock.pass_ms(50)
            yield row

    def function(rows):
        for row in rows:
            clock.pass_ms(2)
            yield row
            clock.pass_ms(1)
        clock.pass_ms(4)

    for _ in timed(function, path_of(notes))(arriving()):
        clock.pass_ms(70)
    assert notes.times_of([0])[0]["parse"].wall_ms == 3 * (2 + 1) + 4


def test_a_function_that_reads_all_before_it_answers_counts_the_same(clock, task, notes):
    def function(rows):
        total = sum(rows)
        clock.pass_ms(5)
        return iter([total])

    def arriving():
        clock.pass_ms(50)
        yield 4

    assert list(timed(function, path_of(notes))(arriving())) == [4]
    assert notes.times_of([0])[0]["parse"].wall_ms == 5


def test_what_is_too_little_to_be_noted_is_noted_with_what_follows(clock, task, notes):
    function = timed(lambda: clock.pass_ms(0.3), path_of(notes))
    for _ in range(3):
        function()
    assert notes.times_of([0]) == {0: {}}
    task(1)
    # Spark unpickles a function for every task.
    timed(lambda: clock.pass_ms(0.3), path_of(notes))()
    assert notes.times_of([0, 1])[1]["parse"].wall_ms == pytest.approx(1.2)


def test_processor_time_of_many_calls_is_told_by_some_of_them(clock, task, notes):
    function = timed(lambda: clock.pass_ms(0.5), path_of(notes))
    for _ in range(320):
        function()
    worked = notes.times_of([0])[0]["parse"]
    assert worked.wall_ms == pytest.approx(160)
    assert worked.cpu_ms == pytest.approx(80, rel=0.05)


def test_calls_for_many_keys_are_noted_now_and_then(clock, task, notes):
    """Each answers with an iterator that is drawn to its end, in no time: a note for each would take longer."""
    function = timed(lambda rows: (clock.pass_ms(0.01) or row for row in rows), path_of(notes))
    for _ in range(99):
        assert list(function(iter("a"))) == ["a"]
    assert notes.times_of([0])[0]["parse"].wall_ms == pytest.approx(0.01), "the first of them"
    clock.pass_ms(5)
    assert list(function(iter("a"))) == ["a"]
    assert notes.times_of([0])[0]["parse"].wall_ms == pytest.approx(1.0)


def test_the_rest_of_a_drawn_function_is_noted_at_its_end(clock, task, notes):
    def function(rows):
        for row in rows:
            clock.pass_ms(0.1)
            yield row

    assert list(timed(function, path_of(notes))(iter("ab"))) == ["a", "b"]
    assert notes.times_of([0])[0]["parse"].wall_ms == pytest.approx(0.2)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 9), st.sampled_from(["parse", "rank"])),
        max_size=30,
    )
)
def test_notes_add_up_by_batch_operator_and_partition_over_functions(tmp_path_factory, steps):
    with pytest.MonkeyPatch.context() as patch:
        time, context = VirtualTime(), TaskContext()
        patch.setattr(own_code, "perf_counter_ns", lambda: time.now)
        patch.setattr(own_code, "thread_time_ns", lambda: time.now // 2)
        patch.setattr(TaskContext, "_taskContext", context)
        notes, wanted = TimingNotes(tmp_path_factory.mktemp("law")), {batch: {} for batch in range(4)}
        for batch, partition, milliseconds, operator in sorted(steps, key=lambda step: step[0]):
            context._partitionId, context._localProperties = partition, {"streaming.sql.batchId": str(batch)}
            timed(lambda spent=milliseconds: time.pass_ms(spent), path_of(notes, operator, milliseconds % 2))()
            parts = wanted[batch].setdefault(operator, [0, 0, 0])
            parts[partition] += milliseconds
        found = notes.times_of(range(4))
    told = {batch: {name: each for name, each in by.items() if each.wall_ms} for batch, by in found.items()}
    parts = {batch: {name: [*each.by_partition, 0, 0][:3] for name, each in by.items()} for batch, by in told.items()}
    assert parts == wanted
    assert all(each.wall_ms == sum(each.by_partition) for by in found.values() for each in by.values())


def test_entries_of_batches_that_spark_has_forgotten_are_used_again(clock, task, notes):
    function = timed(lambda: clock.pass_ms(2), path_of(notes))
    for batch in (0, BATCHES_KEPT):
        task(batch)
        function()
    assert notes.times_of([0])[0]["parse"] == CodeTime(0, 0, (0,)), "its place has the later batch now"
    assert notes.times_of([BATCHES_KEPT])[BATCHES_KEPT]["parse"].wall_ms == 2


def test_a_new_start_begins_with_nothing_and_leaves_nothing_of_the_last(clock, task, tmp_path):
    before = TimingNotes(tmp_path / "notes")
    old = timed(lambda: clock.pass_ms(2), path_of(before))
    old()
    after = TimingNotes(tmp_path / "notes")
    old()  # a worker of the query before that has not yet ended
    assert not before.folder.exists()
    assert after.times_of([0]) == {0: {}}


def test_outside_of_a_batch_nothing_is_noted_and_nothing_fails(clock, notes, monkeypatch):
    monkeypatch.setattr(TaskContext, "_taskContext", None)
    assert timed(lambda x: [clock.pass_ms(2), x][1], path_of(notes))(7) == 7
    assert notes.times_of([0]) == {0: {}}


def test_a_folder_that_is_gone_does_not_fail_the_function(clock, task, tmp_path):
    assert timed(lambda x: [clock.pass_ms(2), x][1], str(tmp_path / "gone" / "0"))(7) == 7


def test_errors_of_the_function_are_its_own(clock, task, notes):
    def broken(rows):
        clock.pass_ms(2)
        raise ValueError("no such row")
        yield from rows

    with pytest.raises(ValueError, match="no such row"):
        list(timed(broken, path_of(notes))(iter([1])))
    assert notes.times_of([0])[0]["parse"].wall_ms == 2


def test_spark_sees_the_parameters_and_the_name_of_the_users_function(notes):
    def function(key, frame):
        return key, frame

    wrapped = timed(function, path_of(notes))
    assert inspect.getfullargspec(wrapped).args == ["key", "frame"]
    assert wrapped.__name__ == "function"


def test_what_is_no_iterator_stays_what_it_is(clock, task, notes):
    """Spark refuses a function that must answer with an iterator and does not: the user has to hear of it."""
    assert timed(list, path_of(notes))(iter([1, 2])) == [1, 2]
    assert isinstance(timed(lambda rows: rows, path_of(notes))(iter([])), Iterator)


def test_a_timed_function_goes_to_a_worker(clock, task, notes):
    offset = 3
    as_spark_does = CloudPickleSerializer()
    copy = as_spark_does.loads(as_spark_does.dumps(timed(lambda x: x + offset, path_of(notes))))
    assert copy(4) == 7


def test_a_batch_knows_the_time_in_its_operators_code():
    report = {"id": "q", "batchId": 1, "timestamp": "2026-01-01T00:00:00Z", "durationMs": {"addBatch": 5}}
    batch = read_batch(with_own_code(report, {"parse": CodeTime(4, 1, (3, 1))}))
    assert batch is not None
    assert batch.own_code == {"parse": CodeTime(4, 1, (3, 1))}
    without = read_batch(report)
    assert without is not None
    assert not without.own_code
