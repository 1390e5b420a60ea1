"""`rheostat doctor`: what is missing is told with a remedy."""

import os
from importlib import metadata

import pytest

from rheostat.cli.commands.setup import doctor


@pytest.fixture
def java(tmp_path, monkeypatch):
    """Puts a java on the PATH, alone, that says this version."""

    def put(text: str, code: int = 0) -> None:
        script = tmp_path / "java"
        script.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit {code}\n")
        script.chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return put


@pytest.fixture
def without_spark(monkeypatch):
    """Makes the packages of Spark look as if they were not there."""
    installed = metadata.version

    def version(name: str) -> str:
        if name in doctor.SPARK_PACKAGES:
            raise metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(metadata, "version", version)


@pytest.fixture
def with_spark(monkeypatch):
    """Makes them look as if they were."""
    monkeypatch.setattr(metadata, "version", lambda _: "4.3.0")


def test_every_check_has_a_status_and_a_remedy_where_it_needs_one(rheostat):
    answer = rheostat("doctor", "--json")
    checks = answer.json["checks"]
    assert {check["name"] for check in checks} >= {"python", "java", "spark", "memory", "cores", "disk"}
    assert all((check["status"] == "ok") == (check["remedy"] is None) for check in checks)
    assert answer.code == (0 if all(check["status"] != "fail" for check in checks) else 1)


def test_java_missing_fails_where_spark_is_installed(rheostat, java, with_spark):
    answer = rheostat("doctor")
    assert answer.code == 1
    assert "fail  java    not found; install Java 17 or later" in answer.out
    assert rheostat("doctor", "--json").json["mistakes"][0]["what"] == "java: not found"


def test_without_spark_java_is_not_needed(rheostat, java, without_spark):
    answer = rheostat("doctor")
    assert answer.code == 0
    assert "pip install 'rheostat[spark]'" in answer.out
    assert "warn  java" in answer.out


@pytest.mark.parametrize(
    ("text", "code", "status"),
    [
        pytest.param('openjdk version "17.0.15" 2025-04-15', 0, "ok", id="17"),
        pytest.param('openjdk version "21" 2023-09-19', 0, "ok", id="21"),
        pytest.param('java version "1.8.0_292"', 0, "fail", id="8 is too old"),
        pytest.param('openjdk version "11.0.2"', 0, "fail", id="11 is too old"),
        pytest.param("no Java runtime present", 1, "fail", id="a stub that only says how to get one"),
        pytest.param("hello", 0, "fail", id="something else"),
    ],
)
def test_the_version_of_java_decides(java, with_spark, text, code, status):
    java(text, code)
    assert doctor.check_java().status == status


def test_java_home_comes_first_as_it_does_for_spark(java, with_spark, tmp_path, monkeypatch):
    java('openjdk version "17.0.15"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    check = doctor.check_java()
    assert check.status == "fail"
    assert "JAVA_HOME" in check.remedy


def test_a_place_that_cannot_be_written_fails(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor.tempfile, "gettempdir", lambda: str(tmp_path / "nowhere"))
    assert doctor.check_disk().status == "fail"


@pytest.mark.parametrize(("gigabytes", "status"), [(None, "warn"), (0.5, "fail"), (2.0, "warn"), (16.0, "ok")])
def test_memory_is_judged(monkeypatch, gigabytes, status):
    monkeypatch.setattr(doctor, "memory_gb", lambda: gigabytes)
    assert doctor.check_memory().status == status


def test_memory_is_found_on_this_system():
    assert (doctor.memory_gb() is not None) == hasattr(os, "sysconf")
