"""Control of several applications on shared nodes: one infrastructure manager, and applications that take turns.

| kind | what they share |
|---|---|
| `elastic-storm` | one elasticity manager: at most one application is changed in an invocation [Elastic Storm IV.A] |
| `e2df` | region managers and one infrastructure manager, which asks every application before a node is released |
| the others | nothing but the clock |

Every application has its own probe: what others take of a shared node is for its infrastructure to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rheostat.control.loop.loop_schedule import Loop
from rheostat.control.managers.elasticity_manager import ElasticityManager
from rheostat.control.managers.infrastructure_manager import InfrastructureManager
from rheostat.control.managers.region_manager import RegionManager
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import Control, Planning, World, build, infrastructure_managers
from rheostat.errors import InvalidModel, Mistake


@dataclass(frozen=True)
class SharedNodes:
    """The managers of all applications, and all loops in the order in which they act at the same moment."""

    loops: tuple[Loop, ...]
    controls: tuple[Control, ...]
    """Control of each application, without the shared managers."""
    elasticity: ElasticityManager | None = None
    regions: tuple[RegionManager, ...] = ()
    infrastructure: InfrastructureManager | None = None


@dataclass(frozen=True, slots=True)
class OneOfSeveral:
    """A loop of one application among others: operators of two applications may have the same name."""

    loop: Loop
    application: str

    @property
    def name(self) -> str:
        """Its own, and of which application."""
        return f"{self.loop.name} ({self.application})"

    @property
    def period_seconds(self) -> float:
        """Its own."""
        return self.loop.period_seconds

    @property
    def offset_seconds(self) -> float:
        """Its own."""
        return self.loop.offset_seconds

    def step(self, now_seconds: float) -> None:
        """Its own."""
        self.loop.step(now_seconds)


def build_together(settings: ControlSettings, worlds: Sequence[World], planning: Planning | None = None) -> SharedNodes:
    """The control these settings describe over several applications; nodes are had from the first one's provider."""
    _check(worlds)
    # What is shared is built once, below: an application alone has no nodes to give back.
    controls = tuple(build(settings, replace(world, provider=None), planning) for world in worlds)
    managers = [control.application for control in controls if control.application is not None]
    regions, infrastructure = infrastructure_managers(settings, worlds[0], managers)
    central = ElasticityManager(managers, settings.manager_period()) if settings.kind == "elastic-storm" else None
    own: list[Loop] = []
    for world, control in zip(worlds, controls, strict=True):
        loops = [loop for loop in control.loops if central is None or not isinstance(loop, ElasticityManager)]
        own += [OneOfSeveral(loop, world.application.name) for loop in loops]
    first: list[Loop] = [*regions, *([infrastructure] if infrastructure else [])]
    last: list[Loop] = [central] if central else []
    return SharedNodes((*first, *own, *last), controls, central, tuple(regions), infrastructure)


def _check(worlds: Sequence[World]) -> None:
    names = [world.application.name for world in worlds]
    found = [
        Mistake(("applications", name), f"there are {names.count(name)} applications {name!r}", "give each its name")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if not names:
        found.append(Mistake(("applications",), "there is none", "give at least one"))
    if any(world.clock is not worlds[0].clock for world in worlds):
        found.append(Mistake(("applications",), "they do not have the same clock", "give all the same"))
    if found:
        raise InvalidModel("applications", found)
