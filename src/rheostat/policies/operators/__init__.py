"""How many replicas an operator should have.

It uses `contract`.
"""
