"""Quality of a deployment: the papers' metrics and objectives.

It uses `graph`, `network` and `downtime`.
"""
