"""Networks from GraphML and CSV files.

It uses `text`.
"""
