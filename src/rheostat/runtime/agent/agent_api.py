"""The HTTP interface of a node agent: carries out the messages of `node_messages` for a client with the token.

Everything else is refused. There is no way to send code: operators come by import path from the agent's own
installation. All files lie below the directory that the agent was started with.
"""

from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes import node_messages as messages
from rheostat.runtime.nodes.http_guard import guarded_app
from rheostat.runtime.nodes.node_messages import Answer, Call, ManagerAnswer, ManagerQuestion, Nothing, Question
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.instance_spec import InstanceSpec

LEAST_TOKEN = 16


def no_managers(_question: ManagerQuestion) -> ManagerAnswer:
    """The answer of an agent without managers."""
    return ManagerAnswer()


def agent_app(
    node: NodePort,
    token: str,
    root: Path,
    discover: Callable[[str], dict[str, Columns]],
    exchange: Callable[[ManagerQuestion], ManagerAnswer] = no_managers,
    *,
    is_warm: Callable[[], bool] = lambda: True,
) -> FastAPI:
    """The web application of one node."""
    app = guarded_app(token, LEAST_TOKEN)
    checkpoints, below = node.checkpoints, _PathsBelow(root)

    def serve(call: Call[Question, Answer], act: Callable[[Question], Answer], *, at_once: bool = False) -> None:
        """Carries out a message in a thread; or at once, if it may not wait for a free thread."""

        async def respond(request: Request) -> Response:
            question = call.question.validate_json(await request.body(), extra="forbid")
            answer = act(question) if at_once else await run_in_threadpool(act, question)
            return Response(call.answer.dump_json(answer), media_type="application/json")

        app.add_api_route(f"/{call.path}", respond, methods=["POST"])

    def order(call: Call[Question, Nothing], act: Callable[[Question], None]) -> None:
        """Carries out a message that has no answer but that it was carried out."""

        def done(question: Question) -> Nothing:
            act(question)
            return Nothing()

        serve(call, done)

    def heartbeat(_: Nothing) -> messages.Heartbeat:
        return messages.Heartbeat(node.name, is_warm())

    serve(messages.HEARTBEAT, heartbeat, at_once=True)
    serve(messages.STATUSES, lambda _: node.statuses())
    serve(messages.PROGRESS, lambda asked: node.progress(asked.instance, asked.after))
    serve(messages.USAGE, lambda _: node.usage())
    order(messages.START, lambda spec: node.start(below.checked_spec(spec)))
    order(messages.STOP, lambda stop: node.stop(stop.instance, gently=stop.gently))
    order(messages.HOLD, lambda hold: node.hold(_plain_name(hold.instance), hold.order))
    order(messages.QUIESCE, lambda _: node.quiesce())
    serve(messages.COLUMNS, lambda application: discover(application.text))
    serve(messages.MANAGERS, exchange)
    serve(messages.NAMES, lambda _: checkpoints.names())
    serve(messages.OFFSETS, checkpoints.offsets)
    serve(messages.STATE_KIND, checkpoints.state_kind)
    order(messages.TAKE, lambda spec: checkpoints.take(below.checked_spec(spec)))
    order(messages.PLACE_AHEAD, lambda job: checkpoints.place_ahead(below.checked_job(job)))
    order(messages.BUILD, lambda job: checkpoints.build(below.checked_job(job)))
    order(messages.REMOVE, checkpoints.remove)
    return app


def _plain_name(instance: str) -> str:
    """The name of an instance, which names a file."""
    if not instance or instance.startswith(".") or "/" in instance or "\0" in instance:
        raise ValueError(f"{instance!r} cannot be the name of an instance")
    return instance


class _PathsBelow:
    """Refuses paths outside the directory of the agent."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def checked_spec(self, spec: InstanceSpec) -> InstanceSpec:
        self._check(
            spec.checkpoint, spec.control, *(p.channel for p in spec.inputs), *(p.channel for p in spec.outputs)
        )
        return spec

    def checked_job(self, job: StateJob) -> StateJob:
        self._check(job.target, *(path for path, _ in job.parents), *([job.source] if job.source else []))
        return job

    def _check(self, *paths: str) -> None:
        for path in paths:
            if not Path(path).resolve().is_relative_to(self._root):
                raise ValueError(f"{path} is not below the directory of this agent")
