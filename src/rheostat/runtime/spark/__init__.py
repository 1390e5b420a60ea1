"""Spark sessions, settings, threads and Python processes, and access to Spark's private parts.

It uses no other room of `runtime`.
"""
