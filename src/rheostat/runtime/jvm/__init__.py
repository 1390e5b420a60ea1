"""What is mended inside Spark's own process."""
