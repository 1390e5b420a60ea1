"""Schema of run documents, and its conversion to `RunSettings`. Keys are the options of `rheostat run`, _ for -."""

from typing import Annotated, Any, Literal

from pydantic import Field

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.documents.text.shape import Amount, Count, Names, Positive, Shape, Size
from rheostat.model.documents.text.written import Path
from rheostat.model.run_settings import NodeForm, RunSettings


class RunShape(Shape):
    """One run of an application. Paths are relative to the document."""

    kind: Literal["run"]
    application: str = Field(examples=["app.py"])
    """A Python file or module with an App called app, package.module:attribute, or a document."""
    infrastructure: str | None = None
    """A document with the nodes; without it the run has local nodes."""
    local_nodes: Count | None = None
    """Number of nodes on this machine, instead of an infrastructure; default: one."""
    deployment: str | None = None
    """A document with the first deployment; default: one replica of each operator."""
    planner: str | None = None
    """The planner of the first deployment and of the controls s-edrp and s-odp, such as exact."""
    objective: str | None = None
    """A document with the planner's objective; default: the response time alone."""
    directory: str | None = None
    """Folder of the run's files; default: .rheostat/NAME below the current directory."""
    nodes: Annotated[NodeForm | None, Field(strict=False)] = None
    """embedded (all nodes in one process) or process (a process for each); default: embedded."""
    master: Names = Field(default_factory=list)
    """Spark master: local, local[n] or spark://...; NODE=MASTER for a single node; default: local."""
    spark: dict[str, Any] = Field(default_factory=dict)
    """Settings of the nodes' Spark."""
    trigger_ms: Size | None = None
    """Least time between two batches, in milliseconds; default: 200."""
    key_groups: Count | None = None
    """Number of key groups, in which state moves; fixed for the life of the run; default: 12."""
    seconds: Amount | None = Field(None, alias="for")
    """Stop after this many seconds."""
    until_drained: bool | None = None
    """Stop when no rows have arrived for 5 s and all rows have been read."""
    control: str | None = None
    """Control system of the run: edf, e2df, s-edrp, s-odp, elastic-storm or none; default: none."""
    policy: str | None = None
    """Scaling policy of the operators, such as threshold."""
    policy_settings: dict[str, Any] = Field(default_factory=dict, alias="set")
    """Settings of the policy."""
    global_policy: str | None = Field(None, alias="global")
    """Granting policy: all or token-bucket."""
    global_settings: dict[str, Any] = Field(default_factory=dict, alias="global_set")
    """Settings of the global policy."""
    objective_ms: Positive | None = None
    """R_max: the response time to keep, in milliseconds."""
    bounds_ms: dict[str, Positive] = Field(default_factory=dict, alias="bound")
    """R_max,op of single operators, in milliseconds."""
    period: Positive | None = None
    """Seconds between two decisions."""
    settle: Amount | None = None
    """Seconds without decisions after a change; default: a period."""
    profile: str | None = None
    """A file written by rheostat calibrate; default: the values measured in the directory."""
    learned: str | None = None
    """A file written by rheostat simulate --save-learned, with which policies start."""
    control_settings: dict[str, Any] = Field(default_factory=dict, alias="control_set")
    """Settings of the managers, such as free_capacity."""
    dry_run: bool | None = None
    """Whether decisions are only reported and nothing is changed."""

    def value(self) -> RunSettings:
        """The settings; InvalidModel if they contradict themselves."""
        written = {name: getattr(self, name) for name in type(self).model_fields if name != "kind"}
        spark = {name: _text(value) for name, value in self.spark.items()}
        return RunSettings(**{**written, "master": tuple(self.master), "spark": spark})


def _text(value: Any) -> str:
    """A setting as Spark takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def run_mistakes(shape: RunShape, _reported: dict[Path, Mistake]) -> list[Mistake]:
    """Contradictions, and settings of Spark that are not a single value."""
    found = [
        Mistake(("spark", name), f"{name} must be one value", "write a text, a number, true or false")
        for name, value in shape.spark.items()
        if value is None or isinstance(value, list | dict)
    ]
    try:
        shape.value()
    except InvalidModel as error:
        found += error.mistakes
    return found
