"""Lower bounds of the objective, and the multisets that remain after applying them.

It uses no other room of `exact`.
"""
