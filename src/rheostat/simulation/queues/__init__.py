"""Queueing model: servers, waiting lines, flow between changes, noise.

It uses no other room of `simulation`.
"""
