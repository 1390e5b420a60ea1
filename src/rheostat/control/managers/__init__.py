"""The managers of operators, nodes, applications, regions and infrastructures, and what they decide with.

It uses `loop` and `knowledge`.
"""
