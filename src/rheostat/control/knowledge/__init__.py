"""What managers know: averages, snapshots of deployments, profiles, measured networks.

It uses `loop`.
"""
