"""What is said about the difference of two checkpoints?"""

from __future__ import annotations

from collections import Counter
from typing import Final
from urllib.parse import quote

from inspector import text, words
from inspector.build.checkpoint import checkpoint_href, entry_of
from inspector.build.compare import Compared, Part, compare
from inspector.build.context import Context, crumbs, ref_of, run_href
from inspector.build.diffrows import rows
from inspector.pages.diff import DiffPage, PathLine, Section
from inspector.pages.shared import Link, Pill, Tone
from inspector.stored import Stored
from tracer.diff import IDS, TIMESTAMPS, Ignore, Op
from tracer.store import read
from tracer.store.rows import EntryRow, RunRow

LIMIT: Final = 200
"""Rows of one section, unless it is looked at alone."""
ALONE: Final = 2000
NEAR: Final = 7
IGNORES: Final = {"timestamps": TIMESTAMPS, "ids": IDS}
CLAUSES: Final = ("plan", "evidence", "effects", "permissions", "identity", "policy")


def diff_page(
    context: Context,
    row: RunRow,
    first: int,
    second: int,
    *,
    layout: str,
    ignored: tuple[str, ...],
    path: str,
) -> DiffPage:
    """Two checkpoints of a branch side by side; *path* keeps one part."""
    old, new = entry_of(context, row, first), entry_of(context, row, second)
    stored = Stored(context.source, context.connection)
    body_old, body_new = stored.body(old), stored.body(new)
    names = tuple(name for name in ignored if name in IGNORES)
    keys = frozenset().union(*(IGNORES[name] for name in names)) if names else frozenset()
    rule = Ignore(keys)
    state = compare(stored, body_old["root"], body_new["root"], rule)
    contract = _contract(stored, body_old, body_new, rule)
    parts = [part for part in (*state.changed, *contract.changed) if not path or part.path == path]
    changes = sum(len(part.found.changes) for part in parts)
    query = {"layout": "unified" if layout == "unified" else "", "ignore": ",".join(names), "path": path}
    sections = tuple(_section(row, part, bool(path), second, query) for part in parts)
    hidden = state.ignored + contract.ignored
    return DiffPage(
        shell=context.shell(
            f"Diff {first} → {second}",
            crumbs=crumbs(row, "diff"),
            keys=(("n p", "change"), ("u", "unified or split"), ("[ ]", "fold")),
            count=f"{text.count(changes, 'change')}, {hidden} ignored",
        ),
        run_id=row.run_id,
        before=Link(str(first), checkpoint_href(row, first)),
        after=Link(str(second), checkpoint_href(row, second)),
        from_choices=_choices(context, row, first, lambda n: diff_href(row, n, second, **query)),
        to_choices=_choices(context, row, second, lambda n: diff_href(row, first, n, **query)),
        crosses=_crosses(context, row, old, new),
        layout=(
            Link(
                "Unified",
                diff_href(row, first, second, **{**query, "layout": "unified"}),
                current=layout == "unified",
            ),
            Link(
                "Split", diff_href(row, first, second, **{**query, "layout": ""}), current=layout != "unified"
            ),
        ),
        unified=layout == "unified",
        head=_head(changes, len(parts)),
        summary=tuple(_summary(part) for part in parts),
        ignored=_ignored(row, first, second, query, names, hidden),
        paths=_paths(state, contract, parts, path, row, first, second, query),
        skipped=_skipped(state, contract),
        sections=sections,
        changes=changes,
    )


def diff_href(row: RunRow, first: int, second: int, **query: str) -> str:
    """The address of a difference."""
    pair = f"{ref_of(row.branch, first)}...{ref_of(row.branch, second)}"
    return run_href(row.run_id, tail=f"/diff/{pair}", **query)


def _contract(stored: Stored, old: dict[str, object], new: dict[str, object], rule: Ignore) -> Compared:
    if old.get("contract") == new.get("contract"):
        return Compared((), tuple(f"/contract/{name}" for name in CLAUSES), 0, 0)
    return compare(stored, stored.clauses(old), stored.clauses(new), rule, "/contract")


def _head(changes: int, parts: int) -> str:
    if not changes:
        return "No change"
    return f"{text.count(changes, 'change')} in {text.count(parts, 'path')}"


def _choices(context: Context, row: RunRow, current: int, href: object) -> tuple[Link, ...]:
    assert callable(href)
    low = max(0, current - NEAR - 1)
    entries = read.checkpoints(
        context.connection, row.run_id, row.branch, after=low, before=current + NEAR + 1, newest_first=True
    )
    return tuple(
        Link(str(e.sequence), href(e.sequence), count=e.subject, current=e.sequence == current)
        for e in entries
    )


