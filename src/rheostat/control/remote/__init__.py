"""Managers that work on the nodes, and the messages between them and the controller.

It uses every room of `control` but `history`.
"""
