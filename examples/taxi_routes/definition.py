"""Definitions of cells, routes, minutes and ranks, as in query 1 of the DEBS 2015 Grand Challenge.

Minute number t ends t minutes after 1970-01-01 00:00 UTC and is (t - 1 min, t]. The ranking of minute t is about all
trips that ended in (t - 30 min, t]: minutes t - 29 to t. There is one for every minute from the first drop-off on up to
the last minute that is over (a later report has been seen); without any trip in its window it is empty.
"""

WINDOW_MINUTES = 30
RANKS = 10
"""The most frequent routes; of equally frequent ones those with the lesser route id."""

CELLS = 300
"""The area has 300 x 300 cells of 500 m x 500 m, cell 1.1 in the north-west: x grows to the east, y to the south."""
NORTH, WEST = 41.474937, -74.913585
"""Centre of cell 1.1, degrees."""
CELL_HEIGHT, CELL_WIDTH = 0.004491556, 0.005986
"""500 m to the south and to the east, degrees."""
TOP, LEFT = NORTH + CELL_HEIGHT / 2, WEST - CELL_WIDTH / 2
"""The corner of the area."""

FIELDS = (
    "medallion",
    "hack_license",
    "pickup_datetime",
    "dropoff_datetime",
    "trip_time_in_secs",
    "trip_distance",
    "pickup_longitude",
    "pickup_latitude",
    "dropoff_longitude",
    "dropoff_latitude",
    "payment_type",
    "fare_amount",
    "surcharge",
    "mta_tax",
    "tip_amount",
    "tolls_amount",
    "total_amount",
)
"""Values of a line, separated by commas, in the order of the challenge's files."""
EVENT_TIME_FIELD = FIELDS.index("dropoff_datetime")
EVENT_TIME_STEP_MS = 1_000
"""Drop-offs are known to the second."""
