"""A run as numbers, charts and one HTML page, wherever it took place.

It uses `model` alone; `simulation` and `controller` record for it.
"""
