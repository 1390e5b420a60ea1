"""The process of one node: its HTTP face, its managers, its warm-up.

It uses every other room of `runtime`.
"""
