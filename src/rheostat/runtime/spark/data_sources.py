"""Registration of data sources written in Python with a session."""

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from rheostat.runtime.spark.session import activate


def register(spark: SparkSession, source: type[DataSource]) -> str:
    """The name of the format. Repeating it does nothing: a session may have several streams of one kind.

    The session becomes the active one of this thread: Spark will look the format up there.
    """
    activate(spark)
    try:
        spark.dataSource.register(source)
    except AnalysisException as known:
        if known.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise
    return source.name()
