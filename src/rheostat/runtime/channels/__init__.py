"""Durable, replayable channels between streaming queries: an append-only log of Arrow segments in a shared directory.

Its rooms, from low to high: `records`, `log`, `reader`, `writer`, `streaming`, `observe`; it may use `spark`.

Only `data_source` and `routing` know Spark. Everything else is plain files, so that it can be tested by law.

```
<channel>/channel.json                       what the channel is (fixed for life)
<channel>/producers/<producer>/<epoch>/      opened.json, 0.json, 1.json, ... (manifests: dense, linked exclusively)
<channel>/producers/<producer>/<epoch>/segments/*.arrow
<channel>/consumers/<subscription>/*.json    what each instance has done with
```
"""
