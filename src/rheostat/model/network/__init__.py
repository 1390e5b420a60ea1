"""Infrastructures: nodes, links, stores, coordinates.

It uses `graph`.
"""
