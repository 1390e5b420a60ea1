"""The process of one node: its HTTP interface, its managers, its warm-up.

It uses every other room of `runtime`.
"""
