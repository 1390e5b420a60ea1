"""Arguments and documents turned into checked values for planners, simulator and runtime.

It uses `views` for progress and complaints, and `output`.
"""
