"""Did this call change anything?

A call that was refused, rehearsed, answered from a stored result, or that says itself that nothing
changed is no effect; an answer nobody recorded is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from .leaf import Leaf, leaf
from .lexicon import words
from .rows import name_of

DONE, FAILED, UNKNOWN, NOTHING, REPLAYED = "done", "failed", "unknown", "nothing", "replayed"

REHEARSAL: Final = words(
    "dryrun simulate simulation simulated preview previewonly validateonly checkonly whatif testrun "
    "rehearse noop"
)
"""Arguments that, when true, ask for no effect."""

_COUNTED: Final = words(
    "changed modified applied created updated inserted deleted removed affected executed performed "
    "committed rowsaffected rowaffected affectedrow modifiedcount updatedcount changedcount rowcount "
    "matchedcount"
)
_DENIES: Final = words(
    "dryrun simulated preview duplicate deduplicated deduped replayed idempotentreplay noop unchanged "
    "nochange alreadyexist alreadyexists alreadydone alreadyapplied alreadyprocessed already notmodified "
    "skipped"
)
_IDLE: Final = words(
    "noop nochange unchanged notmodified alreadyexists alreadydone alreadyapplied alreadyprocessed "
    "already duplicate skipped dryrun simulated ignored"
)
_REFUSED: Final = words(
    "error failed failure rejected denied invalid notfound forbidden declined unauthorized timeout conflict"
)
_SPARED: Final = words(
    "skipped failed error rejected unchanged notfound ignored duplicate already alreadydone alreadyexist"
)
_STATUS: Final = words("statu state outcome result code statuscode httpstatu")

_FAILS: Final = re.compile(r"\s*(error|exception|traceback|failed|failure|fatal)\b", re.IGNORECASE)
_IDLES: Final = re.compile(
    r"\b(already (exists?|done|applied|processed|present|set|in place|up to date)|"
    r"no changes?( (made|needed|required))?|"
    r"nothing (to do|changed|to change)|dry[- ]run|not executed|no-?op|unchanged)\b",
    re.IGNORECASE,
)
_PASSING: Final = re.compile(
    r"\b(429|502|503|504|time[d ]?-?out|rate.?limit|too many requests|retry|unavailable|temporar|connection|reset|"
    r"overload|throttl|busy|try again)",
    re.IGNORECASE,
)


def outcome(record: Mapping[str, object], fields: list[tuple[str, Leaf]], tool: str, result: object) -> str:
    """One of DONE, FAILED, UNKNOWN, NOTHING, REPLAYED. *result* is the parsed result, *tool* the plain name."""
    if record.get("replayed"):
        return REPLAYED
    if any(path.rpartition(".")[2] in REHEARSAL and _true(found) for path, found in fields):
        return NOTHING
    ok = record.get("ok", True)
    if record.get("in_flight") or ok is None:
        return UNKNOWN
    if not ok:
        return FAILED
    said = {found.norm for _, found in fields}
    if isinstance(result, Mapping):
        return _of_record(result, said, tool)
    if isinstance(result, str):
        head = result[:300]
        # A recorder that says `ok` has seen more than the wording of the answer.
        if _FAILS.match(head) and "ok" not in record:
            return FAILED
        if len(result) <= 300 and _IDLES.search(head):
            return NOTHING
    return DONE


def passing(result: object) -> bool:
    """Does this failure look like one that a second try may not meet again?"""
    return bool(_PASSING.search(str(result)[:500])) if result not in (None, "") else False


def spared(result: object) -> frozenset[str]:
    """Norms of the members of a batch that the answer itself lists as not done."""
    out: set[str] = set()
    for record in _members(result):
        if _refused(record):
            for scalar in record.values():
                found = (
                    leaf(scalar) if isinstance(scalar, (str, int)) and not isinstance(scalar, bool) else None
                )
                if found is not None and (
                    found.kind == "id" or (found.kind == "number" and len(found.norm) >= 4)
                ):
                    out.add(found.norm)
    if isinstance(result, Mapping):
        for key, value in list(result.items())[:50]:
            if (
                name_of(key) in _SPARED or name_of(key).startswith(("fail", "unproc", "reject", "not"))
            ) and isinstance(value, (list, tuple)):
                for item in value[:2_000]:
                    for scalar in item.values() if isinstance(item, Mapping) else (item,):
                        found = leaf(scalar) if isinstance(scalar, (str, int)) else None
                        if found is not None and found.kind in {"id", "number"}:
                            out.add(found.norm)
    return frozenset(out)


def _members(result: object) -> list[Mapping[object, object]]:
    """What an answer says member by member."""
    if isinstance(result, Mapping):
        lists = [value for value in list(result.values())[:50] if isinstance(value, (list, tuple))]
    else:
        lists = [result] if isinstance(result, (list, tuple)) else []
    return [record for some in lists for record in some[:2_000] if isinstance(record, Mapping)]


def _refused(record: Mapping[object, object]) -> bool:
    for key, value in list(record.items())[:30]:
        name = name_of(key)
        if name in {"ok", "success", "succeeded"} and value is False:
            return True
        if name in {"error", "errorcode", "errormessage"} and value:
            return True
        if name in _STATUS and isinstance(value, int) and not isinstance(value, bool) and value >= 400:
            return True
        if name in _STATUS and isinstance(value, str):
            word = "".join(c for c in value.casefold() if c.isalnum())
            if word in _REFUSED or word in _SPARED:
                return True
    return False


def _of_record(result: Mapping[object, object], said: set[str], tool: str) -> str:
    for key, value in list(result.items())[:50]:
        name = name_of(key)
        if name in {"success", "ok", "succeeded"} and value is False:
            return FAILED
        if name == "error" and value and not isinstance(value, bool) and not isinstance(value, (list, tuple)):
            return FAILED
        if name in _COUNTED and (value is False or (isinstance(value, int) and value == 0)):
            return NOTHING
        if name in _DENIES and value is True:
            return NOTHING
        if name in _STATUS and isinstance(value, str):
            word = "".join(c for c in value.casefold() if c.isalnum())
            # reject_claim answers "rejected" when it worked.
            wanted = word[:5] in tool or word in said
            if word in _IDLE and not wanted:
                return NOTHING
            if word in _REFUSED and not wanted:
                return FAILED
        if name == "message" and isinstance(value, str) and len(value) <= 200 and _IDLES.search(value):
            return NOTHING
    return DONE


def _true(found: Leaf) -> bool:
    return found.norm in {"true", "1", "yes"}
