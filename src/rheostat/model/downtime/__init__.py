"""Downtime of a reconfiguration, by formula and by measurement.

It uses `graph` and `network`.
"""
