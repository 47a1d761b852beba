"""What does a small platform team's world do when an agent calls its tools?

A simulated world for the divergence benchmark: servers, names, settings, grants, queues, jobs. It answers
calls as a real platform would (new identifiers each time, idempotency tokens honoured), and two runs ended
well when `settled` is equal. Nothing here is shared with the other two benchmarks.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

READS = frozenset(
    [
        "service.describe",
        "ipam.lookup",
        "vm.describe",
        "config.show",
        "iam.list",
        "job.status",
        "ticket.get",
        "queue.depth",
        "host.status",
    ]
)


@dataclass
class World:
    """The state, and a source of identifiers that differ in every run."""

    facts: Mapping[str, Mapping[str, Any]]
    rng: random.Random
    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: dict[tuple[str, str], tuple[Any, ...]] = field(default_factory=dict)
    settings: dict[tuple[str, str], Any] = field(default_factory=dict)
    grants: set[tuple[str, str]] = field(default_factory=set)
    queues: Counter[str] = field(default_factory=Counter)
    flags: dict[str, bool] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    posts: Counter[str] = field(default_factory=Counter)
    hosts: list[tuple[str, str]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)
    polls: Counter[str] = field(default_factory=Counter)

    def call(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """Execute one call; the record as a tracer would keep it."""
        kind = "read" if name in READS else "write"
        result = getattr(self, "_" + name.replace(".", "_"))(args)
        return {"name": name, "args": args, "kind": kind, "ok": True, "result": result}

    def settled(self) -> tuple[Any, ...]:
        """What counts in the end, identifiers of this run left out."""
        servers = sorted(
            (s["service"], s["size"], s["region"], tuple(sorted(s["volumes"]))) for s in self.servers.values()
        )
        jobs = sorted((j["job"], j["day"]) for j in self.jobs.values())
        queues = {q: n for q, n in self.queues.items() if n}
        return (
            servers,
            sorted(self.names.items()),
            sorted(self.settings.items()),
            sorted(self.grants),
            queues,
            sorted(self.flags.items()),
            jobs,
            sorted(self.posts.items()),
            sorted(self.removed),
        )

    def in_order(self) -> bool:
        """Was every host drained before it was restarted?"""
        drained: set[str] = set()
        for what, host in self.hosts:
            if what == "drain":
                drained.add(host)
            elif host not in drained:
                return False
        return True

    def fresh(self, prefix: str) -> str:
        """An identifier nobody has seen."""
        return f"{prefix}-{self.rng.getrandbits(40):010x}"

    def _service_describe(self, a: dict[str, Any]) -> dict[str, Any]:
        f = self.facts[a["service"]]
        return {
            "service": a["service"],
            "owner": f["owner"],
            "size": f["size"],
            "region": f["region"],
            "volume": f["volume"],
        }

    def _ipam_lookup(self, a: dict[str, Any]) -> dict[str, Any]:
        return {"service": a["service"], "address": self.facts[a["service"]]["ip"], "pool": "blue"}

    def _vm_describe(self, a: dict[str, Any]) -> dict[str, Any]:
        return {"instanceId": a["instanceId"], **self.servers.get(a["instanceId"], {"state": "absent"})}

    def _config_show(self, a: dict[str, Any]) -> dict[str, Any]:
        return {
            "service": a["service"],
            "values": {k: v for (s, k), v in self.settings.items() if s == a["service"]},
        }

    def _iam_list(self, a: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"principal": p, "role": r} for p, r in sorted(self.grants) if p == a["principal"]]

    def _job_status(self, a: dict[str, Any]) -> dict[str, Any]:
        self.polls[a["jobId"]] += 1
        ready = self.polls[a["jobId"]] >= self.jobs.get(a["jobId"], {}).get("polls", 3)
        return {"jobId": a["jobId"], "state": "SUCCEEDED" if ready else "RUNNING"}

    def _ticket_get(self, a: dict[str, Any]) -> dict[str, Any]:
        return {"key": a["key"], "status": "In Progress", "assignee": "platform-bot"}

    def _queue_depth(self, a: dict[str, Any]) -> dict[str, Any]:
        return {"queue": a["queue"], "consumers": 4 + self.queues[a["queue"]]}

    def _host_status(self, a: dict[str, Any]) -> dict[str, Any]:
        return {"host": a["host"], "drained": ("drain", a["host"]) in self.hosts}

    def _vm_create(self, a: dict[str, Any]) -> dict[str, Any]:
        token = a.get("clientToken")
        if token in self.tokens:
            return {"instance": {"instanceId": self.tokens[token], "state": "pending"}}
        new = self.fresh("i")
        self.tokens[token or new] = new
        self.servers[new] = {
            "service": a["service"],
            "size": a["size"],
            "region": a["placement"]["region"],
            "volumes": [],
        }
        return {"instance": {"instanceId": new, "state": "pending"}, "requestCharged": True}

    def _vm_attachVolume(self, a: dict[str, Any]) -> dict[str, Any]:
        server = self.servers.get(a["instanceId"])
        if server is not None:
            server["volumes"].append(a["volumeId"])
        return {"attachment": self.fresh("att"), "volumeId": a["volumeId"]}

    def _vm_terminate(self, a: dict[str, Any]) -> dict[str, Any]:
        self.removed.append(self.servers.pop(a["instanceId"], {"service": a["instanceId"]})["service"])
        return {"instanceId": a["instanceId"], "state": "shutting-down"}

    def _dns_upsert(self, a: dict[str, Any]) -> dict[str, Any]:
        r = a["record"]
        self.names[a["zone"], r["name"]] = (r["type"], int(r.get("ttl", 300)), tuple(sorted(r["values"])))
        return {"change": self.fresh("C"), "status": "INSYNC"}

    def _config_patch(self, a: dict[str, Any]) -> dict[str, Any]:
        for k, v in a["changes"].items():
            self.settings[a["service"], k] = v
        return {"service": a["service"], "revision": self.rng.randint(100, 99_999)}

    def _iam_grant(self, a: dict[str, Any]) -> dict[str, Any]:
        had = (a["principal"], a["role"]) in self.grants
        self.grants.add((a["principal"], a["role"]))
        return {"changed": not had}

    def _iam_grantBulk(self, a: dict[str, Any]) -> dict[str, Any]:
        for b in a["bindings"]:
            self.grants.add((b["principal"], b["role"]))
        return {"applied": len(a["bindings"])}

    def _iam_revoke(self, a: dict[str, Any]) -> dict[str, Any]:
        self.grants.discard((a["principal"], a["role"]))
        return {"changed": True}

    def _queue_scale(self, a: dict[str, Any]) -> dict[str, Any]:
        self.queues[a["queue"]] += int(a["delta"])
        return {"queue": a["queue"], "consumers": 4 + self.queues[a["queue"]]}

    def _host_drain(self, a: dict[str, Any]) -> dict[str, Any]:
        self.hosts.append(("drain", a["host"]))
        return {"host": a["host"], "accepted": True}

    def _host_restart(self, a: dict[str, Any]) -> dict[str, Any]:
        self.hosts.append(("restart", a["host"]))
        return {"host": a["host"], "accepted": True}

    def _flag_set(self, a: dict[str, Any]) -> dict[str, Any]:
        self.flags[a["flag"]] = a["enabled"] in {True, "true", "True"}
        return {"flag": a["flag"], "enabled": self.flags[a["flag"]]}

    def _job_start(self, a: dict[str, Any]) -> dict[str, Any]:
        new = self.fresh("job")
        self.jobs[new] = {"job": a["jobName"], "day": a["window"]["day"], "polls": self.rng.randint(2, 9)}
        return {"jobId": new, "state": "QUEUED"}

    def _chat_post(self, a: dict[str, Any]) -> dict[str, Any]:
        self.posts[a["channel"]] += 1
        return {"ts": f"{self.rng.randint(10**9, 2 * 10**9)}.{self.rng.randint(100, 999)}"}

    def _ticket_comment(self, a: dict[str, Any]) -> dict[str, Any]:
        return {"commentId": str(self.rng.randint(10_000, 99_999))}
