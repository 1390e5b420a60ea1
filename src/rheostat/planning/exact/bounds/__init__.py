"""Lower bounds of the objective, and the multisets that they leave.

It uses no other room of `exact`.
"""
