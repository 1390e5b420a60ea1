"""From a line to a route: the stateless operators, in Spark's own expressions.

| stream | columns |
|---|---|
| dataSource | ts (event time: the drop-off), line |
| parser | ts, pickup_longitude, pickup_latitude, dropoff_longitude, dropoff_latitude |
| filterByCoordinates | ts, pickup_x, pickup_y, dropoff_x, dropoff_y: cells |
| computeRouteID | key_group, minute (number), route: "153.162-154.160", from cell to cell |
"""

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from examples.taxi_routes.definition import CELL_HEIGHT, CELL_WIDTH, CELLS, FIELDS, LEFT, TOP
from rheostat import operator, sources

COORDINATES = ("pickup_longitude", "pickup_latitude", "dropoff_longitude", "dropoff_latitude")
CELL_NUMBERS = ("pickup_x", "pickup_y", "dropoff_x", "dropoff_y")


@operator(max_replicas=3)
def parser(lines: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """Trips with their coordinates; lines that are no trips are dropped."""
    return _parsed(sources.with_service_time(lines, service_ms)).where("sound").drop("sound")


@operator(max_replicas=3)
def filter_by_coordinates(trips: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """Trips within the area of 150 km x 150 km, by cell."""
    return _in_cells(sources.with_service_time(trips, service_ms)).where("inside").drop("inside")


@operator(max_replicas=3)
def compute_route_id(trips: DataFrame, *, groups: int, service_ms: float = 0.0) -> DataFrame:
    """The route, and the key group it belongs to."""
    routes = sources.with_service_time(trips, service_ms).select(
        minute_of("ts").alias("minute"), _route().alias("route")
    )
    return routes.select(_key_group(groups).alias("key_group"), "minute", "route")


def line_groups(lines: DataFrame, groups: int) -> DataFrame:
    """minute and key_group of every line, the latter null if it is not among the trips that are counted."""
    cells = _in_cells(_parsed(lines), "sound")
    routes = cells.select(minute_of("ts").alias("minute"), _route().alias("route"), "sound", "inside")
    counted = F.when(F.col("sound") & F.col("inside"), _key_group(groups))
    return routes.select("minute", counted.alias("key_group"))


def minute_of(time: str) -> Column:
    """The number of the minute (t - 1 min, t] a time lies in."""
    return F.expr(f"(unix_micros({time}) + 59999999) div 60000000")


def _parsed(lines: DataFrame) -> DataFrame:
    """ts, coordinates, and whether they can be trusted."""
    values = lines.select("ts", F.split("line", ",", -1).alias("values"))
    trips = values.select(
        "ts",
        *(_value(name, "double").alias(name) for name in COORDINATES),
        (F.size("values") == len(FIELDS)).alias("whole"),
        (_value("pickup_datetime", "timestamp") <= _value("dropoff_datetime", "timestamp")).alias("ordered"),
        (_value("trip_time_in_secs", "bigint") >= 0).alias("lasting"),
    )
    conditions = [F.col(name) for name in ("whole", "ordered", "lasting")]
    conditions += [F.col(name) != 0.0 for name in COORDINATES]
    return trips.select("ts", *COORDINATES, _surely(conditions).alias("sound"))


def _in_cells(trips: DataFrame, *also: str) -> DataFrame:
    """ts, cells, and whether both are in the area."""
    places = [
        (F.col(name) - LEFT) / CELL_WIDTH if name.endswith("longitude") else (F.lit(TOP) - F.col(name)) / CELL_HEIGHT
        for name in COORDINATES
    ]
    numbers = [(F.floor(place) + 1).alias(name) for place, name in zip(places, CELL_NUMBERS, strict=True)]
    inside = _surely([F.col(name).between(1, CELLS) for name in CELL_NUMBERS])
    return trips.select("ts", *numbers, *also).select("ts", *CELL_NUMBERS, *also, inside.alias("inside"))


def _route() -> Column:
    """Three digits each, so that the order of texts is the order of cells."""
    pickup_x, pickup_y, dropoff_x, dropoff_y = (F.lpad(F.col(name).cast("string"), 3, "0") for name in CELL_NUMBERS)
    return F.concat_ws("-", F.concat_ws(".", pickup_x, pickup_y), F.concat_ws(".", dropoff_x, dropoff_y))


def _key_group(groups: int) -> Column:
    return F.pmod(F.xxhash64("route"), F.lit(groups)).cast("int")


def _value(name: str, kind: str) -> Column:
    """A value of the line; null if it is missing or something else."""
    return F.get("values", FIELDS.index(name)).try_cast(kind)


def _surely(conditions: list[Column]) -> Column:
    """All are true; what is unknown is not."""
    return F.coalesce(reduce(and_, conditions), F.lit(False))
