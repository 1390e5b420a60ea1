"""Settings of a node's Spark: lean defaults, the user's overrides, and those of executors."""

import os
import sys
from pathlib import Path

import pytest

from rheostat.errors import InvalidModel
from rheostat.runtime.spark.spark_settings import LEAN, LOOPBACK, SparkSettings


def test_a_local_spark_has_a_thread_per_slot_and_every_lean_setting():
    found = SparkSettings().resolved(3)
    assert found.pop("spark.master") == "local[3]"
    assert found == {name: value for name, (value, _) in (LEAN | LOOPBACK).items()}


@pytest.mark.parametrize("name", LEAN | LOOPBACK)
def test_every_lean_setting_has_its_reason_and_can_be_overridden(name):
    assert (LEAN | LOOPBACK)[name][1]
    assert SparkSettings(overrides={name: "mine"}).resolved(1)[name] == "mine"


def test_a_node_takes_no_more_of_a_cluster_than_its_slots_so_that_several_can_share_it():
    assert SparkSettings("spark://host:7077").resolved(4)["spark.cores.max"] == "4"
    assert SparkSettings("spark://host:7077", {"spark.cores.max": "9"}).resolved(4)["spark.cores.max"] == "9"
    assert "spark.cores.max" not in SparkSettings("local[8]").resolved(4)


def test_a_spark_on_a_cluster_can_be_reached_by_its_executors():
    assert "spark.driver.host" not in SparkSettings("spark://host:7077").resolved(1)


def test_executors_find_the_modules_that_are_found_here():
    found = SparkSettings("spark://host:7077").resolved(1)["spark.executorEnv.PYTHONPATH"]
    assert found.split(os.pathsep) == [path for path in sys.path if path]


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("local[4]", True), ("local[*]", True), ("local-cluster[2,1,1024]", False), ("yarn", False)],
)
def test_only_a_spark_that_is_one_process_is_local(master, local):
    assert SparkSettings(master).is_local is local


def test_a_node_may_have_a_master_of_its_own():
    settings = SparkSettings("local[2]", {"spark.x": "1"}, {"n2": "spark://host:7077"})
    assert [settings.of_node(name).master for name in ("n1", "n2")] == ["local[2]", "spark://host:7077"]
    assert settings.of_node("n2").overrides == {"spark.x": "1"}


def test_what_is_written_for_a_while_lies_below_one_folder_and_own_options_of_java_stay():
    settings = SparkSettings(overrides={"spark.driver.extraJavaOptions": "-Xss8m"}).with_scratch(Path("/scratch"))
    assert settings.resolved(1)["spark.local.dir"] == "/scratch"
    assert settings.resolved(1)["spark.driver.extraJavaOptions"] == "-Xss8m -Djava.io.tmpdir=/scratch"


def test_every_mistake_is_told_at_once():
    wrong = {"spark.master": "local", "driver.memory": "1g"}
    with pytest.raises(InvalidModel) as told:
        SparkSettings("sparc", wrong, {"n1": "spark:/host"})
    assert len(told.value.mistakes) == 4
    assert "say so with the master" in str(told.value)
