"""What is said about one checkpoint?"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from inspector import plain, text, words
from inspector.build.blame import blame
from inspector.build.calls import call_line
from inspector.build.clauses import clauses
from inspector.build.context import Context, crumbs, ref_of, run_href
from inspector.build.state import state_tree
from inspector.pages.checkpoint import CheckpointPage, Detail, Layer
from inspector.pages.shared import Fact, Link, Pill, Text
from inspector.stored import Stored, members, weight
from tracer.errors import UnknownCheckpoint
from tracer.integrity import genesis
from tracer.signing import record_bytes
from tracer.spanref import SpanRef
from tracer.state import LAYER_OF
from tracer.store import objects, read
from tracer.store.rows import EntryRow, RunRow
from tracer.store.tables import ACKED, HANDED, NONE, PENDING, UNSAMPLED

TABS: Final = ("contract", "state", "calls", "trace", "raw")
LAYERS: Final = (
    ("messages", "Messages"),
    ("scratch", "Scratchpad"),
    ("resources", "Resources"),
    ("position", "Position"),
)
EXPORT: Final = {
    NONE: "not exported: no exporter is configured",
    UNSAMPLED: "not sampled",
    PENDING: "waits for the exporter",
    HANDED: "handed to the program's exporter, not acknowledged",
    ACKED: "acknowledged",
}
PREVIEW: Final = 256 * 1024


def checkpoint_page(
    context: Context, row: RunRow, sequence: int, tab: str, path: str, after: int, ask: bool
) -> CheckpointPage:
    """One checkpoint on a page of its own."""
    found = detail(context, row, sequence, tab, path, after, ask)
    before = sequence - 1 if sequence > 1 else 0
    later = sequence + 1 if sequence < row.head_sequence else 0
    return CheckpointPage(
        shell=context.shell(
            f"Checkpoint {sequence} · {row.run_id}",
            crumbs=crumbs(row, f"checkpoint {sequence}"),
            keys=(("d", "diff"), ("[ ]", "fold")),
            count=f"checkpoint {sequence:,} of {row.head_sequence:,}",
        ),
        run_id=row.run_id,
        run_href=run_href(row.run_id, row.branch, c=sequence),
        detail=found,
        previous=Link(f"Checkpoint {before}", checkpoint_href(row, before), key="k") if before else None,
        next=Link(f"Checkpoint {later}", checkpoint_href(row, later), key="j") if later else None,
    )


def checkpoint_href(row: RunRow, sequence: int, tab: str = "") -> str:
    """The page of a checkpoint."""
    return run_href(row.run_id, tail=f"/c/{ref_of(row.branch, sequence)}", tab=tab)


def entry_of(context: Context, row: RunRow, sequence: int) -> EntryRow:
    """The journal entry of a checkpoint; UnknownCheckpoint when there is none."""
    entry = read.checkpoint(context.connection, row.run_id, row.branch, sequence)
    if entry is None:
        last = f"{row.run_id}@{row.head_sequence}" if row.head_sequence else "there is none yet"
        raise UnknownCheckpoint(f"{row.run_id}@{ref_of(row.branch, sequence)}", last)
    return entry


def detail(
    context: Context, row: RunRow, sequence: int, tab: str, path: str = "", after: int = 0, ask: bool = False
) -> Detail:
    """One checkpoint, beside the rail or alone; only the open tab is loaded."""
    tab = tab if tab in TABS else "contract"
    entry = entry_of(context, row, sequence)
    stored = Stored(context.source, context.connection)
    body = stored.body(entry)
    between = read.calls(context.connection, row.run_id, row.branch) if tab == "calls" else []
    between = [call for call in between if call.after_sequence == sequence - 1]
    base = checkpoint_href(row, sequence, "state")
    wrote = Link("Who wrote this", f"{base}&path={quote(path)}&blame=1") if path else None
    if ask and path and tab == "state":
        wrote = blame(context, row, stored, entry, body["root"], path)
    return Detail(
        sequence=sequence,
        ref=f"{row.run_id}@{ref_of(row.branch, sequence)}",
        href=checkpoint_href(row, sequence),
        name=entry.subject,
        badge=_badge(context, row, entry),
        facts=_facts(context, row, entry),
        tabs=tuple(
            Link(name.capitalize(), checkpoint_href(row, sequence, name), current=name == tab)
            for name in TABS
        ),
        tab=tab,
        clauses=clauses(context, row, entry, stored, body) if tab == "contract" else (),
        layers=_layers(context, row, entry, body, base) if tab == "contract" else (),
        user_state=_user_state(body),
        tree=state_tree(stored, body["root"], path, after, base, wrote) if tab == "state" else None,
        calls=tuple(call_line(call, context.now_ns) for call in between),
        trace=_trace(context, entry) if tab == "trace" else (),
        raw=_raw(entry, body) if tab == "raw" else None,
        diff=_diff(row, sequence),
        download=Link(
            f"Download state, {text.size(entry.size)}",
            checkpoint_href(row, sequence).replace("/c/", "/state/"),
        ),
    )


def _diff(row: RunRow, sequence: int) -> Link | None:
    if sequence < 2:
        return None
    pair = f"{ref_of(row.branch, sequence - 1)}...{ref_of(row.branch, sequence)}"
    return Link(f"Diff {sequence - 1}", run_href(row.run_id, tail=f"/diff/{pair}"))


def _badge(context: Context, row: RunRow, entry: EntryRow) -> Pill:
    """Does its tag cover what it holds, on top of the entry before? `waypost verify` looks at the whole chain."""
    before = (
        genesis(row.run_id, row.branch)
        if entry.entry == 1
        else read.tag_at(context.connection, row.run_id, row.branch, entry.entry - 1)
    )
    first = read.body(context.connection, row.run_id, row.branch, 1)
    packed = read.body(context.connection, row.run_id, row.branch, entry.entry)
    if before is None or first is None or packed is None:
        return words.pill("failed", "chain broken")
    where = f"{row.run_id} entry {entry.entry}"
    judged = context.source.journal.signing.judge(row.run_id, objects.unpack_record(first, where))
    if not judged.readable:
        return words.pill("unknown", "its chain key is not here")
    if judged.tag(before, record_bytes(entry, objects.unpack(packed, where))) != entry.tag:
        return words.pill("failed", "tag does not fit")
    return words.pill("committed", "tag fits, signed" if judged.signed else "tag fits")


def _facts(context: Context, row: RunRow, entry: EntryRow) -> tuple[str, ...]:
    facts = [f"{text.when(entry.at, context.now_ns)} UTC", f"segment {entry.segment}", f"kind {entry.mark}"]
    facts.append(text.size(entry.size) + ("" if entry.changed else ", as before"))
    if entry.sequence == row.head_sequence:
        facts.append("the newest")
    elif entry.sequence == row.position:
        facts.append("the position of the agent")
    return tuple(facts)


def _layers(
    context: Context, row: RunRow, entry: EntryRow, body: dict[str, Any], base: str
) -> tuple[Layer, ...]:
    root: dict[str, Any] = body["root"]
    fields: dict[str, list[str]] = {}
    for name in root:
        fields.setdefault(LAYER_OF.get(name, "values"), []).append(name)
    out = []
    for layer, title in LAYERS:
        out.append(_layer(title, root, fields.get(layer, []), base, "not used by this state"))
        if layer == "messages":
            calls = sum(read.call_states(context.connection, row.run_id, row.branch).values())
            out.append(
                Layer(
                    "Tool-call graph",
                    f"{text.count(calls, 'call')} of the run, in the ledger",
                    "",
                    run_href(row.run_id, row.branch, "/calls"),
                )
            )
    position = out[-1]
    if not position.size:
        out[-1] = Layer("Position", f"what is left in the state, after step {entry.subject}", "", "")
    values = fields.get("values", [])
    out.append(_layer("Own fields", root, values, base, "none"))
    return tuple(out)


def _layer(title: str, root: dict[str, Any], names: list[str], base: str, nothing: str) -> Layer:
    if not names:
        return Layer(title, nothing, "", "")
    counts = []
    for name in names[:6]:
        n = members(root[name])
        counts.append(f"{name} {n:,}" if n is not None else name)
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    href = f"{base}&path=/{names[0]}" if len(names) == 1 else base
    return Layer(title, ", ".join(counts) + more, text.size(sum(weight(root[name]) for name in names)), href)


def _user_state(body: dict[str, Any]) -> str:
    version = body.get("version")
    return (
        f"State type {body.get('type')}, version {version}"
        if version
        else f"State type {body.get('type')}, without a version"
    )


def _trace(context: Context, entry: EntryRow) -> tuple[Fact, ...]:
    facts = [Fact("Export", EXPORT.get(entry.export, "unknown"))]
    if entry.exported_at:
        facts.append(
            Fact(
                "Acknowledged",
                text.when(entry.exported_at, context.now_ns),
                f"after {text.duration(entry.exported_at - entry.at)}",
            )
        )
    if not entry.span:
        return (*facts, Fact("Span", "none"))
    span = SpanRef.unpack(entry.span)
    return (
        Fact("Trace", span.trace_id.hex(), mono=True),
        Fact("Span", span.span_id.hex(), mono=True),
        Fact("Parent", "none" if span.is_root else span.parent_id.hex(), mono=True),
        Fact("Flags", f"{span.flags:02x}", mono=True),
        Fact("Tracestate", span.tracestate or "empty", mono=bool(span.tracestate)),
        *facts,
    )


def _raw(entry: EntryRow, body: dict[str, Any]) -> Text:
    record = {name: getattr(entry, name) for name in entry.__dataclass_fields__}
    shown = {name: value.hex() if isinstance(value, bytes) else value for name, value in record.items()}
    whole, note = text.clip(plain.pretty({**shown, "body": body}), PREVIEW)
    return Text(whole, note)
