"""The only place where the parts meet: a runtime on Spark, the managers that steer it, and what is kept of the run."""

from rheostat.assembly.controller import Controller

__all__ = ["Controller"]
