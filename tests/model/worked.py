"""The two-node, two-replica example that the worked-out values of the formulas share.

Nodes u (speed-up 1, availability 0.99, 4 units) and v (speed-up 2, availability 0.9, 4 units); u -> v takes 10 ms,
v -> u takes 20 ms; every link costs 0.5 $/h per tps and is up with probability 0.95.
Source a emits 60 tps, serves 100 tps, needs 1.5 units at 2 $/h each; half of its tuples go on to b, which serves
40 tps and needs 1 unit at 1 $/h. a runs on {u:1, v:1}, b on {u:2}.
"""

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import MM1
from rheostat.model.network.links import LinkQuality
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.quality.placed import Placed

APPLICATION = Application(
    "worked",
    (
        Operator("a", Kind.SOURCE, max_replicas=2, resources=1.5, cost_per_hour=2, latency=MM1(100), rate_tps=60),
        Operator("b", max_replicas=2, latency=MM1(40)),
    ),
    (Stream("a", "b", selectivity=0.5),),
)
INFRASTRUCTURE = Infrastructure(
    "pair",
    (
        Node("u", resources=4, availability=0.99),
        Node("v", resources=4, speedup=2, availability=0.9),
    ),
    delays_ms=DelayMatrix(((0, 10), (20, 0))),
    default_link=LinkQuality(price=0.5, availability=0.95, bandwidth_tps=12),
)
DEPLOYMENT = Deployment.of({"a": {"u": 1, "v": 1}, "b": {"u": 2}})
PLACED = Placed(APPLICATION, INFRASTRUCTURE, DEPLOYMENT)
