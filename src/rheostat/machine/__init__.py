"""Helpers for one machine: waiting with a deadline, durable writing of files.

It uses no other room, so every room may use it.
"""
