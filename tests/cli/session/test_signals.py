"""Ctrl-C and SIGTERM end a run once: repeated signals do not leave a take-down half done."""

import signal

import pytest

from rheostat.cli.session.signals import HEARD, signals


@pytest.fixture(params=HEARD, ids=lambda number: number.name)
def number(request):
    return request.param


def test_what_is_brought_up_is_interrupted_once(number):
    with signals():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        for each in HEARD:
            signal.raise_signal(each)


def test_what_runs_is_stopped_as_often_as_somebody_asks(number):
    asked = []
    with signals() as heard, heard.stopping(lambda: asked.append(number)):
        signal.raise_signal(number)
        signal.raise_signal(number)
    assert asked == [number, number]


def test_what_is_taken_down_goes_on(number):
    asked = []
    with signals() as heard:
        with heard.stopping(lambda: asked.append(number)):
            pass
        signal.raise_signal(number)
    assert asked == []


def test_what_is_taken_down_because_it_failed_goes_on_as_well(number):
    with signals() as heard:
        with pytest.raises(RuntimeError), heard.stopping(lambda: None):
            raise RuntimeError("an operator")
        signal.raise_signal(number)


def test_what_is_taken_down_because_it_did_not_come_up_goes_on_as_well(number):
    with signals() as heard:
        with pytest.raises(RuntimeError), heard.ending_behind():
            raise RuntimeError("a node")
        signal.raise_signal(number)


def test_spark_may_install_its_own_before_it_runs(number):
    asked = []
    with signals() as heard:
        signal.signal(number, signal.default_int_handler)
        with heard.stopping(lambda: asked.append(number)):
            signal.raise_signal(number)
    assert asked == [number]


def test_afterwards_they_do_what_they_did_before(number):
    before = signal.getsignal(number)
    with signals() as heard, heard.stopping(lambda: None):
        assert signal.getsignal(number) != before
    assert signal.getsignal(number) == before
