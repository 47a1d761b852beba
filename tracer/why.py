"""What stopped a run, what is safe, what is not, and what is there to press? In plain English, for the night.

`gather` reads the facts, `explain` is pure. No code of the agent is loaded for it, so it works where the agent
cannot be imported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from . import approvals
from .alertrecord import HELD, OPEN
from .contract import CallState, Clause, Finding, Ruling, RunState
from .quantities import ago, counted, moment, span
from .standing import PROGRAM, holder, silent_ns, state_of
from .store import objects, read
from .store.rows import AlertRow, ApprovalRow, CallRow, RunRow

WRITES: Final = ("write", "handoff")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the store says of one run."""

    row: RunRow
    state: RunState
    now_ns: int
    committed: int = 0
    """Writes that are known to have happened."""
    tail: int = 0
    """Finished calls after the last advancing checkpoint."""
    doubts: tuple[CallRow, ...] = ()
    questions: tuple[ApprovalRow, ...] = ()
    """Open ones; an expired one is not open."""
    alerts: tuple[AlertRow, ...] = ()
    """Those that nobody has acknowledged."""
    refused: tuple[Finding, ...] = ()
    """What the gate held against the last resume, when nothing has been resumed since."""


@dataclass(frozen=True, slots=True)
class Press:
    """One line to type."""

    command: str
    what: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The four answers."""

    stopped: str
    safe: tuple[str, ...]
    unsafe: tuple[str, ...]
    press: tuple[Press, ...] = field(default=())


def gather(connection: Connection, row: RunRow, now_ns: int) -> Facts:
    """Read what `explain` needs; no payload is opened but that of the last refusal."""
    where = row.run_id, row.branch
    by_state = read.call_states(connection, *where)
    asked = read.approvals(connection, run_id=row.run_id, name=row.branch, states=(approvals.PENDING,))
    tail = read.calls(connection, *where, position=row.position, states=(CallState.COMMITTED,))
    return Facts(
        row,
        state_of(row, now_ns),
        now_ns,
        committed=sum(n for (kind, state), n in by_state.items() if kind in WRITES and state == "committed"),
        tail=len(tail),
        doubts=tuple(
            read.calls(connection, *where, states=(CallState.SENT, CallState.UNKNOWN), kinds=WRITES)
        ),
        questions=tuple(one for one in asked if approvals.effective(one, now_ns) == approvals.PENDING),
        alerts=tuple(read.alerts(connection, run_id=row.run_id, name=row.branch, states=(OPEN,))),
        refused=_last_refusal(connection, row),
    )


def _last_refusal(connection: Connection, row: RunRow) -> tuple[Finding, ...]:
    past = read.entries(connection, row.run_id, row.branch, kinds=("refusal", "resume"))
    last = next((entry for entry in reversed(past) if entry.mark != "lease"), None)
    if last is None or last.kind != "refusal":
        return ()
    where = f"{row.run_id} entry {last.entry}"
    record = objects.unpack_record(read.body(connection, row.run_id, row.branch, last.entry) or b"", where)
    findings = [Finding.from_plain(one) for one in record["findings"]]
    return tuple(one for one in findings if one.ruling.strictness > Ruling.CONTINUE.strictness)


def explain(facts: Facts, program: str = PROGRAM) -> Explanation:
    """The four answers to *facts*; *program* is how the command line is called."""
    return Explanation(_stopped(facts), _safe(facts), _unsafe(facts), tuple(_press(facts, program)))


# -- what stopped ---------------------------------------------------------------------------------------------


def _stopped(facts: Facts) -> str:
    row, state, now = facts.row, facts.state, facts.now_ns
    at = (
        f"after {row.run_id}@{row.head_sequence} (`{row.step}`)"
        if row.head_sequence
        else "before its first checkpoint"
    )
    if state is RunState.RUNNING:
        quiet = silent_ns(row, now)
        held = f"Nothing stopped. {holder(row)} works on it, {at}."
        return held if quiet <= row.ttl else f"{held} But its last sign of life was {span(quiet)} ago."
    if state is RunState.LOST:
        return (
            f"{holder(row)} has given no sign of life for {span(silent_ns(row, now))}, {at}. It may still be alive: "
            "from here only its heartbeat can be seen."
        )
    if state is RunState.INTERRUPTED and row.state == RunState.RUNNING:
        last = moment(max(row.beat_at, row.updated_at))
        return f"{holder(row) or 'Its process'} died {at}; its last sign of life was {last}."
    if facts.refused:
        return f"The gate refused the last resume, {at}: " + " ".join(one.what for one in facts.refused)
    since = f"{moment(row.state_at)}, {ago(row.state_at, now)}"
    reason = f" ({row.reason})" if row.reason else ""
    if state is RunState.PAUSED:
        asks = [one.prompt for one in facts.questions]
        paused = f"It paused {at}, {since}{'' if row.reason == row.step else reason}."
        return f"{paused} It asks: {asks[0]}" if asks else paused
    if state is RunState.FAILED:
        return f"The agent's own code failed {at}, {since}: {row.reason or 'no reason was recorded'}"
    word = "It is done" if state is RunState.DONE else f"It is {state}"
    return f"{word}, {since}{reason}."


# -- what is safe, and what is not -----------------------------------------------------------------------------


def _safe(facts: Facts) -> tuple[str, ...]:
    row = facts.row
    said = []
    if row.head_sequence:
        last = f"the last is {row.run_id}@{row.head_sequence}, `{row.step}`, {moment(row.checkpoint_at)}"
        said.append(f"{counted(row.head_sequence, 'checkpoint')} stored; {last}.")
    if facts.committed:
        said.append(
            f"{counted(facts.committed, 'write')} known to have happened; a resume sends none of them again."
        )
    if facts.tail and not facts.state.over:
        said.append(
            f"{counted(facts.tail, 'finished call')} after that checkpoint: answered from the ledger."
        )
    for call in facts.doubts:
        if _keyed(call, facts.now_ns):
            until = f" (until {moment(call.key_expires_at)})" if call.key_expires_at is not None else ""
            said.append(f"{_named(call)} has no outcome; it goes out again under its stored key{until}.")
    return tuple(said)


def _unsafe(facts: Facts) -> tuple[str, ...]:
    said = []
    judged = {finding.subject for finding in facts.refused}
    for call in facts.doubts:
        if not _keyed(call, facts.now_ns):
            why = "its key has expired" if call.idempotency_key else "it has no idempotency key"
            ask = "A resume asks the service when the tool declares reconcile=; otherwise a person must look."
            who = "A person must look." if call.effect_id in judged else ask
            said.append(
                f"Nobody knows whether {_named(call)} happened, and {why}, so it is not sent again. {who}"
            )
    for alert in facts.alerts:
        word = "was about to do something else." if alert.sentence.startswith(HELD) else "did something else:"
        said.append(f"After a resume it {word} {alert.sentence}")
    if facts.state is RunState.LOST:
        said.append(
            "Taking over while the old process lives is fenced: it cannot write, but its last call may arrive."
        )
    if not facts.state.over and facts.state is not RunState.PAUSED and facts.row.head_sequence:
        at = f"{facts.row.run_id}@{facts.row.head_sequence}"
        said.append(f"What the agent computed after {at} outside recorded calls is computed again.")
    if facts.row.evidence and not facts.state.over:
        said.append(
            f"{counted(facts.row.evidence, 'piece')} of evidence recorded; nobody looked whether it still holds."
        )
    return tuple(said)


def _keyed(call: CallRow, now_ns: int) -> bool:
    return call.idempotency_key is not None and (call.key_expires_at is None or now_ns < call.key_expires_at)


def _named(call: CallRow) -> str:
    return f"`{call.tool} {call.target}`".replace(" `", "`")


# -- what to press ---------------------------------------------------------------------------------------------


def _press(facts: Facts, program: str) -> list[Press]:
    row, state = facts.row, facts.state
    run_id = row.run_id
    resume = f"{program} resume {run_id}"
    if state.over:
        return []
    if state is RunState.RUNNING:
        return [Press(f"{program} show {run_id}", "watch it")]
    if state is RunState.QUARANTINED:
        return [Press(f"{program} verify {run_id}", "see how far it is sound")]
    if not row.head_sequence:
        return [Press("", "Start it again under another id; there is nothing to resume from.")]
    if state is RunState.LOST:
        return [Press(f"{resume} --takeover", "wait out its lease and go on here")]
    lines = [*_answers(facts, program)]
    if facts.alerts:
        lines.insert(0, Press(f"{program} divergence {run_id}", "see what it did otherwise"))
    if any(one.ruling is Ruling.ABORT for one in facts.refused):
        lines += [
            Press("", f"{one.what} {one.remedy}.") for one in facts.refused if one.ruling is Ruling.ABORT
        ]
        lines.append(Press(f"{program} preflight {run_id}", "see whether that still holds"))
    elif state is RunState.FAILED:
        lines.append(Press(resume, "go on, once the cause is mended"))
    else:
        lines.append(Press(resume, "go on" if lines else "let the gate decide, and go on"))
    return lines


def _answers(facts: Facts, program: str) -> list[Press]:
    run_id, asked = facts.row.run_id, facts.questions
    approve = f"{program} approve {run_id}"
    lines = []
    effects = {one.subject for one in asked if one.kind == "effect"}
    for call in facts.doubts:
        if call.effect_id in effects:
            lines.append(
                Press(f"{approve} --effect {call.effect_id} --happened RESULT", f"{_named(call)} happened")
            )
            lines.append(Press(f"{approve} --effect {call.effect_id} --did-not-happen", "or it did not"))
    for clause in dict.fromkeys(one.subject for one in asked if one.kind == "gate"):
        name = f"'{clause}'" if " " in clause else clause
        lines.append(Press(f"{approve} --waive {name}", f"accept what changed: {Clause(clause)}"))
    yes = "say yes (add --deny to say no)"
    asks = [one for one in asked if one.kind in ("ask", "tool", "divergence")]
    return [*lines, *(Press(f"{approve} --approval {one.approval_id}", yes) for one in asks)]
