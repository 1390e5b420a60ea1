"""Simulated world behind the ports that managers use.

It uses `queues` and `load`.
"""
