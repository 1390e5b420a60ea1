"""Sources that bring the same rows again after a crash: a row is a function of its place in the stream alone.

| function | brings |
|---|---|
| `rate.rate` | rows of a generator, as many per second as a curve says |
| `replay.replay` | the rows of a recording (CSV, JSON lines, Parquet) at the speed of their event time, or a multiple |

Any Spark streaming source works as well: a source of an application is a function `f(spark, **parameters)` that
returns a streaming DataFrame. Only `rate` and `replay` know Spark; the rest is pure and time is given.
"""
