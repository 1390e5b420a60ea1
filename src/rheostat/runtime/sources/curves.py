"""Rate curves as sources use them. They are values of the model: the simulation draws its workload from them too."""

from rheostat.model.curves import Curve, parse_curve

__all__ = ["Curve", "parse_curve"]
