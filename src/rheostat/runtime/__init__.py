"""Operators as Structured Streaming queries on Apache Spark, changed while data flows.

Its rooms, from low to high: `spark`, `ends`, `channels`, `plan`, `query`, `checkpoints`, `nodes`, `metrics`,
`reconfigure`, `agent`; it may use `control`, `app`, `model`, `machine` and `logs`.
"""
