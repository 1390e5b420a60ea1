"""A running application under control: the runtime, what is measured of it, and one change at a time.

The controller is asked by the API's threads and tended by one loop; what it tells is a plain document, the same for the
terminal, for `rheostat status` and for programs.
"""

import time
from collections import deque
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any

from rheostat.control.knowledge.profile import Profile
from rheostat.control.loop.effects import effect_document
from rheostat.control.loop.ports import Clock, Done, Effect, Entry, EntryLog, Refused, RolledBack
from rheostat.control.managers.decisions import BY_HAND, effect_facts
from rheostat.control.remote.sample_queue import SampleQueue
from rheostat.control.setup.control_record import ControlRecord
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import Control, Planning, World, build, has_local_managers
from rheostat.controller.bring_up import Opened
from rheostat.controller.decision_loop import DecisionLoop
from rheostat.controller.recorder import RecordingFile
from rheostat.controller.remote_managers import RemoteManagers
from rheostat.controller.run_status import RunStatus, StatusView
from rheostat.errors import JournalFenced, JournalUnreadable, RheostatError, RuntimeFault
from rheostat.logs import room_logger
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.capacity_use import used_capacity
from rheostat.runtime.plan.instance_spec import InstanceStatus

LOG = room_logger("controller")

QUIET_SECONDS = 5.0
"""A source that has brought nothing for this long is taken to have ended."""
CHANGES_SHOWN = 8


