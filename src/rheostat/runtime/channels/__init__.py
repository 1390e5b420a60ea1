"""Durable, replayable channels between streaming queries: an append-only log of Arrow segments by key group.

Its rooms, from low to high: `records`, `port`, `log`, `channel_store`, `hold_file`, `reader`, `writer`, `streaming`,
`observe`; it may use `spark`. Outside, only `port`, `records`, `channel_store`, `hold_file`, `observe` and the entry
points for Spark queries are used: a channel's files are opened in `log` alone.

Only `streaming` knows Spark. Everything else can be tested by law, on disk and in memory.
"""
