"""Did every effect happen, and none twice? Asked of what the ticket service itself wrote down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from examples.licence_audit.ticket_store import Request, Ticket

Effect = tuple[str, str]
"""(dist, rule): what makes two tickets the same, however they are worded."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The service's tickets held against the effects that should have happened."""

    duplicated: tuple[Effect, ...]
    """Effects with more than one ticket, once per surplus ticket; sorted."""
    missing: tuple[Effect, ...]
    """Wanted effects without a ticket; sorted."""
    unwanted: tuple[Effect, ...]
    """Tickets for effects that nobody wanted; sorted."""
    requests: int
    """Requests the service committed."""
    repeats: int
    """Requests that were answered with a ticket opened before."""
    reworded: int
    """Repeats whose text differs from that of the ticket."""

    @property
    def clean(self) -> bool:
        """Say whether every wanted effect happened exactly once, and no other."""
        return not (self.duplicated or self.missing or self.unwanted)


def tally_of(wanted: Iterable[Effect], tickets: Iterable[Ticket], requests: Iterable[Request]) -> Tally:
    """Compare the *wanted* effects with what the service has."""
    expected, opened = set(wanted), list(tickets)
    happened = Counter((ticket.dist, ticket.rule) for ticket in opened)
    first = {ticket.number: ticket.text for ticket in opened}
    seen, came = set[int](), list(requests)
    repeats = []
    for request in came:
        if request.ticket in seen:
            repeats.append(request)
        seen.add(request.ticket)
    return Tally(
        duplicated=tuple(sorted((happened - Counter(set(happened))).elements())),
        missing=tuple(sorted(expected - set(happened))),
        unwanted=tuple(sorted(set(happened) - expected)),
        requests=len(came),
        repeats=len(repeats),
        reworded=sum(request.text != first.get(request.ticket) for request in repeats),
    )
