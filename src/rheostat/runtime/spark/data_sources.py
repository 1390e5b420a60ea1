"""Registration of data sources written in Python with a session."""

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from rheostat.runtime.spark.session import activate


def register(spark: SparkSession, source: type[DataSource]) -> str:
    """Registers a data source with a session and returns the name of its format. Repeating it does nothing.

    The session becomes the active one of this thread: Spark looks the format up there. It may have several streams of
    one kind.
    """
    activate(spark)
    try:
        spark.dataSource.register(source)
    except AnalysisException as known:
        if known.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise
    return source.name()
