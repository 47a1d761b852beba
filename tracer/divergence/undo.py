"""Does this call take back an earlier one?"""

from __future__ import annotations

from typing import Final

from .lexicon import words

PAIRS: Final = (
    ("create", "delete"),
    ("create", "cancel"),
    ("create", "void"),
    ("create", "remove"),
    ("add", "remove"),
    ("add", "delete"),
    ("open", "close"),
    ("hold", "release"),
    ("hold", "unhold"),
    ("lock", "unlock"),
    ("enable", "disable"),
    ("book", "cancel"),
    ("schedule", "cancel"),
    ("schedule", "unschedule"),
    ("reserve", "release"),
    ("reserve", "cancel"),
    ("assign", "unassign"),
    ("grant", "revoke"),
    ("attach", "detach"),
    ("subscribe", "unsubscribe"),
    ("start", "stop"),
    ("pause", "resume"),
    ("suspend", "resume"),
    ("publish", "unpublish"),
    ("archive", "restore"),
    ("archive", "unarchive"),
    ("delete", "restore"),
    ("block", "unblock"),
    ("deposit", "withdraw"),
    ("debit", "credit"),
    ("increment", "decrement"),
    ("increase", "decrease"),
    ("approve", "unapprove"),
    ("approve", "reject"),
    ("approve", "revoke"),
    ("activate", "deactivate"),
    ("register", "unregister"),
    ("register", "deregister"),
    ("mount", "unmount"),
    ("link", "unlink"),
    ("tag", "untag"),
    ("mute", "unmute"),
    ("allocate", "release"),
    ("allocate", "deallocate"),
    ("connect", "disconnect"),
    ("install", "uninstall"),
    ("charge", "refund"),
    ("pay", "refund"),
    ("issue", "void"),
    ("issue", "revoke"),
    ("place", "cancel"),
    ("submit", "withdraw"),
    ("submit", "cancel"),
    ("join", "leave"),
    ("enroll", "unenroll"),
    ("enrol", "unenrol"),
    ("order", "cancel"),
    ("close", "reopen"),
    ("post", "reverse"),
    ("transfer", "reverse"),
    ("promote", "demote"),
    ("push", "pop"),
    ("check", "uncheck"),
    ("flag", "unflag"),
    ("apply", "rollback"),
    ("deploy", "rollback"),
    ("upload", "delete"),
    ("insert", "delete"),
    ("write", "delete"),
    ("set", "clear"),
    ("set", "unset"),
    ("send", "recall"),
    ("invite", "uninvite"),
    ("request", "cancel"),
    ("dispatch", "recall"),
    ("append", "remove"),
    ("append", "delete"),
    ("write", "remove"),
    ("register", "yank"),
    ("publish", "yank"),
    ("credit", "debit"),
)

_BACK: Final = {
    **dict.fromkeys(PAIRS, True),
    **{(b, a): True for a, b in PAIRS if b not in {"cancel", "void", "refund", "delete"}},
}

UNDO: Final = words(
    "undo revert rollback reverse void cancel delete remove revoke withdraw release yank retract rescind discard purge "
    "wipe kill abort recall retire undeploy unpublish unlist teardown destroy drop"
)
"""Verbs that take back whatever handed out the identifier they name."""


def takes_back(later: str, earlier: str) -> bool:
    """Does the tool *later* undo the tool *earlier*, by their names? Both act on the same record."""
    one, two = earlier.split("_"), later.split("_")
    for verb in one:
        for other in two:
            if (verb, other) in _BACK or other in {"un" + verb, "de" + verb, "dis" + verb}:
                rest = set(one) - {verb}
                mine = set(two) - {other}
                if not rest or not mine or rest & mine:
                    return True
    return two[0] in {"undo", "revert", "rollback"}


def opposed(one: str, two: str) -> bool:
    """Is one of two tools what takes the other back?"""
    first, second = one.partition("_")[0], two.partition("_")[0]
    return (first, second) in _BACK or (second, first) in _BACK


def takes_back_born(later: str) -> bool:
    """Does this tool undo what handed out the identifier that it names?"""
    return any(word in UNDO for word in later.split("_"))
