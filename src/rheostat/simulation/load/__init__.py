"""How many tuples arrive: curves, traces, days of a city.

It uses `queues`.
"""
