"""Attribution of a failed query to the operator whose code failed, with its line, and to none for other failures."""

import traceback
from pathlib import Path

import pandas as pd
import pyspark
import pytest

import rheostat
from rheostat.model.graph.application import RESULTS_SINK
from rheostat.runtime.query import udf_timing as own_code
from rheostat.runtime.query.failure_attribution import AWAITED, attributed, error_line
from rheostat.runtime.query.udf_timing import TimingNotes, timed


def halve(value: float) -> float:
    """Halves."""
    return value / 2


def count(values: list[float]) -> int:
    """Counts."""
    return len(values)


OPERATORS = {"count": f"{__name__}:count", "halve": f"{__name__}:halve", "out": RESULTS_SINK}
IN_HALVE = halve.__code__.co_firstlineno + 2
SPARKS = str(Path(pyspark.__file__).parent / "worker.py")
OURS = str(Path(rheostat.__file__).parent / "runtime" / "channels" / "reader" / "channel_reader.py")
SOURCE = str(Path(rheostat.__file__).parent / "runtime" / "ends" / "rate.py")
IN_A_CALLBACK = "An exception was raised by the Python Proxy. An"
ENDING = " SQLSTATE: 38000\n=== Streaming Query ===\nLogical Plan:\n+- MapInPandas halve\n"


def told(*frames: tuple[str | int, ...], by: str = "", cause: str = "ValueError: no") -> str:
    """What Spark tells of a failure in a Python worker."""
    places = [(file, line, *(name or ("somewhere",))) for file, line, *name in frames]
    lines = [f'  File "{file}", line {line}, in {name}\n    some code' for file, line, name in places]
    note = [f"rheostat: in operator {by}"] if by else []
    text = "\n".join(["Traceback (most recent call last):", *lines, cause, *note])
    return f"[PYTHON_EXCEPTION] An exception was thrown from the Python worker: {text}\n{ENDING}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            told((SPARKS, 7), (__file__, IN_HALVE)),
            f"operator halve on node n1: ValueError: no at {__file__}:{IN_HALVE}",
            id="a line of its function",
        ),
        pytest.param(
            told((__file__, 1), by="count"),
            f"operator count on node n1: ValueError: no at {__file__}:1",
            id="a line of its module, and it has signed",
        ),
        pytest.param(
            told((SPARKS, 7), ("/home/me/helpers.py", 3), by="halve"),
            "operator halve on node n1: ValueError: no at /home/me/helpers.py:3",
            id="a line of another module",
        ),
        pytest.param(
            told(("/home/me/helpers.py", 3), (pd.__file__, 9), ("pyarrow/array.pxi", 4), by="halve"),
            "operator halve on node n1: ValueError: no at /home/me/helpers.py:3",
            id="not the line of a library",
        ),
        pytest.param(
            told((SPARKS, 7), by="halve", cause="TypeError: halve() takes 1 argument"),
            f"operator halve on node n1: TypeError: halve() takes 1 argument at {__file__}:{IN_HALVE - 2}",
            id="no line at all: where it begins",
        ),
        pytest.param(
            told((SPARKS, 7), cause="pyspark.errors.exceptions.base.PySparkTypeError: [UDF_RETURN_TYPE] an int"),
            "operator count or halve on node n1: "
            "pyspark.errors.exceptions.base.PySparkTypeError: [UDF_RETURN_TYPE] an int",
            id="what PySpark says of an answer",
        ),
        pytest.param(
            told((SOURCE, 7), (__file__, 1)),
            f"operator count on node n1: ValueError: no at {__file__}:1",
            id="a generator: the source, which is the first",
        ),
        pytest.param(
            told((SPARKS, 7), ("/home/me/helpers.py", 3)).replace("[PYTHON_EXCEPTION] An", IN_A_CALLBACK),
            "operator halve on node n1: ValueError: no at /home/me/helpers.py:3",
            id="a batch of a sink, which is the last",
        ),
        pytest.param(
            told((SPARKS, 7), ("/home/me/helpers.py", 3)),
            "operator count or halve on node n1: ValueError: no at /home/me/helpers.py:3",
            id="a line of the user's that nobody has signed",
        ),
        pytest.param(
            told((SPARKS, 7), (own_code.__file__, 3, AWAITED), cause="EOFError").removesuffix(ENDING)
            + told((__file__, IN_HALVE), by="halve"),
            f"operator halve on node n1: ValueError: no at {__file__}:{IN_HALVE}",
            id="it made something else of an input that failed",
        ),
        pytest.param(
            f'[DIVIDE_BY_ZERO] Division by zero.\n== DataFrame ==\n"__div__" was called from\n{__file__}:{IN_HALVE}\n',
            f"operator halve on node n1: [DIVIDE_BY_ZERO] Division by zero. at {__file__}:{IN_HALVE}",
            id="an expression, by the line that made it",
        ),
        pytest.param(
            "[CAST_INVALID_INPUT] 'x' is no INT. SQLSTATE: 22018\n== SQL ==\ncast(k as int)",
            "operator count or halve on node n1: [CAST_INVALID_INPUT] 'x' is no INT. SQLSTATE: 22018",
            id="data that an expression does not bear",
        ),
    ],
)
def test_what_fails_by_the_users_code_is_told_with_operator_node_and_line(text, message):
    assert str(attributed(text, "n1", OPERATORS)) == message


