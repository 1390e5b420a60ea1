"""A generator for tests: it must be importable by Spark's workers."""

from rheostat.runtime.ends.seeded_random import Draw


def number(draw: Draw) -> tuple[int, str, float]:
    return draw.index, f"row {draw.below(100)}", draw.uniform()
