"""The state of stopped queries, moved from any old instances of an operator to any new ones, exactly.

It uses `spark`, `channels` and `plan`.

Read in this order: `checkpoint` (what a directory says), `state_keys` (which rows belong to a key group), then the
three ways to move state: `repartition` (other number of partitions in place), `relocate` (all of it to another
directory) and `rewrite` (split and merge by key group). `capabilities` says beforehand which way a kind of operator
allows.

`durable_files`, `completion`, `log_entries`, `state_operators` and `live_files` are their small parts. Only `rewrite`,
`state_rows` and `repartition` know Spark; everything else is files.
"""