def _crosses(context: Context, row: RunRow, old: EntryRow, new: EntryRow) -> Pill | None:
    if old.segment == new.segment:
        return None
    found = read.entries(context.connection, row.run_id, row.branch, kinds=("resume", "refusal"))
    low, high = sorted((old.entry, new.entry))
    between = [n for n, e in enumerate(found, 1) if low < e.entry < high and e.kind == "resume"]
    if not between:
        return None
    word = f"crosses resume {between[0]}" if len(between) == 1 else f"crosses {len(between)} resumes"
    return words.pill("revalidate", word, href=run_href(row.run_id, row.branch, f"/resumes/{between[0]}"))


def _anchor(path: str) -> str:
    return "p" + "".join(c if c.isalnum() else "-" for c in path)


def _section(row: RunRow, part: Part, alone: bool, second: int, query: dict[str, str]) -> Section:
    sign, tone = _sign(part)
    found = tuple(rows(part.found.entries, 1, ALONE if alone else LIMIT))
    return Section(
        anchor=_anchor(part.path),
        path=part.path,
        sign=sign,
        tone=tone,
        summary=_about(part),
        rows=found,
        blame=""
        if part.path.startswith("/contract")
        else f"{checkpoint_href(row, second, 'state')}&path={quote(part.path)}&blame=1",
    )


def _sign(part: Part) -> tuple[str, Tone]:
    ops = {entry.op for entry in part.found.changes}
    whole = any(len(entry.path) == 1 for entry in part.found.changes)
    if ops == {Op.ADDED}:
        return "+", "ok"
    if ops == {Op.REMOVED} and whole:
        return "−", "bad"
    if ops == {Op.REMOVED}:
        return "−", "bad"
    return "~", "wait"


def _about(part: Part) -> str:
    counts = Counter(entry.op for entry in part.found.changes)
    named = {Op.ADDED: "added", Op.REMOVED: "removed", Op.CHANGED: "changed", Op.MOVED: "moved"}
    said = ", ".join(f"{counts[op]:,} {word}" for op, word in named.items() if counts[op])
    note = next((n for path, n in part.found.lists.items() if len(path) == 1), None)
    if note is not None:
        return f"{note.old_count:,} → {note.new_count:,}, {said}, aligned by {note.by}"
    return said


def _summary(part: Part) -> Link:
    counts = Counter(entry.op for entry in part.found.changes)
    name = part.path.rpartition("/")[2]
    words_ = [
        f"{sign}{counts[op]:,}"
        for sign, op in (("+", Op.ADDED), ("−", Op.REMOVED), ("~", Op.CHANGED), ("⇄", Op.MOVED))
        if counts[op]
    ]
    return Link(f"{name} {' '.join(words_)}", f"#{_anchor(part.path)}")


def _ignored(
    row: RunRow, first: int, second: int, query: dict[str, str], names: tuple[str, ...], hidden: int
) -> tuple[Link, ...]:
    links = []
    for name in IGNORES:
        on = name in names
        kept = ",".join(other for other in IGNORES if (other in names) != (other == name))
        href = diff_href(row, first, second, **{**query, "ignore": kept})
        links.append(Link(name if on else f"{name} (off)", href, current=on, count=f"{hidden} hidden"))
    return tuple(links)


def _paths(
    state: Compared,
    contract: Compared,
    parts: list[Part],
    path: str,
    row: RunRow,
    first: int,
    second: int,
    query: dict[str, str],
) -> tuple[PathLine, ...]:
    lines = []
    shown = {part.path for part in parts}
    for part in (*state.changed, *contract.changed):
        sign, tone = _sign(part)
        href = (
            f"#{_anchor(part.path)}"
            if part.path in shown
            else diff_href(row, first, second, **{**query, "path": part.path})
        )
        lines.append(PathLine(part.path, 0, sign, tone, f"{len(part.found.changes):,}", href))
    if path:
        lines.insert(
            0,
            PathLine("all paths", 0, "←", "info", "", diff_href(row, first, second, **{**query, "path": ""})),
        )
    same = [PathLine(name, 0, "", "mute", "same", "") for name in (*state.same, *contract.same)]
    return (*lines, *same)


def _skipped(state: Compared, contract: Compared) -> str:
    fields, members = len(state.same) + len(contract.same), state.unread + contract.unread
    said = f"{text.count(fields, 'equal subtree')} skipped by digest, not read"
    return f"{said}; so were {members:,} members of lists." if members else f"{said}."
