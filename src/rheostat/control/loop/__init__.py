"""Ports, clocks, the schedule of loops, and the protocol of a change as a table.

It uses no other room of `control`.
"""
