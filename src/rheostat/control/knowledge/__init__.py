"""Knowledge of managers: averages, snapshots of deployments, profiles, measured networks.

It uses `loop`.
"""
