"""Frequent Pattern Detection, the application of Elastic Storm."""
