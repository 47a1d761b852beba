"""May this run go on from that checkpoint, in this world? Pure: facts in, a verdict out.

One function per clause, in the order of `contract.Clause`; each answers with findings and acts on nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from .contract import Clause, Finding, ResumePolicy, Ruling, Verdict

Waiver = tuple[str, str, str, str]
"""(clause, subject, before, after): exactly what a person accepted."""


@dataclass(frozen=True, slots=True)
class UnknownCall:
    """A call with an intent and no outcome."""

    effect_id: str
    tool: str
    target: str
    way: str
    """`key`: sent again with its stored key; `reconciled`: asked and settled; `expired`: its key is too old;
    `failed`: it has a `reconcile`, which could not tell (`why`); `opaque`: only a person can say."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An approval that stands in the way."""

    approval_id: str
    prompt: str
    state: str
    """`pending`, `denied`, `expired` or `approved`."""


@dataclass(frozen=True, slots=True)
class World:
    """What is so now, beside what the checkpoint says."""

    sequence: int
    contract: Mapping[str, Any]
    """The clauses of the checkpoint, plain."""
    state_type: str
    state_version: int
    now_state_type: str
    now_state_version: int
    now_plan: Mapping[str, Any]
    now_identity: Mapping[str, Any]
    damage: str = ""
    """What integrity checks found; empty when the chain is sound."""
    signed: bool = False
    holder: str = ""
    """Who holds the lease; empty when it could be taken."""
    migrations: tuple[str, ...] = ()
    """Steps from the recorded state version to this one; empty when none are registered."""
    unknown: tuple[UnknownCall, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    evidence: int = 0
    context: tuple[int, int] = (0, 0)
    """Bytes of the state, (recorded, rebuilt)."""
    waivers: Mapping[Waiver, str] = field(default_factory=dict)
    """What a person accepted -> who."""


def decide(world: World, policy: ResumePolicy) -> Verdict:
    """One finding per clause at least; the strictest wins."""
    found = [finding for clause in _CLAUSES for finding in clause(world, policy)]
    return Verdict(tuple(_waived(finding, world) for finding in found))


def waiver_of(finding: Finding) -> Waiver:
    """The exact thing that a waiver of *finding* accepts."""
    return (str(finding.clause), finding.subject, finding.before, finding.after)


def _waived(finding: Finding, world: World) -> Finding:
    who = world.waivers.get(waiver_of(finding))
    if who is None or finding.ruling not in (Ruling.REAPPROVE, Ruling.REVALIDATE):
        return finding
    return replace(finding, ruling=Ruling.CONTINUE, waived_by=who, remedy="none needed")


def _integrity(world: World, policy: ResumePolicy) -> Iterator[Finding]:
    if world.damage:
        remedy = "run `waypost verify`; resume from a checkpoint before the damage or restore a backup"
        yield Finding(Clause.INTEGRITY, policy.integrity, world.damage, remedy)
    else:
        seal = "under a key" if world.signed else "unsigned: it shows damage, not forgery"
        yield Finding(
            Clause.INTEGRITY,
            Ruling.CONTINUE,
            f"The chain is sound up to checkpoint {world.sequence}, {seal}.",
        )


def _lease(world: World, policy: ResumePolicy) -> Iterator[Finding]:
    if world.holder:
        remedy = (
            "stop that process, or take over once its heartbeat has stopped (`waypost resume --takeover`)"
        )
        yield Finding(Clause.LEASE, policy.lease, f"Held by {world.holder}.", remedy, subject=world.holder)
    else:
        yield Finding(Clause.LEASE, Ruling.CONTINUE, "Nobody else holds the run.")


def _state_version(world: World, policy: ResumePolicy) -> Iterator[Finding]:
    before, after = (
        f"{world.state_type} v{world.state_version}",
        f"{world.now_state_type} v{world.now_state_version}",
    )
    was = str((world.contract.get("identity") or {}).get("state") or "")
    now = str(world.now_identity.get("state") or "")
    if before == after and was and now and was != now:
        what = f"The fields of {before} are not those that the checkpoint was written with."
        remedy = "raise the version and register the migration, or deploy the code that wrote the checkpoint"
        yield Finding(Clause.STATE_VERSION, policy.state_version, what, remedy, was[:12], now[:12], before)
    elif before == after:
        yield Finding(Clause.STATE_VERSION, Ruling.CONTINUE, f"{before}, as this code has it.")
    elif world.migrations:
        steps = ", ".join(world.migrations)
        yield Finding(
            Clause.STATE_VERSION, Ruling.CONTINUE, f"Migrated: {steps}.", before=before, after=after
        )
    elif world.state_type == world.now_state_type and world.state_version > world.now_state_version:
        what = f"The checkpoint holds {before}, newer than this code's {after}."
        yield Finding(
            Clause.STATE_VERSION,
            policy.state_newer,
            what,
            "deploy the newer code",
            before,
            after,
            world.state_type,
        )
    else:
        remedy = "register the migration of each step, or deploy the code that wrote the checkpoint"
        what = f"The checkpoint holds {before}, this code has {after}, and no migration is known."
        yield Finding(
            Clause.STATE_VERSION, policy.state_version, what, remedy, before, after, world.state_type
        )


def _plan(world: World, policy: ResumePolicy) -> Iterator[Finding]:
    was = world.contract.get("plan") or {}
    changed = False
    for name, ruling in (("objective", policy.objective), ("version", policy.plan)):
        before, after = was.get(name), world.now_plan.get(name)
        if before == after:
            continue
        changed = True
        word = "Objective" if name == "objective" else "Plan version"
        remedy = "finish under the old one, or `waypost approve RUN --waive 'plan and objective'`"
        yield Finding(
            Clause.PLAN,
            ruling,
            f"{word} was {_said(before)}, is {_said(after)}.",
            remedy if ruling.strictness > 1 else "none needed",
            _said(before),
            _said(after),
            name,
        )
    if not changed:
        yield Finding(
            Clause.PLAN, Ruling.CONTINUE, f"Objective and plan ({_said(was.get('version'))}) are the same."
        )


def _topology(world: World, policy: ResumePolicy) -> Iterator[Finding]:
    before = str((world.contract.get("identity") or {}).get("topology", ""))
    after = str(world.now_identity.get("topology", ""))
    if before == after:
        yield Finding(Clause.TOPOLOGY, Ruling.CONTINUE, f"The body of the agent is the same ({after[:12]}).")
    else:
        remedy = "deploy the old code, or accept the new for this run: `waypost approve RUN --waive topology`"
        what = "The code of the agent's body was edited since the checkpoint."
        yield Finding(Clause.TOPOLOGY, policy.topology, what, remedy, before[:12], after[:12], "body")


_IDENTITY: Final = (
    ("model", "model"),
    ("prompt", "prompt"),
    ("policy_bundle", "policy_bundle"),
    ("principal", "principal"),
    ("environment", "environment"),
    ("python", "packages"),
    ("host", "environment"),
)


def _identity(world: World, policy: ResumePolicy) -> Iterator[Finding]:
    was = world.contract.get("identity") or {}
    now = world.now_identity
    changed = False
    for name, rule in _IDENTITY:
        before, after = was.get(name), now.get(name)
        if before != after:
            changed = True
            yield _changed(getattr(policy, rule), name.replace("_", " "), _said(before), _said(after))
    for name, rule in (("tools", "tools"), ("packages", "packages")):
        old, new = was.get(name) or {}, now.get(name) or {}
        for key in sorted(old.keys() | new.keys()):
            before, after = old.get(key), new.get(key)
            if before == after:
                continue
            if name == "tools" and before is None:
                continue  # an added tool disturbs nothing that was planned
            changed = True
            word = "tool" if name == "tools" else "package"
            yield _changed(getattr(policy, rule), f"{word} {key}", _short(before), _short(after))
    if not changed:
        yield Finding(
            Clause.IDENTITY,
            Ruling.CONTINUE,
            "Model, prompt, tools, packages, host and principal are the same.",
        )


def _changed(ruling: Ruling, subject: str, before: str, after: str) -> Finding:
    remedy = "none needed"
    if ruling.strictness > Ruling.CONTINUE.strictness:
        remedy = "deploy what was there, or `waypost approve RUN --waive 'runtime identity'`"
    what = f"{subject[:1].upper()}{subject[1:]} was {before}, is {after}."
    return Finding(Clause.IDENTITY, ruling, what, remedy, before, after, subject)


def _effects(world: World, policy: ResumePolicy) -> Iterator[Finding]:
    if not world.unknown:
        yield Finding(Clause.EFFECTS, Ruling.CONTINUE, "No call is without an outcome.")
    for call in world.unknown:
        name = f"{call.tool} {call.target}".strip()
        if call.way == "key":
            what = f"{name} was sent and has no outcome; it goes out again with its stored key."
            yield Finding(Clause.EFFECTS, Ruling.CONTINUE, what, subject=call.effect_id)
        elif call.way == "reconciled":
            what = f"{name} had no outcome; the service was asked and it is settled."
            yield Finding(Clause.EFFECTS, Ruling.CONTINUE, what, subject=call.effect_id)
        else:
            why = {
                "expired": "its key has expired",
                "failed": f"its reconcile {call.why}",
            }.get(call.way, "it has neither key nor reconcile")
            what = f"{name} was sent and has no outcome; {why}, so it is not sent again."
            remedy = (
                f"look whether it happened, then `waypost approve RUN --effect {call.effect_id}"
                " --happened RESULT` or `--did-not-happen`"
            )
            if call.way == "failed":
                remedy = f"make its service reachable and resume again, or {remedy}"
            yield Finding(Clause.EFFECTS, policy.unknown_effect, what, remedy, subject=call.effect_id)


def _evidence(world: World, _policy: ResumePolicy) -> Iterator[Finding]:
    what = (
        f"{world.evidence} recorded; they were not looked at again."
        if world.evidence
        else "None was declared."
    )
    yield Finding(Clause.EVIDENCE, Ruling.NOT_JUDGED, what)


def _permissions(world: World, policy: ResumePolicy) -> Iterator[Finding]:
    held = False
    for question in world.questions:
        if question.state == "pending":
            held = True
            what = f"Waits for a person: {question.prompt}"
            remedy = f"`waypost approve RUN --approval {question.approval_id}` or deny it, here or in the inspector"
            yield Finding(Clause.PERMISSIONS, policy.approval, what, remedy, subject=question.approval_id)
        elif question.state == "expired":
            what = f"Expired unanswered: {question.prompt} The agent goes on on its timeout branch."
            yield Finding(Clause.PERMISSIONS, Ruling.CONTINUE, what, subject=question.approval_id)
    if not held:
        yield Finding(Clause.PERMISSIONS, Ruling.CONTINUE, "No question is open.")


def _resources(_world: World, _policy: ResumePolicy) -> Iterator[Finding]:
    yield Finding(Clause.RESOURCES, Ruling.NOT_JUDGED, "Handles are recorded; they were not probed.")


def _context(world: World, _policy: ResumePolicy) -> Iterator[Finding]:
    recorded, rebuilt = world.context
    yield Finding(Clause.CONTEXT, Ruling.NOT_JUDGED, f"{recorded} bytes recorded, {rebuilt} rebuilt.")


def _policy(_world: World, policy: ResumePolicy) -> Iterator[Finding]:
    yield Finding(Clause.POLICY, Ruling.CONTINUE, policy.paragraph())


_CLAUSES: Final = (
    _integrity,
    _lease,
    _state_version,
    _plan,
    _topology,
    _identity,
    _effects,
    _evidence,
    _permissions,
    _resources,
    _context,
    _policy,
)


def _said(value: Any) -> str:
    return "undeclared" if value is None or value == "" else str(value)


def _short(value: Any) -> str:
    return "absent" if value is None else str(value)[:16]
