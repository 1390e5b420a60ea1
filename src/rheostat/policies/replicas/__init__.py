"""Where a new replica goes, and which one goes first.

It uses `contract`.
"""
