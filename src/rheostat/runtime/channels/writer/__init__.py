"""Rows of tasks stored, and batches published.

It uses `records`, `log` and `reader`.
"""
