"""Graphs and maps drawn as SVG.

It uses `views` for colours and numbers, and `output`.
"""