def test_an_answer_that_pyspark_refuses_is_that_of_an_operator_with_functions_of_its_own():
    refused = told((SPARKS, 7), cause="pyspark.errors.exceptions.base.PySparkTypeError: an int")
    failure = attributed(refused, "n1", OPERATORS, {"halve"})
    assert failure is not None
    assert str(failure).startswith("operator halve on node n1: ")
    assert str(failure).endswith(f" at {__file__}:{IN_HALVE - 2}")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("java.io.IOException: disk full", id="Java"),
        pytest.param("[CANNOT_LOAD_STATE_STORE] gone. SQLSTATE: 58030", id="a state store"),
        pytest.param(told((SPARKS, 7), cause="EOFError"), id="a worker whose Spark has gone"),
        pytest.param(
            told((__file__, IN_HALVE), (own_code.__file__, 3, AWAITED), (SPARKS, 7), cause="EOFError"),
            id="the input of a function of the user's",
        ),
        pytest.param(told((SPARKS, 7), (OURS, 3)), id="the runtime itself"),
        pytest.param(told((SPARKS, 7), (OURS, 3), cause="pyspark.errors.PySparkTypeError: x"), id="its data source"),
    ],
)
def test_whatever_else_fails_is_nobodys_operator(text):
    assert attributed(text, "n1", OPERATORS) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (told((SPARKS, 7), cause="EOFError"), "EOFError"),
        (told((SPARKS, 7), cause="OSError: [Errno 28] full"), "OSError: [Errno 28] full"),
        ("\njava.io.IOException: disk full\n\tat x", "java.io.IOException: disk full"),
        ("", "it failed"),
    ],
)
def test_every_failure_is_told_in_one_line(text, line):
    assert error_line(text) == line


def test_where_input_is_awaited_is_known_by_its_name():
    assert callable(getattr(own_code, AWAITED))


def test_what_a_function_raises_is_signed_whether_it_is_called_or_drawn(tmp_path):
    def drawn(rows):
        for row in rows:
            yield 1 // row

    notes = TimingNotes(tmp_path)
    for function, argument in ((lambda x: 1 // x, 0), (drawn, iter([1, 0]))):
        with pytest.raises(ZeroDivisionError) as failure:
            list(timed(function, f"{notes.folder}/halve/0")(argument))
        text = "".join(traceback.format_exception(failure.value))
        assert str(attributed(text, "n1", OPERATORS)).startswith("operator halve on node n1: ZeroDivisionError")


def test_an_input_that_cannot_be_had_is_not_signed(tmp_path):
    def broken():
        yield 1
        raise EOFError

    notes = TimingNotes(tmp_path)
    with pytest.raises(EOFError) as failure:
        list(timed(lambda rows: (row for row in rows), f"{notes.folder}/halve/0")(broken()))
    assert not hasattr(failure.value, "__notes__")


def test_notes_know_whose_functions_were_handed_to_spark(tmp_path):
    notes = TimingNotes(tmp_path)
    with notes.of("halve"):
        own_code._CALLED.get().timed(halve)
    with notes.of("count"):
        pass
    assert notes.in_python == {"halve"}
