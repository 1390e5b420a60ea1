"""The same managers and policies in virtual time: queues, networks, pauses and nodes that cost no more than arithmetic.

| module | answers |
|---|---|
| `workload`, `traces`, `daily` | how many tuples have arrived by now? |
| `queueing`, `servers` | how long does a replica take, and how does a queue grow and empty? |
| `layout`, `flow` | what happens in the whole application while nothing is changed? |
| `measuring`, `recording` | what would somebody measure of it, and what is kept? |
| `nodes`, `failures` | which nodes are up? |
| `world` | all of it behind the ports that managers know |
| `summary`, `report`, `charts` | what came of it? |
| `environment` | the same as a Gymnasium environment |
"""
