"""Settings of a control that have no option of their own: `--control-set name=value`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from rheostat.cli.output import Complaint, WrongUse
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.model.graph.flow_order import did_you_mean

OPTION = "control-set"
TUNABLE = (
    "free_capacity", "low_utilization", "vacate_seconds", "max_nodes", "inhibited_regions", "region_period_seconds",
    "migrations", "migration_threshold", "placement", "victims", "neighbours", "bounds", "cool_down_seconds",
    "confirmations", "excluded_periods", "quota_replicas", "averaging_seconds", "settles_alone", "response_figure",
    "most_together", "seed",
)  # fmt: skip
HELP = "A setting of the managers, name=value, such as free_capacity=2, max_nodes=6, migrations=true, quota_replicas=8."


def tuned(settings: ControlSettings, given: Mapping[str, Any]) -> ControlSettings:
    """The settings with those that are given; whether the values make sense is for `check` to say."""
    hints = get_type_hints(ControlSettings)
    wanted, wrong = {}, []
    for name, value in given.items():
        if name not in TUNABLE:
            wrong.append(Complaint(f"--{OPTION}: there is no setting {name!r}", did_you_mean(name, TUNABLE)))
            continue
        try:
            wanted[name] = TypeAdapter(hints[name]).validate_python(value)
        except ValidationError as mistake:
            told = "; ".join(sorted({error["msg"] for error in mistake.errors()}))
            wrong.append(Complaint(f"--{OPTION}: {name}={value!r}: {told}"))
    if wrong:
        raise WrongUse(*wrong)
    return replace(settings, **wanted)
