import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.runtime.ends.pace import Pace, PaceLimits
from rheostat.runtime.ends.playback import Playback, ReplayPosition
from rheostat.runtime.ends.recordings import CsvRecording, JsonRecording, ParquetRecording, Place, RecordedFiles

FIRST = datetime(2013, 1, 1, tzinfo=UTC)


class Listed(RecordedFiles):
    """A recording of times in seconds, for laws."""

    def __init__(self, seconds):
        self.files, self._seconds = [None], seconds

    def rows(self, place, count):
        return [f"row {row}" for row in range(place.at, place.at + count)]

    def _times(self, number, at):
        for row in range(at, len(self._seconds)):
            seconds = self._seconds[row]
            yield Place(number, row + 1), None if seconds is None else seconds * 1_000_000


def everything(playback, cuts=()):
    """(time, row) of all rows, read in batches of these sizes, then the rest."""
    spot, output = playback.beginning(0), []
    for size in [*cuts, None]:
        end = playback.advance(spot, 0, size)
        for stretch in playback.stretches(spot, end):
            rows = playback.recording.rows(stretch.spot.place, stretch.rows)
            output += zip(playback.times(stretch), (row for row in rows for _ in range(playback.copies)), strict=True)
        spot = end
    return output


seconds = st.lists(st.integers(0, 100) | st.none(), max_size=30)


@given(seconds, st.lists(st.integers(1, 9), max_size=5), st.integers(1, 3), st.integers(1, 4))
def test_rows_do_not_depend_on_batches_and_partitions(times, cuts, replicas, copies):
    whole = Playback(Listed(times), PaceLimits(Pace.ALL), copies=copies)
    parts = Playback(Listed(times), PaceLimits(Pace.ALL, replicas=replicas), copies=copies)
    assert everything(parts, cuts) == everything(whole)


@given(seconds, st.integers(1, 4))
def test_event_time_never_goes_back_and_every_row_comes_as_often_as_asked(times, copies):
    played = everything(Playback(Listed(times), PaceLimits(Pace.ALL), copies=copies))
    assert all(a <= b for (a, _), (b, _) in pairwise(played))
    assert [row for _, row in played] == [f"row {row}" for row in range(len(times)) for _ in range(copies)]


@given(seconds.map(lambda times: sorted(t for t in times if t is not None)), st.integers(1, 4))
def test_the_first_copy_of_an_ordered_recording_keeps_its_time(times, copies):
    played = everything(Playback(Listed(times), PaceLimits(Pace.ALL), copies=copies))
    assert [time for time, _ in played[::copies]] == [t * 1_000_000 for t in times]


def test_copies_spread_up_to_the_next_row():
    played = [time / 1e6 for time, _ in everything(Playback(Listed([0, 90, 90]), PaceLimits(Pace.ALL), copies=3))]
    assert played[0] == 0
    assert 30 <= played[1] < 60 <= played[2] < 90
    assert played[3:] == [90] * 6


@pytest.mark.parametrize(
    ("now_ms", "rows"),
    [
        pytest.param(5_000, 1, id="at the start the first row is due"),
        pytest.param(5_999, 1, id="a minute takes a second"),
        pytest.param(6_000, 3, id="rows of the same time are due together"),
        pytest.param(60_000, 3, id="not more than the total"),
    ],
)
def test_rows_are_due_by_their_event_time(now_ms, rows):
    playback = Playback(Listed([100, 160, 160, 220]), PaceLimits(total=3), speed_up=60)
    assert playback.advance(playback.beginning(5_000), now_ms).rows == rows


def test_after_an_outage_a_batch_brings_no_more_than_was_due_soon_after_its_first_row():
    playback = Playback(Listed([100, 101, 160, 219, 220, 300, 420]), PaceLimits(), speed_up=60)
    spot, rows = playback.beginning(0), []
    while not rows or spot.rows > rows[-1]:
        rows.append(spot.rows)
        spot = playback.advance(spot, 600_000)
    assert rows == [0, 5, 7]


def test_a_spot_survives_the_checkpoint():
    spot = Playback(Listed([100]), PaceLimits()).beginning(5_000)
    assert ReplayPosition.from_document(json.loads(json.dumps(spot.to_document()))) == spot


def moments():
    return [FIRST + timedelta(minutes=minute) for minute in range(5)]


def write_csv(path):
    lines = [f'{n},"{m:%Y-%m-%d %H:%M:%S}",x' for n, m in enumerate(moments())]
    (path / "1.csv").write_text("number,at,what\n" + "\n".join(lines[:3]) + "\n\n")
    (path / "2.csv").write_text("number,at,what\r\n" + "\r\n".join(lines[3:]))
    return CsvRecording(str(path), 1, header=True), lines


def write_json(path):
    lines = [json.dumps({"at": m.isoformat(), "n": n}) for n, m in enumerate(moments())]
    (path / "only.jsonl").write_text("\n".join(lines))
    return JsonRecording(str(path / "only.jsonl"), "at"), lines


def write_parquet(path):
    table = pa.table({"at": moments(), "n": range(5)})
    pq.write_table(table.slice(0, 3), path / "a.parquet", row_group_size=2)
    pq.write_table(table.slice(3), path / "b.parquet")
    return ParquetRecording(str(path), "at"), table.to_pylist()


@pytest.mark.parametrize("write", [write_csv, write_json, write_parquet])
def test_a_recording_can_be_read_from_any_place(write, tmp_path):
    recording, rows = write(tmp_path)
    places = [Place(), *(place for place, _ in recording.times(Place()))]
    expected = [int(m.timestamp() * 1_000_000) for m in moments()]
    for row, place in enumerate(places):
        assert [time for _, time in recording.times(place)] == expected[row:]
        for count in range(len(rows) + 1):
            found = recording.rows(place, count)
            assert (found.to_pylist() if isinstance(found, pa.Table) else found) == rows[row : row + count]


@pytest.mark.parametrize("line", ["", "1", "1,soon,x", '{"at": "soon"}', '{"when": 1}', "[1]"])
def test_a_line_without_a_time_is_a_row_without_a_time(line, tmp_path):
    (tmp_path / "r").write_text("x")
    assert CsvRecording(str(tmp_path / "r"), 1).time_of(line) is None
    assert JsonRecording(str(tmp_path / "r"), "at").time_of(line) is None


def test_no_recording_is_no_stream(tmp_path):
    with pytest.raises(FileNotFoundError, match="no recording"):
        CsvRecording(str(tmp_path), 0)
