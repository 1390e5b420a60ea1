"""Planning problem as arrays, with its candidates, tables, normalisers, symmetries and conflicts.

It uses `contract`.
"""
