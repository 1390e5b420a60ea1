"""The same chain as one would write it without Rheostat: five queries joined by Spark's file sink and source.

The benchmark compares with it. Ticks are sent to all key groups by an explode: that is what a broadcast amounts to.
"""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.streaming import StreamingQuery

from examples.taxi_routes.app import generated_trips
from examples.taxi_routes.ranking import count_by_window, global_rank, partial_rank
from examples.taxi_routes.routes import compute_route_id, filter_by_coordinates, parser
from examples.taxi_routes.ticks import metronome

STAGES = ("dataSource", "metronome", "countByWindow", "partialRank", "globalRank")


class Chain:
    """The queries; each reads the files of the one before, once that has begun."""

    def __init__(
        self, spark: SparkSession, directory: Path, *, groups: int = 8, trigger: str = "200 milliseconds"
    ) -> None:
        self._spark, self._directory, self._groups, self._trigger = spark, directory, groups, trigger

    def start(self, **source: str | float | bool) -> list[StreamingQuery]:
        """All five, running."""
        groups = self._groups
        trips = generated_trips(self._spark, **source)
        queries = [self._write("dataSource", trips)]
        lines = self._read("dataSource", trips)
        ticks = metronome(lines, groups=groups)
        queries.append(self._write("metronome", ticks))
        every = F.explode(F.sequence(F.lit(0), F.lit(groups - 1)))
        sent = self._read("metronome", ticks).withColumn("key_group", every)
        routes = compute_route_id(filter_by_coordinates(parser(lines)), groups=groups)
        counts = count_by_window(routes, sent)
        queries.append(self._write("countByWindow", counts))
        reports = partial_rank(self._read("countByWindow", counts), sent)
        queries.append(self._write("partialRank", reports))
        queries.append(self._write("globalRank", global_rank(self._read("partialRank", reports), groups=groups)))
        return queries

    def results(self) -> DataFrame:
        """All rankings so far, as a batch."""
        return self._spark.read.parquet(str(self._directory / "globalRank"))

    def _write(self, name: str, frame: DataFrame) -> StreamingQuery:
        writer = frame.writeStream.format("parquet").queryName(name).trigger(processingTime=self._trigger)
        place = str(self._directory / name)
        return writer.option("checkpointLocation", str(self._directory / "checkpoints" / name)).start(place)

    def _read(self, name: str, like: DataFrame) -> DataFrame:
        place = self._directory / name
        place.mkdir(parents=True, exist_ok=True)
        return self._spark.readStream.schema(like.schema).parquet(str(place))
