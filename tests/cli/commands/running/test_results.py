"""rheostat results: what a sink has received, without Spark."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.runtime.channels.world import opened
from tests.simulation.scenes import CHAIN, SITES

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.model.documents import write
from rheostat.model.graph.application import RESULTS_SINK
from rheostat.runtime.channels.channel_store import channel_at
from rheostat.runtime.channels.port.channel import ProducedBatch
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.plan.run_paths import RunPaths

ROWS = [{"word": "a", "count": 1}, {"word": "b", "count": 1}, {"word": "a", "count": 2}]


@pytest.fixture
def run(rheostat, tmp_path, monkeypatch):
    """A run whose sink has received three rows in two batches."""
    monkeypatch.chdir(tmp_path)
    layout = RunPaths(tmp_path / ".rheostat" / "chain")
    layout.root.mkdir(parents=True)
    operators = tuple(replace(one, code=RESULTS_SINK if one.name == "sink" else "a:b") for one in CHAIN.operators)
    (layout.root / "application.yaml").write_text(write(replace(CHAIN, operators=operators)))
    (layout.root / "infrastructure.yaml").write_text(write(SITES))
    SqliteJournal(layout.journal).close()
    channel = channel_at(str(layout.results("sink")), ChannelSpec("sink", 1))
    channel.create()
    return channel


@pytest.fixture
def received(run):
    producer = opened(run, "sink@a")
    for number, rows in enumerate((ROWS[:2], ROWS[2:])):
        segment = run.producers.stage(producer.name, producer.epoch, pa.Table.from_pylist(rows), None)
        producer.publish(ProducedBatch(number, [segment]), now_ms=number)


def test_a_sink_that_has_received_nothing(run, rheostat):
    assert rheostat("results").out == "sink has received nothing yet\n"
    assert rheostat("results", "--json").json["rows"] == []


def test_the_only_sink_need_not_be_named(received, rheostat):
    told = rheostat("results", "--json").json
    assert (told["sink"], told["count"], told["columns"], told["rows"]) == ("sink", 3, ["word", "count"], ROWS)
    assert [line.split() for line in rheostat("results").out.splitlines()] == [
        ["word", "count"], ["a", "1"], ["b", "1"], ["a", "2"], ["3", "rows"],
    ]  # fmt: skip


def test_only_the_last_rows_are_shown_and_all_are_counted(received, rheostat):
    told = rheostat("results", "sink", "--last", "1", "--json").json
    assert (told["count"], told["rows"]) == (3, ROWS[-1:])
    assert "the last 1 of 3 rows" in rheostat("results", "--last", "1").out


def test_what_stands_where_rows_replace_earlier_ones(received, rheostat):
    told = rheostat("results", "--latest-by", "word", "--json").json
    assert (told["count"], told["rows"]) == (2, ROWS[1:])


def test_all_rows_are_saved(received, rheostat, tmp_path):
    assert rheostat("results", "--last", "1", "--output", "rows.jsonl").out == "written: 3 rows of sink to rows.jsonl\n"
    assert [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()] == ROWS
    assert rheostat("results", "--latest-by", "word", "--output", "rows.parquet", "--json").json["count"] == 2
    assert parquet.read_table(tmp_path / "rows.parquet").to_pylist() == ROWS[1:]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sank"], "there is no sink 'sank'; did you mean 'sink'?"),
        (["work"], "work does not keep rows here; those that do: sink"),
        (["--output", "rows.txt"], "rows.txt does not say what to write; let it end in .parquet, .csv, .jsonl"),
        (["--latest-by", "wort"], "there is no column 'wort'; did you mean 'word'?"),
        (["--directory", "elsewhere"], "nothing was run in elsewhere; give the --directory of a run"),
    ],
)
def test_a_question_that_cannot_be_answered(received, rheostat, tmp_path, arguments, told):
    answer = rheostat("results", *arguments)
    assert (answer.code, answer.err.strip()) == (2, told)
    assert sorted(one.name for one in tmp_path.iterdir()) == [".rheostat"], "nothing was written"


def test_nothing_is_written_of_nothing(run, rheostat, tmp_path):
    answer = rheostat("results", "--output", "rows.csv")
    assert (answer.code, "has received nothing yet" in answer.err) == (2, True)
    assert not (tmp_path / "rows.csv").exists()
