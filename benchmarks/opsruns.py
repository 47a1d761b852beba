"""In how many ways can the same platform task be done well?

A task is a list of steps; a run does them in any allowed order, in batches or singly, in parts or at once,
in other words and notations each time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .opsworld import World

NAMES = [
    "search-api",
    "ledger-core",
    "edge2-proxy",
    "mailroom",
    "image-resizer",
    "geo-index",
    "cart",
    "auth-gw",
    "replay-svc",
    "catalog",
    "pricing",
    "notifier",
    "vault-sync",
    "fraud-score",
    "tax-engine",
    "media-cdn",
]
ROLES = ["reader", "operator", "deployer", "auditor"]
KEYS = ["pool.max", "timeout.read", "cache.ttl", "log.level", "retry.limit", "memory.limit"]
WORDS = [
    "Rolled out {} as planned.",
    "All steps for {} are through, nothing unusual.",
    "{} is done; see the change record.",
    "Change to {} applied, metrics look normal.",
    "Finished {}, moving on.",
    "No surprises with {} so far.",
]

Calls = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Task:
    """What is to be done, and the facts of the world."""

    id: str
    services: tuple[str, ...]
    facts: dict[str, dict[str, Any]]
    zone: str
    ticket: str
    channel: str


@dataclass
class Style:
    """How one run goes about it."""

    by_phase: bool
    bulk_grants: bool
    split_patch: bool
    split_delta: bool
    comments: int
    default_ttl: bool
    looks: float


@dataclass
class Step:
    """One goal of one service; `after` names the goals that must come before."""

    goal: str
    service: str
    after: tuple[str, ...] = ()


@dataclass
class Context:
    """What a run knows as it goes."""

    task: Task
    style: Style
    rng: random.Random
    servers: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, str] = field(default_factory=dict)


def make_task(number: int) -> Task:
    """A task by number."""
    rng = random.Random(f"task:{number}")
    services = tuple(rng.sample(NAMES, rng.randint(3, 7)))
    facts: dict[str, dict[str, Any]] = {}
    for s in services:
        facts[s] = {
            "owner": rng.choice(["core", "growth", "data"]),
            "size": rng.choice(["small", "medium", "large"]),
            "region": rng.choice(["eu-west", "us-east", "ap-south"]),
            "volume": f"vol-{rng.getrandbits(32):08x}",
            "ip": f"10.{rng.randint(1, 250)}.{rng.randint(1, 250)}.{rng.randint(2, 250)}",
            "host": f"node-{rng.randint(100, 999)}.dc{rng.randint(1, 4)}",
            "changes": {k: _setting(k, rng) for k in rng.sample(KEYS, rng.randint(2, 4))},
            "grants": [(f"svc:{s}", r) for r in rng.sample(ROLES, rng.randint(1, 2))],
            "delta": rng.choice([4, 6, 8, 10]),
            "day": f"2026-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
            "goals": sorted(rng.sample(["host", "flag", "job", "queue"], rng.randint(2, 4))),
        }
    return Task(
        f"ops-{number}",
        services,
        facts,
        f"z{rng.randint(1000, 9999)}.example.net",
        f"OPS-{rng.randint(100, 9999)}",
        rng.choice(["#deploys", "#platform", "#oncall-eu"]),
    )


def _setting(key: str, rng: random.Random) -> Any:
    if key == "log.level":
        return rng.choice(["info", "warn", "debug"])
    if key == "memory.limit":
        return f"{rng.choice([256, 512, 768])}MB"
    return rng.randint(2, 900)


def make_style(rng: random.Random) -> Style:
    """A way of working."""
    return Style(
        rng.random() < 0.4,
        rng.random() < 0.4,
        rng.random() < 0.4,
        rng.random() < 0.3,
        rng.randint(1, 3),
        rng.random() < 0.5,
        rng.choice([0.2, 0.6, 1.0]),
    )


def steps_of(task: Task) -> list[Step]:
    """The goals of a task."""
    out: list[Step] = []
    for s in task.services:
        out += [
            Step("create", s),
            Step("attach", s, ("create",)),
            Step("dns", s),
            Step("config", s),
            Step("grant", s),
        ]
        wanted = task.facts[s]["goals"]
        out += (
            [Step("queue", s)] * ("queue" in wanted)
            + [Step("flag", s)] * ("flag" in wanted)
            + [Step("job", s)] * ("job" in wanted)
        )
        if "host" in wanted:
            out += [Step("drain", s), Step("restart", s, ("drain",))]
    return out


def ordered(steps: list[Step], style: Style, rng: random.Random) -> list[Step]:
    """The steps in an order of this style that keeps what must come before what."""
    services = list(dict.fromkeys(s.service for s in steps))
    rng.shuffle(services)
    place = {s: n for n, s in enumerate(services)}
    rank = {
        g: rng.random()
        for g in ("create", "attach", "dns", "config", "grant", "queue", "flag", "job", "drain", "restart")
    }
    rank["attach"] = max(rank["attach"], rank["create"] + 0.01)
    rank["restart"] = max(rank["restart"], rank["drain"] + 0.01)
    key: Callable[[Step], Any] = (
        (lambda s: (rank[s.goal], place[s.service]))
        if style.by_phase
        else (lambda s: (place[s.service], rank[s.goal]))
    )
    return sorted(steps, key=key)


def calls_of(step: Step, ctx: Context, todo: list[Step]) -> Iterator[Calls]:
    """The calls of one step, in the bundles they are made in; a bulk grant does those of later services too."""
    f, s, style, rng = ctx.task.facts[step.service], step.service, ctx.style, ctx.rng
    if step.goal == "create":
        yield [
            ("service.describe", {"service": s}),
            (
                "vm.create",
                {
                    "service": s,
                    "size": f["size"],
                    "placement": {"region": f["region"]},
                    "clientToken": f"{rng.getrandbits(64):016x}",
                },
            ),
        ]
    elif step.goal == "attach":
        yield [
            (
                "vm.attachVolume",
                {
                    "instanceId": ctx.servers.get(s, "i-unknown"),
                    "volumeId": f["volume"],
                    "device": "/dev/sdf",
                },
            )
        ]
    elif step.goal == "dns":
        record: dict[str, Any] = {"name": f"{s}.svc", "type": "A", "values": [f["ip"]]}
        if not style.default_ttl:
            record["ttl"] = 300
        yield [("ipam.lookup", {"service": s}), ("dns.upsert", {"zone": ctx.task.zone, "record": record})]
    elif step.goal == "config":
        items = list(f["changes"].items())
        rng.shuffle(items)
        parts = [[i] for i in items] if style.split_patch else [items]
        yield [("config.show", {"service": s})] * (rng.random() < style.looks)
        yield [("config.patch", {"service": s, "changes": dict(p)}) for p in parts]
    elif step.goal == "grant":
        pairs = list(f["grants"])
        if style.bulk_grants:
            for other in [t for t in todo if t.goal == "grant"]:
                pairs += ctx.task.facts[other.service]["grants"]
                todo.remove(other)
            rng.shuffle(pairs)
            yield [("iam.grantBulk", {"bindings": [{"principal": p, "role": r} for p, r in pairs]})]
        else:
            yield [("iam.grant", {"principal": p, "role": r}) for p, r in pairs]
    elif step.goal == "queue":
        first = rng.randint(1, f["delta"] - 1)
        parts = [first, f["delta"] - first] if style.split_delta else [f["delta"]]
        yield [("queue.depth", {"queue": f"{s}.jobs"})] * (rng.random() < style.looks)
        yield [("queue.scale", {"queue": f"{s}.jobs", "delta": d}) for d in parts]
    elif step.goal == "flag":
        yield [("flag.set", {"flag": f"{s}/new-path", "enabled": True})]
    elif step.goal == "job":
        yield [("job.start", {"jobName": f"snapshot-{s}", "window": {"day": f["day"], "slot": "night"}})]
        yield [("job.status", {"jobId": ctx.jobs.get(s, "job-?")})]
    elif step.goal in {"drain", "restart"}:
        yield [("host.status", {"host": f["host"]})] * (rng.random() < style.looks)
        yield [(f"host.{step.goal}", {"host": f["host"]})]


def as_planned(step: Step, name: str, args: dict[str, Any]) -> Calls:
    """Make the call as it is."""
    return [(name, args)]


def play(
    ctx: Context,
    world: World,
    steps: list[Step],
    edit: Callable[[Step, str, dict[str, Any]], Calls] = as_planned,
) -> Iterator[dict[str, Any]]:
    """Do the steps; yields each call record as it is made. Ends with the comments and the post.

    *edit* sees every call before it is made and says which calls are made in its place.
    """
    task, style, rng = ctx.task, ctx.style, ctx.rng
    todo = ordered(steps, style, rng)
    said = 0
    while todo:
        step = todo.pop(0)
        for bundle in calls_of(step, ctx, todo):
            for name, args in [made for planned in bundle for made in edit(step, *planned)]:
                record = world.call(name, args)
                _note(step, record, ctx)
                yield {**record, "_step": f"{step.goal}:{step.service}"}
                while name == "job.status" and record["result"]["state"] == "RUNNING":
                    record = world.call(name, args)
                    yield {**record, "_step": f"{step.goal}:{step.service}"}
        if said < style.comments and rng.random() < 0.2:
            said += 1
            yield {
                **world.call(
                    "ticket.comment",
                    {
                        "key": task.ticket,
                        "body": f"{rng.choice(WORDS).format(step.service)} {step.goal}: {len(todo)} steps left.",
                    },
                ),
                "_step": "comment",
            }
    for goal, name, args in (
        (
            "comment",
            "ticket.comment",
            {"key": task.ticket, "body": rng.choice(WORDS).format(", ".join(task.services))},
        ),
        ("post", "chat.post", {"channel": task.channel, "text": rng.choice(WORDS).format(task.ticket)}),
    ):
        for made in edit(Step(goal, ""), name, args):
            yield {**world.call(*made), "_step": goal}


def _note(step: Step, record: dict[str, Any], ctx: Context) -> None:
    if record["name"] == "vm.create":
        ctx.servers[step.service] = record["result"]["instance"]["instanceId"]
    if record["name"] == "job.start":
        ctx.jobs[step.service] = record["result"]["jobId"]


def whole_run(task: Task, seed: str) -> tuple[list[dict[str, Any]], World]:
    """One successful run from the start."""
    rng = random.Random(seed)
    world = World(task.facts, random.Random(f"{seed}:ids"))
    style = make_style(rng)
    ctx = Context(task, style, rng)
    return list(play(ctx, world, steps_of(task))), world
