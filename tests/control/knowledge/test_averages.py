"""Averages of samples, and how long they stay valid."""

from dataclasses import dataclass, field

import pytest

from rheostat.control.knowledge.averages import Averages, Readings
from rheostat.control.setup.control_settings import averaging_over
from rheostat.model.observation import FIGURES, Sample, Subject

SPLIT, COUNT = Subject.operator("split"), Subject.operator("count")
APPLICATION, NODE = Subject.application("words"), Subject.node("n1")


@dataclass
class Told:
    """A probe that hands out what it was given, once."""

    waiting: list = field(default_factory=list)

    def samples(self):
        given, self.waiting = self.waiting, []
        return given

    def deployment(self):
        raise NotImplementedError

    def infrastructure(self):
        raise NotImplementedError


def heard(*samples, now, averaging=30.0):
    monitor = Averages(Told([Sample(subject, at, figures) for subject, at, figures in samples]), averaging)
    monitor.refresh(now)
    return monitor


def test_a_figure_is_the_mean_over_the_last_while():
    rates = [(SPLIT, at, {"input_rate": rate}) for at, rate in ((0, 100), (10, 40), (20, 50), (30, 60))]
    assert heard(*rates, now=30).value(SPLIT, "input_rate") == pytest.approx(50)
    assert heard(*rates, now=30, averaging=15.0).value(SPLIT, "input_rate") == pytest.approx(55)


@pytest.mark.parametrize("period", [4.0, 10.0, 30.0, 60.0])
def test_a_rate_that_has_jumped_is_seen_whole_at_the_next_decision(period):
    """What is measured of a jump comes a few seconds after it."""
    jump, seen = 100.0, 100.0 + period / 4
    rates = [(SPLIT, at, {"input_rate": 60 if at > seen else 20}) for at in range(80, int(jump + period) + 1)]
    told = heard(*rates, now=jump + period, averaging=averaging_over(period)).value(SPLIT, "input_rate")
    assert told == pytest.approx(60, abs=10 if period < 8 else 0), "the shortest average is over a few batches"


def test_of_a_backlog_the_last_one_counts():
    backlogs = [(SPLIT, at, {"backlog": rows}) for at, rows in ((10, 500), (20, 7))]
    assert heard(*backlogs, now=20).value(SPLIT, "backlog") == 7


def test_what_is_too_old_is_not_known_but_it_is_known_since_when():
    monitor = heard((SPLIT, 10, {"utilization": 0.5}), now=41)
    assert monitor.value(SPLIT, "utilization") is None
    assert monitor.silence(SPLIT, "utilization") == 31
    assert monitor.silence(COUNT, "utilization") is None


def test_a_long_period_between_samples_does_not_make_a_young_one_old():
    monitor = heard((SPLIT, 5, {"utilization": 0.5}), now=30, averaging=10.0)
    assert monitor.value(SPLIT, "utilization") == 0.5


def test_what_was_measured_until_a_change_has_settled_does_not_count():
    told = [(SPLIT, at, {"input_rate": rate}) for at, rate in ((10, 900), (20, 1000), (30, 100))]
    monitor = heard(*told, now=30)
    monitor.exclude(20)
    assert monitor.value(SPLIT, "input_rate") == 100
    monitor.exclude(30)
    assert monitor.value(SPLIT, "input_rate") is None


def test_a_change_of_one_operator_spoils_its_own_figures_and_the_response_time():
    monitor = heard(
        (SPLIT, 10, {"utilization": 0.5}),
        (Subject.instance("split", "n1"), 10, {"utilization": 0.5}),
        (COUNT, 10, {"utilization": 0.5}),
        (APPLICATION, 10, {"response_mean_ms": 80}),
        (NODE, 10, {"cpu": 0.4}),
        now=20,
    )
    monitor.exclude(15, ["split"])
    assert monitor.value(SPLIT, "utilization") is None
    assert monitor.value(Subject.instance("split", "n1"), "utilization") is None
    assert monitor.value(APPLICATION, "response_mean_ms") is None
    assert monitor.value(COUNT, "utilization") == 0.5
    assert monitor.value(NODE, "cpu") == 0.4
    monitor.exclude(15)
    assert monitor.value(COUNT, "utilization") is None


def test_an_exclusion_is_never_shortened():
    monitor = heard((SPLIT, 10, {"utilization": 0.5}), now=20)
    monitor.exclude(15)
    monitor.exclude(5)
    assert monitor.value(SPLIT, "utilization") is None


def test_with_no_window_the_last_value_counts_as_long_as_it_is_young_enough():
    readings = Readings(0.0, FIGURES)
    readings.take([Sample(COUNT, at, {"input_rate": rate}) for at, rate in ((8, 4.0), (10, 5.0))], 12)
    limit = 10 + FIGURES["input_rate"].max_age_seconds
    assert readings.value(COUNT, "input_rate") == 5.0
    readings.take([], limit)
    assert readings.value(COUNT, "input_rate") == 5.0
    readings.take([], limit + 0.1)
    assert readings.value(COUNT, "input_rate") is None
    assert readings.value(SPLIT, "input_rate") is None


def test_figures_that_are_not_asked_for_are_not_kept():
    readings = Readings(30.0, {"utilization"})
    readings.take([Sample(COUNT, 1, {"input_rate": 4.0, "utilization": 0.5})], 1)
    assert (readings.value(COUNT, "input_rate"), readings.value(COUNT, "utilization")) == (None, 0.5)
