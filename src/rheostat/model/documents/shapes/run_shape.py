"""How a run is written, and what it means. Every key is an option of `rheostat run`, with _ for -."""

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
    """How many nodes of this machine, instead of an infrastructure; else one."""
    deployment: str | None = None
    """A document: where each operator runs at first; else one replica of each."""
    planner: str | None = None
    """The planner of the first deployment and of the controls s-edrp and s-odp, such as exact."""
    objective: str | None = None
    """A document: what the planner optimises; else the response time alone."""
    directory: str | None = None
    """Where the files of the run lie; else .rheostat/NAME below the current directory."""
    nodes: Annotated[NodeForm | None, Field(strict=False)] = None
    """embedded (all nodes in one process) or process (a process for each); else embedded."""
    master: Names = Field(default_factory=list)
    """Where Spark runs: local, local[n] or spark://...; NODE=MASTER for a single node; else local."""
    spark: dict[str, Any] = Field(default_factory=dict)
    """Settings of the nodes' Spark."""
    trigger_ms: Size | None = None
    """Least time between two batches, in milliseconds; else 200."""
    key_groups: Count | None = None
    """Parts that state moves in, fixed for the life of the run; else 12."""
    seconds: Amount | None = Field(None, alias="for")
    """Stop after so many seconds."""
    until_drained: bool | None = None
    """Stop when nothing has come in for 5 s and everything has been read."""
    control: str | None = None
    """What decides while it runs: edf, e2df, s-edrp, s-odp, elastic-storm, none; else none."""
    policy: str | None = None
    """How operators are scaled, such as threshold."""
    policy_settings: dict[str, Any] = Field(default_factory=dict, alias="set")
    """Settings of the policy."""
    global_policy: str | None = Field(None, alias="global")
    """Which requests are granted: all, or token-bucket."""
    global_settings: dict[str, Any] = Field(default_factory=dict, alias="global_set")
    """Settings of the global policy."""
    objective_ms: Positive | None = None
    """R_max: the response time to keep, in milliseconds."""
    bounds_ms: dict[str, Positive] = Field(default_factory=dict, alias="bound")
    """R_max,op of single operators, in milliseconds."""
    period: Positive | None = None
    """Seconds between two decisions."""
    settle: Amount | None = None
    """Seconds without decisions after a change; else a period."""
    profile: str | None = None
    """A file that rheostat calibrate has written; else what was learned in the directory."""
    learned: str | None = None
    """A file that rheostat simulate --save-learned has written: what policies begin with."""
    control_settings: dict[str, Any] = Field(default_factory=dict, alias="control_set")
    """Settings of the managers, such as free_capacity."""
    dry_run: bool | None = None
    """Decide and tell, but change nothing."""

    def value(self) -> RunSettings:
        """The settings; InvalidModel if they contradict themselves."""
        written = {name: getattr(self, name) for name in type(self).model_fields if name != "kind"}
        spark = {name: _text(value) for name, value in self.spark.items()}
        return RunSettings(**{**written, "master": tuple(self.master), "spark": spark})


def _text(value: Any) -> str:
    """A setting as Spark takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def run_mistakes(shape: RunShape, _told: dict[Path, Mistake]) -> list[Mistake]:
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
