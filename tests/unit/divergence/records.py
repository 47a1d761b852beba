"""How is a plain call record written in these tests?"""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]


def write(name: str, result: Any = None, *, ok: bool = True, **args: Any) -> Record:
    """A write with its answer."""
    return {"name": name, "args": args, "kind": "write", "ok": ok, "result": result}


def read(name: str, result: Any = None, **args: Any) -> Record:
    """A look-up with its answer."""
    return {"name": name, "args": args, "kind": "read", "ok": True, "result": result}
