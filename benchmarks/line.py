"""What does one measured figure say? One JSON line, whose value is the ratio that its target is about."""

from __future__ import annotations

from typing import Any, Literal

Line = dict[str, Any]
KEYS = ("name", "value", "unit", "target", "ok", "detail")


def line(
    name: str,
    value: float,
    target: float,
    better: Literal["at most", "at least"],
    detail: dict[str, Any],
    *,
    unit: str = "x",
) -> Line:
    """A figure and whether it reaches its target; *detail* holds what it was computed from."""
    ok = value <= target if better == "at most" else value >= target
    return {
        "name": name,
        "value": round(value, 3),
        "unit": unit,
        "target": f"{'<=' if better == 'at most' else '>='} {target:g}",
        "ok": ok,
        "detail": detail,
    }
