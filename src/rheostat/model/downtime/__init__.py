"""How long an application stands still while it changes, by formula and by measurement.

It uses `graph` and `network`.
"""
