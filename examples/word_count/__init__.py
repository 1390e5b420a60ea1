"""Word Count, the application of E2DF."""
