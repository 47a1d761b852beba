"""What does a tool's name say that it does, and to what?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from .lexicon import words
from .rows import name_of

SYNONYMS: Final = {
    **dict.fromkeys(("add", "insert", "upsert", "new", "make"), "create"),
    **dict.fromkeys(("modify", "edit", "change", "patch", "put", "amend"), "update"),
    "remove": "delete",
}
"""Verbs that two versions of one tool are named by."""

MAKES: Final = words(
    "create open register book schedule place log file record enter raise issue generate post append upload order "
    "reserve request submit start launch write save publish draft attach link tag label apply prescribe pay transfer "
    "charge invite enroll import run trigger adjust move"
)
SETS: Final = words(
    "update set assign replace rename configure write save upsert reschedule transition mark resize relabel alter "
    "switch patch"
)
SAYS: Final = words(
    "send post notify email message mail deliver publish text reply dispatch comment inform announce"
)
DROPS: Final = words(
    "delete cancel void drop purge destroy revoke withdraw unassign clear unset yank retract "
    "rescind discard wipe"
)
OTHERS: Final = words(
    "approve reject close reopen archive restore merge sign confirm accept decline deny suspend resume enable disable "
    "block unblock lock unlock release hold refund reverse settle escalate stop pause commit push deploy rollback "
    "promote demote expire finalize complete finish activate deactivate freeze unfreeze quarantine scrap ship return "
    "exchange renew grant pause rotate drain cordon scale restart detach unlink untag unlabel subscribe unsubscribe "
    "read get list find search fetch lookup query check verify validate describe show view count browse poll"
)
VERBS: Final = frozenset({*SYNONYMS, *MAKES, *SETS, *SAYS, *DROPS, *OTHERS})

FILLERS: Final = words("bulk batch multi many mcp api rest")

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def parts(name: str) -> list[str]:
    """The words of a tool's name, in the singular and in lower case."""
    return [name_of(word) for word in re.split(r"[\W_]+", _CAMEL.sub("_", name)) if word]


def family(name: str) -> str:
    """approveInvoices, approve_invoice and bulk_approve_invoices are one tool; so are add_item, insert_item and
    item.add. Where a noun follows the verb, what stands before it names a system: calendar_insert_event.
    """
    before, _, last = name[:200].replace("::", ".").rpartition("__")[2].rpartition(".")
    named = parts(last)
    if before and len(named) == 1 and named[0] in VERBS:  # reserves.set: the last part is the verb.
        single = [named[0], *parts(before.rpartition(".")[2])]
    else:
        single = parts(name[:200].rpartition("__")[2])
    kept = [w for w in single if w not in FILLERS]
    kept = kept if len(kept) >= 2 else single
    places = [n for n, word in enumerate(kept) if word in VERBS]
    place = next((n for n in places if n < len(kept) - 1), places[0] if places else None)
    if place is not None:
        kept = [kept[place], *(kept[place + 1 :] or kept[:place])]
    if len(kept) >= 2:
        kept = [SYNONYMS.get(kept[0], kept[0]), *kept[1:]]
    return "_".join(kept) or " ".join(name[:200].casefold().split())


def noun(tool: str) -> str:
    """What a tool acts on; its whole name where that says no more."""
    return tool.partition("_")[2] or tool


_SAME: Final = {"mail": "message", "email": "message", "msg": "message", "draft": "message", "tag": "label"}


def nouns_of(tool: str) -> set[str]:
    """The words for what a tool acts on."""
    return {_SAME.get(word, word) for word in tool.split("_")[1:]} - {"to", "of", "for", "by", "in", "and"}


STEP: Final = ("delta", "increment", "decrement", "adjustment", "change", "by")
"""Endings of the names of amounts that a call adds, whatever its verb."""


def akin(one: set[str], two: set[str]) -> bool:
    """May two things have been done by the same kind of verb, as far as their names tell?"""
    return not one or not two or bool(one & two)


def verbs_of(tool: str, fields: Iterable[tuple[str, object]] = ()) -> set[str]:
    """The kinds of verbs of a tool, and of what was done to its thing: make, set, say, drop, or the verb itself."""
    out = _kinds(tool)
    for path, _ in fields:
        if path.startswith("!"):
            out |= _kinds(path[1:])
    return out


def _kinds(tool: str) -> set[str]:
    for word in tool.split("_"):
        kinds = {
            kind
            for kind, some in (("make", MAKES), ("set", SETS), ("say", SAYS), ("drop", DROPS))
            if word in some or SYNONYMS.get(word) in some
        }
        if word in OTHERS:
            kinds.add(word)
        if kinds:
            return kinds
    return set()
