"""Logging: one logger per room, in lines or as JSON, the same for commands and agents.

```
12:30:05 warning runtime: node n2 has lost its Spark, and ends with it
{"time": "2026-01-01T12:30:05.120+00:00", "level": "warning", "room": "runtime", "message": "node n2 ..."}
```
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TextIO

ROOT = "rheostat"
LEVEL_VARIABLE, FORM_VARIABLE = "RHEOSTAT_LOG_LEVEL", "RHEOSTAT_LOG_JSON"
"""Environment variables by which agents get the settings of the process that starts them."""


class LogLevel(StrEnum):
    """The least important messages that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Level and form of the log."""

    level: LogLevel = LogLevel.WARNING
    as_json: bool = False

    def environment(self) -> dict[str, str]:
        """The variables that give another process the same settings."""
        return {LEVEL_VARIABLE: self.level.value, FORM_VARIABLE: "1" if self.as_json else "0"}

    @classmethod
    def from_environment(cls, variables: Mapping[str, str], default: LogLevel = LogLevel.WARNING) -> "LogSettings":
        """The settings in environment variables; an unknown level counts as the default."""
        level = variables.get(LEVEL_VARIABLE, default.value).lower()
        known = LogLevel(level) if level in set(LogLevel) else default
        return cls(known, variables.get(FORM_VARIABLE, "0") == "1")


def room_logger(room: str) -> logging.Logger:
    """The logger of a room, such as `runtime` or `control`."""
    return logging.getLogger(f"{ROOT}.{room}")


def start_logging(settings: LogSettings, stream: TextIO) -> logging.Handler:
    """Writes the messages of all rooms to a stream, in place of an earlier one."""
    logger = logging.getLogger(ROOT)
    for earlier in logger.handlers[:]:
        if isinstance(earlier, RoomHandler):
            logger.removeHandler(earlier)
    handler = RoomHandler(stream)
    handler.setFormatter(JsonForm() if settings.as_json else LineForm())
    logger.addHandler(handler)
    logger.setLevel(settings.level.upper())
    return handler


class RoomHandler(logging.StreamHandler[TextIO]):
    """The one handler that `start_logging` has installed."""


class LineForm(logging.Formatter):
    """A line for people: time, level, room, message."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback if there is one."""
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        line = f"{time} {record.levelname.lower()} {room_of(record)}: {record.getMessage()}"
        return line if not record.exc_info else f"{line}\n{self.formatException(record.exc_info)}"


class JsonForm(logging.Formatter):
    """A JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "room": room_of(record),
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def room_of(record: logging.LogRecord) -> str:
    """The room that a record comes from."""
    return record.name.removeprefix(f"{ROOT}.").partition(".")[0]
