"""A policy that an evolution strategy finds in simulated runs."""
