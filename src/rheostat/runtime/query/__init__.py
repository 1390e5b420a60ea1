"""Streaming queries from instance specifications: user code, row counts, timing, failure attribution.

It uses `spark`, `channels` and `plan`.
"""
