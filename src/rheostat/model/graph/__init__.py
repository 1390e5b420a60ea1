"""Applications: operators and streams, deployments of them, and what changes between two.

It uses no other room of `model`.
"""
