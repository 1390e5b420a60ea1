"""Text files, YAML with line numbers, and wording of mistakes, for every kind of document.

It uses no other room of `documents`.
"""
