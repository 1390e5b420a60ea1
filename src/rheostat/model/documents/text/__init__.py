"""Text, YAML lines, and words for mistakes, whatever the document is about.

It uses no other room of `documents`.
"""
