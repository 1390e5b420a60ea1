"""The papers' control systems on running applications: the same managers as in the simulation, on Spark."""
