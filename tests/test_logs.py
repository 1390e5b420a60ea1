"""The log: rooms, levels, lines and JSON; the settings reach other processes by their environment."""

import io
import json
import logging

import pytest

from rheostat.logs import LogLevel, LogSettings, RoomHandler, room_logger, start_logging


@pytest.fixture
def started():
    """Starts a log into a text; what was there before is there again afterwards."""
    logger = logging.getLogger("rheostat")
    before, level = logger.handlers[:], logger.level

    def start(settings):
        out = io.StringIO()
        start_logging(settings, out)
        return out

    yield start
    logger.handlers[:] = before
    logger.setLevel(level)


def test_a_line_has_time_level_room_and_message(started):
    out = started(LogSettings(LogLevel.INFO))
    room_logger("runtime").info("node %s is back", "n2")
    logging.getLogger("rheostat.control.loop").warning("late")
    first, second = out.getvalue().splitlines()
    assert first[8:] == " info runtime: node n2 is back"
    assert second[8:] == " warning control: late"


def test_as_json_every_line_is_an_object_with_its_exception(started):
    out = started(LogSettings(as_json=True))
    try:
        int("seven")
    except ValueError:
        room_logger("cli").exception("it failed")
    (told,) = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (told["level"], told["room"], told["message"]) == ("error", "cli", "it failed")
    assert told["exception"].endswith("ValueError: invalid literal for int() with base 10: 'seven'")
    assert told["time"].endswith("+00:00")


@pytest.mark.parametrize(("level", "lines"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_less_important_messages_are_left_out(started, level, lines):
    out = started(LogSettings(LogLevel(level)))
    for one in ("debug", "info", "warning", "error"):
        getattr(room_logger("runtime"), one)("said")
    assert len(out.getvalue().splitlines()) == lines


def test_starting_again_replaces_the_first_log(started):
    first, second = started(LogSettings()), started(LogSettings())
    room_logger("runtime").warning("once")
    assert (first.getvalue(), len(second.getvalue().splitlines())) == ("", 1)
    assert sum(isinstance(one, RoomHandler) for one in logging.getLogger("rheostat").handlers) == 1


@pytest.mark.parametrize("settings", [LogSettings(level, form) for level in LogLevel for form in (True, False)])
def test_settings_reach_another_process(settings):
    assert LogSettings.from_environment(settings.environment()) == settings


def test_without_variables_or_with_unknown_ones_it_is_the_default():
    assert LogSettings.from_environment({}, LogLevel.INFO) == LogSettings(LogLevel.INFO)
    assert LogSettings.from_environment({"RHEOSTAT_LOG_LEVEL": "loud"}) == LogSettings()
