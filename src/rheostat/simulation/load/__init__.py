"""Workloads: rate curves, recorded traces, days of a city.

It uses `queues`.
"""
