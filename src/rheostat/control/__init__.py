"""Managers (loops that hold a policy), the functions of monitor, analyze and execute, and the protocols' tables."""
