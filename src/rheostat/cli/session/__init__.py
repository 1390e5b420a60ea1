"""The process of `rheostat run`, and the way other commands reach it.

It uses `inputs`, `views` and `output`.
"""
