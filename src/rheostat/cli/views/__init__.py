"""Answers as text for a terminal and as plain values for JSON.

It uses `output` alone.
"""
