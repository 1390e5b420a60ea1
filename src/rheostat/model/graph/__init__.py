"""Applications (operators and streams), their deployments, and the difference of two deployments.

It uses no other room of `model`.
"""
