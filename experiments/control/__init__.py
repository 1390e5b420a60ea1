"""The experiments of EDF, E2DF and Elastic Storm in the simulated world, and all policies on the same workloads."""
