"""Policies of nodes and regions: size of a region, grants between regions, moves away from busy nodes.

It uses `contract`, `replicas` and `grants`.
"""
