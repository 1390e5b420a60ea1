"""Spark sessions, settings, threads and Python processes, and what is asked of Spark's private parts.

It uses no other room of `runtime`.
"""
