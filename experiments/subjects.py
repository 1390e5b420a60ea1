"""Applications for walks through deployments: every kind of stateful operator, and the four reference applications."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from examples.frequent_patterns import answer as patterns_answer
from examples.frequent_patterns import app as patterns_app
from examples.tag_and_count import answer as tag_answer
from examples.tag_and_count import app as tag_app
from examples.taxi_routes import answer as taxi_answer
from examples.taxi_routes import app as taxi_app
from examples.word_count import answer as words_answer
from examples.word_count import app as words_app

from experiments import kinds
from rheostat.model.graph.application import Application
from rheostat.runtime.ends.generation import generation_of

Rows = Sequence[dict[str, Any]]
Output = Counter[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Subject:
    """A finite application and what its output must be."""

    name: str
    application: Application
    sink: str
    total: int
    """Rows each source brings."""
    sources: int
    wanted: Output
    output: Callable[[Rows], Output]
    """What the sink received, in the form of the answer."""

    def differences(self, rows: Rows) -> tuple[int, int]:
        """Rows that are missing, and rows that are too many."""
        output = self.output(rows)
        return (self.wanted - output).total(), (output - self.wanted).total()


def subject(name: str, seed: int, rate_tps: float, seconds: float) -> Subject:
    """A subject whose sources bring rows for about so many seconds."""
    total = int(rate_tps * seconds)
    if name in kinds.KINDS:
        kind = kinds.KINDS[name]
        application = kinds.application(kind, rate_tps=rate_tps, total=total, seed=seed)
        wanted = kind.answer(*kinds.inputs(kind, rate_tps=rate_tps, total=total, seed=seed))
        return Subject(name, application, "out", total, kind.sources, wanted, lambda rows: kinds.observed(kind, rows))
    return _APPLICATIONS[name](name, seed, rate_tps, total)


def _generated(application: Application, **described: str) -> list[tuple[int, tuple[Any, ...]]]:
    """The rows of the only source, computed without Spark."""
    source = next(operator for operator in application.operators if operator.kind == "source")
    options = {key: str(value) for key, value in source.parameters}
    generation = generation_of({**described, **options})
    return [(time or 0, values) for time, values in generation.rows(0, int(generation.end))]


def _word_count(name: str, seed: int, rate_tps: float, total: int) -> Subject:
    application = words_app.application(str(rate_tps), total=total, seed=seed).build()
    rows = _generated(application, rows="examples.word_count.sentences:sentence")
    wanted = Counter(words_answer.answer(values[0] for _, values in rows).items())
    last = lambda found: Counter({row["word"]: row["count"] for row in found}.items())  # noqa: E731 - the last row counts
    return Subject(name, application, "consumer", total, 1, wanted, last)


def _tag_and_count(name: str, seed: int, rate_tps: float, total: int) -> Subject:
    application = tag_app.application(str(rate_tps), total=total, seed=seed).build()
    rows = _generated(application, rows="examples.tag_and_count.sentences:sentence")
    texts = (next(value for value in values if isinstance(value, str)) for _, values in rows)
    wanted = Counter((*key, text) for key, text in tag_answer.answer(texts).items())

    def last(found: Rows) -> Output:
        lines = {(row["tag"], row["word"]): row["text"] for row in found}
        return Counter((*key, text) for key, text in lines.items())

    return Subject(name, application, "consumer", total, 1, wanted, last)


def _frequent_patterns(name: str, seed: int, rate_tps: float, total: int) -> Subject:
    gap = {"closing_gap_seconds": 3600}
    application = patterns_app.application(str(rate_tps), total=total, seed=seed, **gap).build()
    rows = _generated(application, rows="examples.frequent_patterns.tweets:tweet", event_time="ts")
    wanted = patterns_answer.answer((time, values[0]) for time, values in rows)
    return Subject(
        name,
        application,
        "Reporter",
        total,
        1,
        Counter(wanted),
        lambda found: Counter((int(r["window_end"].timestamp()), r["pattern"], r["tweets"]) for r in found),
    )


def _taxi_routes(name: str, seed: int, rate_tps: float, total: int) -> Subject:
    application = taxi_app.application(str(rate_tps), groups=8, total=total, seed=seed)
    described = {"event_time": "ts", "speed_up": str(taxi_app.SPEED_UP), "step_ms": str(taxi_app.EVENT_TIME_STEP_MS)}
    rows = _generated(application, rows="examples.taxi_routes.trips:trip", **described)
    wanted = Counter(taxi_answer.answer((time, values[0]) for time, values in rows).items())

    def ranked(found: Rows) -> Output:
        return Counter(
            (int(row["minute"].timestamp()) // 60, tuple((e["route"], e["trips"]) for e in row["ranking"]))
            for row in found
        )

    return Subject(name, application, "rankings", total, 1, wanted, ranked)


_APPLICATIONS: dict[str, Callable[[str, int, float, int], Subject]] = {
    "word-count": _word_count,
    "tag-and-count": _tag_and_count,
    "frequent-patterns": _frequent_patterns,
    "taxi-routes": _taxi_routes,
}

NAMES = (*kinds.KINDS, *_APPLICATIONS)
