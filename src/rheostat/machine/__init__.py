"""Helpers for one machine: waiting with a deadline.

It uses no other room, so every room may use it.
"""
