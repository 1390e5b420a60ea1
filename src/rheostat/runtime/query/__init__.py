"""Streaming queries from descriptions of instances: user code, row counts, timing, attribution of failures.

It uses `spark`, `channels` and `plan`.
"""
