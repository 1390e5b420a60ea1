"""An application whose two ends are Spark's own: files that appear, and files or batches that are written."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.readwriter import DataStreamWriter

from rheostat.app import App, operator
from rheostat.sinks import files


def lines(spark: SparkSession, *, folder: str) -> DataFrame:
    return spark.readStream.schema("n bigint").option("maxFilesPerTrigger", 1).json(folder)


@operator(max_replicas=3)
def doubled(rows: DataFrame) -> DataFrame:
    return rows.select(F.col("n"), (2 * F.col("n")).alias("twice"))


@operator(max_replicas=3)
def keyed(rows: DataFrame) -> DataFrame:
    return rows.select((F.col("n") % 7).alias("k"), "n")


@operator(key="k", output="update", max_replicas=3)
def sums(rows: DataFrame) -> DataFrame:
    return rows.groupBy("k").agg(F.sum("n").alias("total"), F.count("n").alias("rows"))


def numbered(rows: DataFrame, *, folder: str) -> DataStreamWriter:
    """Keeps a batch under its number, as everybody does who wants `foreachBatch` exact: a known number is done."""

    def keep(batch: DataFrame, number: int) -> None:
        place = Path(folder) / f"{number}.csv"
        if not place.exists():
            half = place.with_suffix(".half")
            half.write_text("".join(f"{row.k},{row.total},{row.rows}\n" for row in batch.collect()))
            half.rename(place)

    return rows.writeStream.foreachBatch(keep)


def application(folder: Path):
    app = App("ends")
    app.source("lines", lines, parameters={"folder": str(folder / "in")})
    app.operator(doubled, reads="lines")
    app.sink("files", files, reads="doubled", max_replicas=3, parameters={"path": str(folder / "out")})
    app.operator(doubled, name="again", reads="lines")
    app.sink("both", reads=["doubled", "again"])
    app.operator(keyed, reads="lines")
    app.operator(sums, reads="keyed")
    app.sink("numbered", numbered, reads="sums", max_replicas=3, parameters={"folder": str(folder / "numbered")})
    return app.build()
