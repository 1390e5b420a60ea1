"""Effects of changes as plain data: one place that takes an effect apart, and the document that commands exchange."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rheostat.control.loop.ports import Done, Effect, Refused, RolledBack
from rheostat.errors import RuntimeFault

DONE, REFUSED, ROLLED_BACK = "done", "refused", "rolled back"


@dataclass(frozen=True, slots=True)
class EffectParts:
    """An effect taken apart."""

    outcome: str
    """`done`, `refused` or `rolled back`."""
    downtime_seconds: float = 0.0
    reasons: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """All reasons in one line."""
        return "; ".join(self.reasons)


def effect_parts(effect: Effect) -> EffectParts:
    """Outcome, downtime and reasons of an effect."""
    match effect:
        case Done(seconds):
            return EffectParts(DONE, seconds)
        case Refused(reasons):
            return EffectParts(REFUSED, reasons=reasons)
        case RolledBack(reason):
            return EffectParts(ROLLED_BACK, reasons=(reason,))


def effect_document(effect: Effect) -> dict[str, Any]:
    """The effect as the API of a running application tells it."""
    parts = effect_parts(effect)
    if parts.outcome == DONE:
        return {"effect": DONE, "paused_seconds": round(parts.downtime_seconds, 3)}
    if parts.outcome == ROLLED_BACK:
        return {"effect": ROLLED_BACK, "reason": parts.reason}
    return {"effect": REFUSED, "reasons": list(parts.reasons)}


def effect_of(document: Mapping[str, Any]) -> Effect:
    """The effect that a document describes."""
    match document:
        case {"effect": "done", "paused_seconds": seconds}:
            return Done(float(seconds))
        case {"effect": "rolled back", "reason": reason}:
            return RolledBack(str(reason))
        case {"effect": "refused", "reasons": reasons}:
            return Refused(tuple(str(reason) for reason in reasons))
    raise RuntimeFault(f"the controller gave an unknown answer: {document}; is it of another version of Rheostat?")
