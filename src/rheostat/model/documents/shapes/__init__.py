"""What may stand in each kind of document, and what it means.

It uses `text`.
"""
