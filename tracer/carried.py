"""Does the body of an agent carry something past a checkpoint that a resume would not bring back?

Inside `for … in run.each(…)` every item is a position of its own: what a local name holds from the item before is
gone after a resume. Read from the syntax tree, so it is said when the agent is declared, not after a crash.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

_MAKERS: Final = {"list", "dict", "set", "deque", "defaultdict", "Counter", "OrderedDict", "bytearray"}
_MUTATORS: Final = {
    "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem", "popleft",
    "remove", "reverse", "setdefault", "sort", "update",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Carried:
    """One local name that survives from item to item."""

    name: str
    line: int
    how: str


def carried(function: Callable[..., Any]) -> list[Carried]:
    """The names, in the order of their lines; empty when there are none or the source cannot be read."""
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return []
    body = tree.body[0]
    if not isinstance(body, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    held = {arg.arg for arg in (*body.args.posonlyargs, *body.args.args, *body.args.kwonlyargs)}
    found: dict[str, Carried] = {}
    for loop in _loops(body):
        for one in _of_loop(loop, body, held):
            found.setdefault(one.name, Carried(one.name, one.line + first - 1, one.how))
    return sorted(found.values(), key=lambda one: one.line)


def _loops(body: ast.AST) -> Iterator[ast.For | ast.AsyncFor]:
    for node in ast.walk(body):
        if isinstance(node, ast.For | ast.AsyncFor) and isinstance(node.iter, ast.Call):
            called = node.iter.func
            if isinstance(called, ast.Attribute) and called.attr in ("each", "aeach"):
                yield node


def _of_loop(loop: ast.For | ast.AsyncFor, body: ast.AST, held: set[str]) -> Iterator[Carried]:
    inside = [node for statement in loop.body for node in ast.walk(statement)]
    own = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    containers = _containers(body, loop)
    for node in inside:
        name = line = None
        how = ""
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            name, line, how = node.target.id, node.lineno, "counts on from item to item"
            if _set_before(inside, node.target):
                continue
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _MUTATORS
        ):
            target = node.func.value
            if isinstance(target, ast.Name) and target.id in containers:
                name, line, how = target.id, node.lineno, f"collects with .{node.func.attr}()"
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            held_in = node.value
            if isinstance(held_in, ast.Name) and held_in.id in containers:
                name, line, how = held_in.id, node.lineno, "collects by key"
        if name is not None and line is not None and name not in own and name not in held:
            yield Carried(name, line, how)


def _containers(body: ast.AST, loop: ast.For | ast.AsyncFor) -> set[str]:
    """Names that hold a fresh container made outside the loop and not from the state."""
    inside = set(map(id, ast.walk(loop)))
    found: set[str] = set()
    for node in ast.walk(body):
        if id(node) in inside or not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        made = isinstance(
            node.value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
        ) or (
            isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id in _MAKERS
        )
        if made:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def _set_before(inside: list[ast.AST], target: ast.Name) -> bool:
    """Whether the name gets a fresh value in the same pass, before it is counted up."""
    at = (target.lineno, target.col_offset)
    for node in inside:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for one in targets:
                if isinstance(one, ast.Name) and one.id == target.id and (one.lineno, one.col_offset) < at:
                    return True
        if isinstance(node, ast.For) and any(
            isinstance(one, ast.Name) and one.id == target.id for one in ast.walk(node.target)
        ):
            return True
    return False
