"""The process Spark forks its Python workers from, with everything they need imported already.

Spark forks a fresh worker for every commit of every micro-batch; each would import Arrow and the channels again, which
is more work than the commit itself. Imported before the fork, they are shared.
"""

import pandas as pd  # noqa: F401 - for the workers
import pyarrow.ipc  # noqa: F401 - for the workers
from pyspark.daemon import manager

import rheostat.runtime.channels.batch_sink
import rheostat.runtime.channels.data_source  # noqa: F401 - for the workers

if __name__ == "__main__":
    manager()
