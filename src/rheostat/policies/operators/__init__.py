"""Scaling policies: the number of replicas of an operator.

It uses `contract`.
"""
