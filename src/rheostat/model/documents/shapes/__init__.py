"""Schemas of each kind of document, and their conversion to model values.

It uses `text`.
"""
