"""Planning problem, outcome, and the protocol of a planner.

It uses no other room of `planning`.
"""
