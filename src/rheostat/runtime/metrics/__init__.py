"""Measurements of instances, nodes and channels.

It uses `spark`, `channels`, `plan`, `query` and `nodes`.
"""
