"""Implementations of the Channel port on one machine: a log of slots on disk and one in memory.

It uses `port` and `records`.
"""
