"""What can go wrong in the example, and what is to be done about it?

One small tree; as in `tracer.errors`, the docstring of a class is the first sentence of its message.

    AuditError
    ├── InterpreterUnusable    --python names no interpreter that lists its distributions
    ├── TicketRefused          the service said no before it acted
    │   └── ServiceAbsent      … nothing was sent at all
    ├── AnswerLost             the service may have acted, nobody can say
    ├── KeyUsedForAnother      an idempotency key came twice for different tickets
    ├── NothingAsked           an approval without a question
    └── DemoFailed             the demonstration could not be carried out
        ├── TooFewProblems, ServiceDidNotStart
        └── NeverEnded, TrialFailed, NothingToMistake
"""

from __future__ import annotations


class AuditError(Exception):
    """The licence audit cannot go on."""

    def __init__(self, detail: str = "") -> None:
        said = " ".join((type(self).__doc__ or type(self).__name__).split())
        super().__init__(f"{said} {detail}".rstrip())


class InterpreterUnusable(AuditError):
    """The interpreter named with --python cannot list its distributions. Give the path of a Python 3.8+."""

    def __init__(self, python: str, seen: str) -> None:
        super().__init__(f"Asked {python!r}, saw: {seen}")
        self.python, self.seen = python, seen


class TicketRefused(AuditError):
    """The ticket service refused before it acted: no ticket was opened."""


class ServiceAbsent(TicketRefused):
    """The ticket service cannot be reached, nothing was sent. Name a running one in LICENCE_AUDIT_TICKETS."""

    def __init__(self, url: str, seen: str) -> None:
        super().__init__(f"Tried {url or 'no address'}: {seen}")
        self.url = url


class AnswerLost(AuditError):
    """The request went out and no answer came back: whether there is a ticket now is not known."""

    def __init__(self, url: str, dist: str, rule: str, seen: str) -> None:
        super().__init__(f"{url}, {dist}, {rule}: {seen}")
        self.url, self.dist, self.rule = url, dist, rule


class KeyUsedForAnother(AuditError):
    """The idempotency key already belongs to a ticket about something else. Send a key of its own."""

    def __init__(self, key: str, dist: str, rule: str) -> None:
        super().__init__(f"Key {key!r} belongs to {dist}, {rule}.")
        self.key = key


class NothingAsked(AuditError):
    """The run waits for no answer, so there is nothing to approve."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"Run {run_id}.")
        self.run_id = run_id


class DemoFailed(AuditError):
    """The demonstration could not be carried out."""


class TooFewProblems(DemoFailed):
    """The environment has too few licence problems to show anything. Name a larger one with --python."""

    def __init__(self, found: int, distributions: int, fewest: int) -> None:
        super().__init__(f"Found {found} in {distributions} distributions, need {fewest}.")
        self.found = found


class ServiceDidNotStart(DemoFailed):
    """The ticket service did not say where it listens. Its standard error, above, says why."""


class NeverEnded(DemoFailed):
    """A life of the agent did not end in time and was killed. Its standard error, above, says how far it came."""

    def __init__(self, run_id: str, seconds: float) -> None:
        super().__init__(f"Run {run_id}, {seconds:.0f} s.")
        self.run_id = run_id


class TrialFailed(DemoFailed):
    """The trial did not go as planned, so it shows nothing."""

    def __init__(self, run_id: str, seen: str) -> None:
        super().__init__(f"Run {run_id}: {seen}.")
        self.run_id, self.seen = run_id, seen


class NothingToMistake(DemoFailed):
    """No distribution can be taken for another: those left all have the same problems. Audit another environment."""

    def __init__(self, after: str) -> None:
        super().__init__(f"Looked behind {after}.")
        self.after = after
