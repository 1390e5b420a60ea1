"""Helpers for one machine: waiting with a deadline, durable and private files, processes.

It uses no other room, so every room may use it.
"""
