"""How are our glyphs drawn inside a figure? The paths of `parts/glyphs.html` in the few commands Plotly knows."""

from __future__ import annotations

from typing import Final

PATHS: Final[dict[str, str]] = {
    "committed": "M-4,-0.4L-1.3,-3.4L4.2,3.2",
    "failed": "M-3.2,3.2L3.2,-3.2M3.2,3.2L-3.2,-3.2",
    "unknown": "M-2.2,1.9C-2.2,5.2 2.6,5.2 2.6,2.2C2.6,0.6 0.2,0.3 0.2,-1.5M0.2,-3.9L0.2,-4.2",
    "planned": "M-1,0L1,0",
    "sent": "M-3.8,0L3.8,0M0.6,3.2L3.8,0L0.6,-3.2",
    "suspended": "M-2.6,4L2.6,4M-2.6,-4L2.6,-4M-2,4C-2,1.4 0,1.4 0,0C0,-1.4 -2,-1.4 -2,-4"
    "M2,4C2,1.4 0,1.4 0,0C0,-1.4 2,-1.4 2,-4",
    "blocked": "M-4.6,4.6L4.6,-4.6",
    "compensated": "M-1.4,3.6L-3.6,1.4L-1.4,-0.8M-3.6,1.4L1.2,1.4C4.4,1.4 4.4,-3.4 1.2,-3.4L-1,-3.4",
    "reconciled": "M-4,-0.4L-1.3,-3.4L4.2,3.2",
    "interrupted": "M1,6L-2.6,0.6L0.6,0.6L-1,-1.6L1.8,-1.6L-1.6,-6",
}
"""State of a call -> path around (0, 0), about 12 pixels wide; y grows upwards, as Plotly has it in pixels."""


def seam(x: float, top: float, bottom: float, tooth: float = 4.5, step: float = 7.0) -> str:
    """The torn edge of a dead segment, in design pixels."""
    parts = [f"M{x:.2f},{top:.1f}"]
    y, side = top, 1
    while y + step <= bottom + 0.01:
        y += step
        parts.append(f"L{x + side * tooth:.2f},{y:.1f}")
        side = -side
    return "".join(parts)
