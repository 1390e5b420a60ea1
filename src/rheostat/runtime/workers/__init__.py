"""Python processes for Spark, forked from one that has everything imported.

Spark starts a new interpreter for every streaming source, for every kind of planning work and for every daemon its
tasks are forked from. Each imports PySpark, pandas and Arrow: about a second of a core, times three or four per query,
and Spark gives a source ten seconds to appear, whatever the machine is doing. Here such a start is a fork: it takes
milliseconds, and the pages of the libraries are shared.
"""
