"""The parts of `benchmarks.pipeline`."""
