"""The runtime: operators as Structured Streaming queries on Apache Spark."""
