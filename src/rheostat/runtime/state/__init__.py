"""Changes the state of stopped streaming queries: from any old instances of an operator to any new ones, exactly.

Read in this order: `checkpoint` (what a directory says), `key_groups` and `ownership` (who owns which rows), then the
three ways to move state: `repartitioning` (other number of partitions in place), `copying` (all of it to another
directory) and `rewriting` (split and merge by key group). `support` says beforehand which way a kind of operator
allows.

`durable`, `construction`, `log_entries`, `operators` and `needed` are their small parts. Only `rewriting`,
`reading`, `repartitioning` and `sessions` know Spark; everything else is files.
"""
