"""Views of channels for probes and results, which take no part in reading.

It uses `port` and `records`.
"""
