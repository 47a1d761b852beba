"""What does a filter line ask for, and what was probably meant?

agent:audit,sync state:interrupted,lost state:!done since:24h alerts:>0 waiting:yes words of the objective
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final
from urllib.parse import urlencode

STATES: Final = (
    "running",
    "paused",
    "awaiting",
    "interrupted",
    "lost",
    "done",
    "failed",
    "aborted",
    "superseded",
    "quarantined",
)
"""States as they are shown; `awaiting`, `interrupted` and `lost` are read off the row, not stored."""
KEYS: Final = ("agent", "state", "since", "alerts", "waiting")
_SINCE: Final = re.compile(r"(\d{1,6})([smhdw])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_ALERTS: Final = re.compile(r">(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Problem:
    """A word of the filter that cannot be read."""

    word: str
    text: str
    known: str
    instead: str
    """The whole line as it was probably meant; empty when nothing is near."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to list."""

    line: str = ""
    agents: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    not_states: tuple[str, ...] = ()
    since_s: int = 0
    """Seconds back from now; 0 for ever."""
    alerts_over: int | None = None
    waiting: bool | None = None
    words: str = ""
    problem: Problem | None = None

    @property
    def derived(self) -> bool:
        """True when rows must be looked at to know whether they match."""
        return bool(
            set(self.states + self.not_states) & {"running", "paused", "awaiting", "interrupted", "lost"}
        )

    def stored_states(self) -> tuple[str, ...]:
        """The states in the store among which the wanted ones are; empty for all."""
        stored = {
            "awaiting": ("paused",),
            "interrupted": ("interrupted", "running"),
            "lost": ("lost", "running"),
        }
        return tuple(sorted({name for state in self.states for name in stored.get(state, (state,))}))

    def stored_not_states(self) -> tuple[str, ...]:
        """Stored states that are certainly unwanted."""
        plain = {"running", "paused", "awaiting", "interrupted", "lost"}
        return tuple(state for state in self.not_states if state not in plain)

    def keeps(self, state: str) -> bool:
        """True when a run shown in *state* belongs to the list."""
        return (not self.states or state in self.states) and state not in self.not_states


def parse(line: str) -> Query:
    """Read a filter line; the first word that cannot be read becomes its `problem`."""
    query = Query(line=line.strip())
    words: list[str] = []
    for token in line.split():
        key, colon, value = token.partition(":")
        if not colon or (not value and key not in KEYS):
            words.append(token)
            continue
        found = _take(query, key, value, token)
        if isinstance(found, Problem):
            return replace(query, problem=found)
        query = found
    return replace(query, words=" ".join(words))


def _take(query: Query, key: str, value: str, token: str) -> Query | Problem:
    if key == "agent":
        return replace(query, agents=query.agents + tuple(filter(None, value.split(","))))
    if key == "state":
        return _states(query, value, token)
    if key == "since":
        found = _SINCE.fullmatch(value)
        if not found:
            return Problem(
                value, "is not a time", "Times: 30m, 24h, 7d, 2w.", _instead(query, token, "since:24h")
            )
        return replace(query, since_s=int(found[1]) * _UNITS[found[2]])
    if key == "alerts":
        found = _ALERTS.fullmatch(value)
        if not found:
            return Problem(
                value, "is not a number of alerts", "Write alerts:>0.", _instead(query, token, "alerts:>0")
            )
        return replace(query, alerts_over=int(found[1]))
    if key == "waiting":
        if value not in ("yes", "no"):
            return Problem(
                value, "is neither yes nor no", "Write waiting:yes.", _instead(query, token, "waiting:yes")
            )
        return replace(query, waiting=value == "yes")
    near = get_close_matches(key, KEYS, 1, 0.5)
    instead = _instead(query, token, f"{near[0]}:{value}") if near else ""
    return Problem(key, "is nothing to filter by", f"Filters: {', '.join(KEYS)}, and plain words.", instead)


def _states(query: Query, value: str, token: str) -> Query | Problem:
    for word in filter(None, value.split(",")):
        name = word.removeprefix("!")
        if name not in STATES:
            near = get_close_matches(name, STATES, 1, 0.5)
            instead = _instead(query, token, token.replace(name, near[0])) if near else ""
            return Problem(name, "is not a state", f"States: {', '.join(STATES)}.", instead)
        if word.startswith("!"):
            query = replace(query, not_states=(*query.not_states, name))
        else:
            query = replace(query, states=(*query.states, name))
    return query


def _instead(query: Query, token: str, better: str) -> str:
    return " ".join(better if part == token else part for part in query.line.split())


def completions(
    line: str, agents: list[tuple[str, int]], states: dict[str, int]
) -> list[tuple[str, str, str]]:
    """(whole line, what is added, count) for the last word of *line*; at most six."""
    head, _, last = line.rpartition(" ")
    key, colon, value = last.partition(":")
    stem, comma, part = value.rpartition(",")
    options: list[tuple[str, str]]
    if key == "state" and colon:
        options = [(f"state:{stem}{comma}{s}", str(states.get(s, 0))) for s in STATES if s.startswith(part)]
    elif key == "agent" and colon:
        options = [(f"agent:{stem}{comma}{a}", str(n)) for a, n in agents if a.startswith(part)]
    elif last and not colon:
        options = [(f"{k}:", "") for k in KEYS if k.startswith(last)]
    else:
        options = []
    whole = [(f"{head} {word}".strip(), word, count) for word, count in options if word != last]
    return whole[:6]


def address(line: str = "", **more: str) -> str:
    """The address of the list for a filter line."""
    values = {"q": line, **more}
    kept = {name: value for name, value in values.items() if value}
    return f"/?{urlencode(kept)}" if kept else "/"
