"""One Spark application for all tests of state, and what they work on."""

import sys
from collections.abc import Iterator

import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from tests.runtime.checkpoints import kinds, log_source
from tests.runtime.checkpoints.instances import KEY, Operator, group_table
from tests.runtime.checkpoints.kinds import Kind
from tests.runtime.checkpoints.rounds import GROUPS, make_rounds

from rheostat.runtime.checkpoints.state_keys import Key
from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

cloudpickle.register_pickle_by_value(kinds)
cloudpickle.register_pickle_by_value(log_source)
cloudpickle.register_pickle_by_value(sys.modules["tests.runtime.checkpoints.rounds"])


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    settings = {
        "spark.sql.shuffle.partitions": "2",
        # So little data that compiling a plan costs more than running it.
        "spark.sql.codegen.wholeStage": "false",
        "spark.log.level": "OFF",
    }
    session = create_session(SparkSettings("local[2]", settings), 2, "state moves")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def groups(spark: SparkSession) -> dict[str, int]:
    return group_table(spark, [f"k{i}" for i in range(60)] + [f"p{i}" for i in range(100)])


@pytest.fixture(scope="module")
def rounds(groups):
    pulses = [
        min(key for key, group in groups.items() if key[0] == "p" and group == wanted) for wanted in range(GROUPS)
    ]
    return make_rounds(pulses)


@pytest.fixture
def operator_of(spark, groups, tmp_path):
    """Makes operators, each in a folder of its own."""
    made = []

    def make(kind: Kind, table=groups, key: Key = KEY) -> Operator:
        made.append(kind)
        return Operator(spark, kind, tmp_path / str(len(made)), table, key)

    return make
