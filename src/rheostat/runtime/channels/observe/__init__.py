"""Backlogs and results, read without taking part.

It uses `records` and `log`.
"""
