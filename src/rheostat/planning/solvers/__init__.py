"""Solvers without structure: the papers' integer programs, exhaustive and local search.

It uses `contract` and `encoded`.
"""
