"""The same managers and policies in virtual time: queues, networks, pauses and nodes that cost no more than arithmetic.

| module | answers |
|---|---|
| `workload`, `traces`, `daily` | how many tuples have arrived by now? |
| `queueing`, `servers`, `lines` | how long does a replica take, how does a queue grow and empty, who waits in it? |
| `layout`, `flow` | what happens in the whole application while nothing is changed? |
| `measuring`, `sampling`, `noise` | what would somebody measure of it? |
| `nodes`, `failures` | which nodes are up? |
| `scenario`, `world` | all of it behind the ports that managers know |
| `curves`, `foresight` | what do policies know that plan ahead? |
| `running`, `comparing` | what came of a run, and of many? |
| `recording`, `summary`, `costing` | what is kept of it, in which numbers? |
| `report`, `charts` | what does it look like? |
| `environment` | the same as a Gymnasium environment |
"""
