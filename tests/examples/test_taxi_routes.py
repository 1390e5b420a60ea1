from collections import Counter
from pathlib import Path

import pytest
from examples.plain import run_plain
from examples.taxi_routes.answer import answer, route_of
from examples.taxi_routes.app import application
from examples.taxi_routes.definition import CELL_HEIGHT, CELL_WIDTH, EVENT_TIME_FIELD, NORTH, WEST
from examples.taxi_routes.handwritten import Chain
from examples.taxi_routes.trips import trip

from rheostat.reference.taxi import taxi
from rheostat.runtime.ends.generation import generation_of
from rheostat.runtime.ends.pace import Pace, PaceLimits
from rheostat.runtime.ends.playback import Playback, PlaybackStretch
from rheostat.runtime.ends.recordings import CsvRecording
from rheostat.runtime.ends.seeded_random import Draw

CURVE = "40 for 15; 0 for 32; 30"
"""At a minute a second: a busy quarter of an hour, 32 minutes in which nothing happens, a calmer time after."""
FINITE = {"total": 1000, "pace": "all", "seed": 4}


def reports():
    described = {"rows": f"{trip.__module__}:trip", "curve": CURVE, "event_time": "ts", "speed_up": "60"}
    stream = generation_of(described | {"step_ms": "1000"} | {name: str(value) for name, value in FINITE.items()})
    return [(time, values[0]) for time, values in stream.rows(0, FINITE["total"])]


def line(**changes):
    values = trip(Draw(1, 1, 60_000_000))[0].split(",")
    names = {"pickup": 2, "dropoff": 3, "duration": 4, "longitude": 6, "latitude": 7}
    for name, value in changes.items():
        values[names[name]] = str(value)
    return ",".join(values)


def rankings(rows):
    """As `answer` says it, every minute once."""
    got = [(int(row["minute"].timestamp()) // 60, tuple(map(tuple, row["ranking"]))) for row in rows]
    assert len(got) == len(dict(got)), "a minute was ranked twice"
    return dict(got)


@pytest.mark.parametrize(
    ("east", "south", "cell"),
    [
        pytest.param(0, 0, "001.001", id="the centre of the first cell"),
        pytest.param(2, 6, "003.007", id="two cells east and six south, as the challenge says"),
        pytest.param(0.499, 0.499, "001.001", id="almost out of the first cell"),
        pytest.param(0.501, -0.499, "002.001", id="just in the next"),
        pytest.param(299.499, 299.499, "300.300", id="the last corner"),
        pytest.param(-0.501, 0, None, id="west of the area"),
        pytest.param(0, 299.501, None, id="south of the area"),
    ],
)
def test_places_lie_in_cells_of_500_metres(east, south, cell):
    route = route_of(line(longitude=WEST + east * CELL_WIDTH, latitude=NORTH - south * CELL_HEIGHT))
    assert (route and route.partition("-")[0]) == cell


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"longitude": "0.000000"}, id="no position"),
        pytest.param({"latitude": "north"}, id="not a number"),
        pytest.param({"latitude": ""}, id="nothing"),
        pytest.param({"duration": -1}, id="a negative duration"),
        pytest.param({"pickup": "2030-01-01 00:00:00"}, id="picked up after the drop-off"),
        pytest.param({"dropoff": "soon"}, id="not a time"),
        pytest.param({"dropoff": "1970-01-01 00:01:00,more"}, id="too many values"),
    ],
)
def test_invalid_lines_have_no_route(changes):
    assert route_of(line()) is not None
    assert route_of(line(**changes)) is None


def test_a_window_is_open_at_its_beginning_and_closed_at_its_end():
    minute, one = 60_000_000, line()
    found = answer([(minute, one), (minute + 1, one), (40 * minute, one)])
    assert [found[t][0][1] if found[t] else 0 for t in (1, 2, 30, 31, 32, 39)] == [1, 2, 2, 1, 0, 0]
    assert max(found) == 39


def test_equally_frequent_routes_are_ranked_by_their_id():
    ranking = answer(reports())[min(answer(reports()))]
    assert ranking == tuple(sorted(ranking, key=lambda item: (-item[1], item[0])))
    assert len(ranking) == 10


def test_generated_trips_have_popular_routes_invalid_lines_and_strangers():
    routes = Counter(route_of(text) for _, text in reports())
    assert 0.02 < routes[None] / FINITE["total"] < 0.08
    assert routes.most_common(2)[1][1] > 5


def test_the_graph_is_that_of_the_paper_and_a_sink():
    built, paper = application(), taxi()
    ends = {stream.ends: (stream.grouping, stream.rate_tps) for stream in built.streams}
    assert ends.pop(("globalRank", "rankings"))
    assert ends == {stream.ends: (stream.grouping, stream.rate_tps) for stream in paper.streams}
    assert built.rates.operators["partialRank"] == pytest.approx(paper.rates.operators["partialRank"])


@pytest.mark.spark
@pytest.mark.parametrize(
    ("rows_per_batch", "replicas", "groups", "runtime_groups"),
    [
        pytest.param(350, 2, 3, 3, id="several batches"),
        pytest.param(10_000, 1, 3, 5, id="one batch, and more key groups in the runtime than the application uses"),
    ],
)
def test_every_minute_is_ranked_once_and_right(rows_per_batch, replicas, groups, runtime_groups, spark, tmp_path):  # noqa: PLR0917 - a table
    built = application(CURVE, groups=groups, rows_per_batch=rows_per_batch, replicas=replicas, **FINITE)
    output = run_plain(built, spark, tmp_path, groups=runtime_groups)["rankings"]
    assert rankings(output) == answer(reports())


@pytest.mark.spark
def test_the_handwritten_chain_gives_the_same(spark, tmp_path: Path):
    chain = Chain(spark, tmp_path, groups=2)
    queries = chain.start(curve=CURVE, rows_per_batch=500, **FINITE)
    for _ in range(2):
        for query in queries:
            query.processAllAvailable()
    for query in queries:
        query.stop()
    assert rankings(chain.results().collect()) == answer(reports())


@pytest.mark.spark
def test_recorded_trips_are_replayed_and_amplified(spark, tmp_path):
    recorded = tmp_path / "trips.csv"
    recorded.write_text("\n".join(text for _, text in reports()[:400]))
    built = application(path=str(recorded), groups=2, copies=2, pace="all")
    output = run_plain(built, spark, tmp_path / "run", groups=2)["rankings"]
    playback = Playback(CsvRecording(str(recorded), EVENT_TIME_FIELD), PaceLimits(Pace.ALL), copies=2)
    times = playback.times(PlaybackStretch(playback.beginning(0), 400))
    lines = [text for _, text in reports()[:400] for _ in range(2)]
    assert rankings(output) == answer(zip(times, lines, strict=True))
