"""Settings of a control, and the factory that puts its managers together.

It uses `loop`, `knowledge` and `managers`.
"""
