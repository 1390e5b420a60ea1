"""The simulated world behind the ports that managers know.

It uses `queues` and `load`.
"""
