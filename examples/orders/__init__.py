"""The application of the guide, `docs/operators.md`."""
