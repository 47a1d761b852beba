"""Which harmless noise lies on a platform run: other notations, refusals, rehearsals, thoughts, more reads?"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from .opsruns import Context

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def shape(value: Any, how: str, rng: random.Random) -> Any:
    """The same arguments in another notation."""
    if how == "json_text" and isinstance(value, (dict, list)) and rng.random() < 0.6:
        return json.dumps(value)
    if isinstance(value, dict):
        return {k: shape(v, how, rng) for k, v in rng.sample(sorted(value.items()), len(value))}
    if isinstance(value, list):
        return rng.sample([shape(v, how, rng) for v in value], len(value))
    if how == "notation" and isinstance(value, str):
        if len(value) == 10 and value[4] == value[7] == "-":
            y, m, d = value.split("-")
            return rng.choice([f"{int(d)} {MONTHS[int(m) - 1]} {y}", f"{y}/{m}/{d}", f"{value}T00:00:00Z"])
        return rng.choice([value, value.upper(), f" {value}"]) if not value.startswith("#") else value
    return (
        str(value) if how == "notation" and isinstance(value, int) and not isinstance(value, bool) else value
    )


def calm(
    kind: str, post: list[dict[str, Any]], pre: list[dict[str, Any]], ctx: Context, rng: random.Random
) -> list[dict[str, Any]]:
    """Harmless noise on a continuation that is already made."""
    out: list[dict[str, Any]] = []
    for call in post:
        new = copy.deepcopy(call)
        if kind in {"notation", "json_text"}:
            new["args"] = shape(new["args"], kind, rng)
        if kind == "defaults" and call["name"] in {"vm.create", "queue.scale", "iam.grant", "dns.upsert"}:
            new["args"] |= {"dryRun": False, "mode": "standard"}
        if kind == "request_ids":
            new["args"] |= {
                "requestId": f"{rng.getrandbits(60):x}",
                "ts": rng.randint(1_700_000_000, 1_800_000_000),
            }
        if kind == "refused" and rng.random() < 0.3:
            why = rng.choice(
                ["503 Service Unavailable", "ThrottlingException: rate exceeded", "429 too many requests"]
            )
            out += [{**copy.deepcopy(new), "ok": False, "result": why}] * rng.randint(1, 3)
        if kind == "rehearsed" and call["kind"] == "write" and rng.random() < 0.2:
            out.append(
                {**copy.deepcopy(new), "args": {**new["args"], "dryRun": True}, "result": {"wouldChange": 1}}
            )
        out.append(new)
        if kind == "resent" and call["name"] == "vm.create":
            out.append(copy.deepcopy(new))
        if kind == "thinking" and rng.random() < 0.5:
            out.append(
                {
                    "name": "reason",
                    "args": {"text": rng.choice(["next service", "check the plan again"])},
                    "kind": "internal",
                    "ok": True,
                    "result": "",
                }
            )
        if kind == "more_reads" and rng.random() < 0.4:
            reads = [c for c in pre + post if c["kind"] == "read" and c["name"] != "job.status"]
            if reads:
                out.append(copy.deepcopy(rng.choice(reads)))
        if kind == "comments" and rng.random() < 0.15:
            out.append(
                {
                    "name": "ticket.comment",
                    "args": {"key": ctx.task.ticket, "body": f"Progress: {len(out)} steps, all fine so far."},
                    "kind": "write",
                    "ok": True,
                    "result": {"commentId": str(rng.randint(10_000, 99_999))},
                }
            )
    return out