class Controller:
    """Heals, measures and changes one running application."""

    def __init__(self, opened: Opened, recording: RecordingFile | None = None, profile: Profile | None = None) -> None:
        self._opened, self.runtime = opened, opened.runtime
        self.feed = SampleQueue(opened.runtime.deployment, opened.runtime.infrastructure)
        self._recording = recording
        self.profile = profile or Profile.load(self._profile_path)
        self._steering: DecisionLoop | None = None
        self._remote: RemoteManagers | None = None
        self._stopping = Event()
        self._began = time.monotonic()
        self._changes: deque[dict[str, Any]] = deque(maxlen=CHANGES_SHOWN)
        self._look = RunStatus(opened.runtime.blueprint.application)
        self._seen = StatusView()
        self._batches: tuple[tuple[str, int], ...] = ()
        self._since = time.monotonic()

    @property
    def application(self) -> Application:
        """The application that runs."""
        return self.runtime.blueprint.application

    @property
    def infrastructure(self) -> Infrastructure:
        """The infrastructure it runs on."""
        return self.runtime.blueprint.infrastructure

    @property
    def is_stopping(self) -> bool:
        """Whether the controller was asked to end."""
        return self._stopping.is_set()

    def steer(self, settings: ControlSettings, clock: Clock, planning: Planning | None = None) -> None:
        """Puts managers on the running application; from now on they decide.

        Local managers work on the nodes if these are processes of their own, else here.
        """
        record = ControlRecord(settings, self.application, self.infrastructure, planning)
        self.runtime.journal.append(record.entry(clock.now_seconds()))

        def built(journal: EntryLog) -> Control:
            provider, profile = self._opened.provider, self.profile
            world = World(self.application, self.feed, self, clock, journal, provider, profile, fuses=True)
            if not (self._opened.agents_can_manage and has_local_managers(settings)):
                return build(settings, world, planning)
            posts = self._remote = RemoteManagers(self.runtime, self, settings, journal, clock)
            control = build(settings, replace(world, actuator=posts, requests=posts), planning)
            posts.state = control.state
            return replace(control, loops=(posts, *control.loops))

        self._steering = DecisionLoop(built, clock, self.runtime.journal, self.runtime.deployment(), self._node_names)
        if self._steering.is_paused and self._remote is not None:
            self._remote.pause()
        self._steering.start()

    def _node_names(self) -> AbstractSet[str]:
        """The nodes that there are now, up or lost."""
        return self.infrastructure.index.keys()

    @property
    def steering(self) -> DecisionLoop:
        """The managers; a fault if there are none."""
        if self._steering is None:
            raise RuntimeFault("the application runs without control: start it with rheostat run --control")
        return self._steering

    def pause_control(self) -> None:
        """The managers decide nothing until they are told to."""
        self.steering.pause()
        if self._remote is not None:
            self._remote.pause()

    def resume_control(self) -> None:
        """The managers decide again."""
        self.steering.resume()

    def stop(self) -> None:
        """Lets the loop end; a change that is under way is carried out first."""
        self._stopping.set()

    def wait(self, seconds: float) -> None:
        """Waits so long, or until it is asked to end."""
        self._stopping.wait(seconds)

    def finish(self) -> None:
        """Waits for the managers and for a change that is under way, and saves what was learned."""
        if self._steering is not None:
            self._steering.stop()
        with self.runtime.lock.for_care():
            self.profile.save(self._profile_path)

    @property
    def _profile_path(self) -> Path:
        return self.runtime.blueprint.layout.root / "profile.json"

    def apply(self, change: Reconfiguration) -> Effect:
        """Carries out a change; waits for healing, but is refused while another change is under way."""
        if not change:
            return Done(0.0)
        if self.is_stopping:
            return Refused(("the application is being stopped",))
        try:
            effect = self.runtime.apply(change)
        except JournalUnreadable:
            # Whether the change holds is not known yet.
            raise
        except RheostatError as failure:
            effect = RolledBack(str(failure))
        LOG.info("change %s: %s", change, effect)
        if not isinstance(effect, Refused):
            self._changes.append({"at": _clock(), "what": str(change), **effect_document(effect)})
        if isinstance(effect, Done):
            self.profile.changed(change, effect.downtime_seconds, self.application)
        if self._recording is not None:
            self._recording.note(str(change), effect)
        return effect

    def change(self, wanted: Deployment, before: Deployment | None = None) -> Effect:
        """Changes the deployment as a person wants it, unless another change is under way; journals that as well."""
        change = self.runtime.change_to(wanted, before)
        if isinstance(change, Refused):
            return change
        effect = self.apply(change)
        if change and not isinstance(effect, Refused):
            self.runtime.journal.append(Entry(BY_HAND, time.time(), effect_facts("user", change, effect, {})))
        return effect

    def tend(self) -> None:
        """One round: restarts failed instances, and measures. Ends if another controller has taken the run over."""
        journal = self.runtime.journal
        if (newest := journal.newest_term()) != journal.term:
            lost = str(JournalFenced(journal.term, newest))
            LOG.error("%s", lost)
            self._seen = replace(self._seen, failures=[lost])
            self.stop()
            return
        statuses = self._heal()
        samples = self.runtime.samples()
        self.feed.add(samples)
        self._look.take(samples, time.time())
        if statuses is not None:
            self._notice_batches(statuses)
            runtime = self.runtime
            self._seen = self._look.look(runtime.plan, statuses, runtime.stand_ins(), runtime.symptoms())
        if samples:
            chains = [instance.operators for instance in self.runtime.plan.instances if len(instance.operators) > 1]
            self.profile.add(samples, self.runtime.deployment(), {name for chain in chains for name in chain})
        if samples and self._recording is not None:
            self._recording.add(samples, self.runtime.deployment(), self.runtime.infrastructure())

    def _heal(self) -> Mapping[str, InstanceStatus] | None:
        """Revives nodes and restarts failed instances, unless a change is under way; gives the statuses found before.

        None while a node is out of reach.
        """
        try:
            with self.runtime.lock.for_care_now() as may_heal:
                if not may_heal:
                    return self.runtime.statuses()
                self._opened.revive()
                return self.runtime.heal()
        except RheostatError as failure:
            self._seen = replace(self._seen, failures=[str(failure)])
            return None

    def is_finished(self) -> bool:
        """Whether the sources have been quiet for a while and all they brought has been read, as far as it can be."""
        if self.runtime.is_changing or time.monotonic() - self._since < QUIET_SECONDS:
            return False
        states = self._seen.instances
        settled = all(one["state"] != "running" or one["planned"] == one["committed"] for one in states)
        return bool(states) and settled and (bool(self._seen.failures) or self.runtime.is_drained())

    def _notice_batches(self, statuses: Mapping[str, InstanceStatus]) -> None:
        """Remembers since when the sources could have brought something, and did not.

        One that was just started, or stood still for a change, may have more rows than its status tells.
        """
        sources = [statuses.get(one.name) for one in self.runtime.plan.instances if not one.groups]
        batches = tuple((one.run, one.committed) for one in sources if one is not None)
        coming = any(one is None or one.committed < 0 or _is_starting(one) for one in sources)
        if batches != self._batches or coming or self.runtime.is_changing:
            self._batches, self._since = batches, time.monotonic()

    def status(self) -> dict[str, Any]:
        """Everything that is shown."""
        deployment = self.runtime.deployment()
        used = used_capacity(self.application, deployment)
        seen, up = self._seen, {node.name for node in self.runtime.nodes_up()}
        return {
            "application": self.application.name,
            "directory": str(self.runtime.blueprint.layout.root),
            "state": "stopping" if self.is_stopping else "changing" if self.runtime.is_changing else "running",
            "seconds": round(time.monotonic() - self._began, 1),
            "deployment": {name: dict(replicas.counts) for name, replicas in deployment.items()},
            "nodes": [
                {
                    "name": node.name,
                    "capacity": node.capacity,
                    "used": used.get(node.name, 0.0),
                    "lost": node.name not in up,
                }
                for node in self.infrastructure.nodes
            ],
            "sources_tps": seen.sources,
            "sinks_tps": seen.sinks,
            "response_ms": seen.response_ms,
            "streams": seen.streams,
            "operators": seen.operators,
            "instances": seen.instances,
            "changes": list(self._changes),
            "symptoms": seen.symptoms,
            "failures": seen.failures,
            "control": self._control_status(),
        }

    def _control_status(self) -> dict[str, Any] | None:
        """State of the managers; None if there are none."""
        if self._steering is None:
            return None
        return {"paused": self._steering.is_paused, "stories": self._steering.stories()}


def _is_starting(source: InstanceStatus) -> bool:
    return source.state == "running" and not source.has_looked


def _clock() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
