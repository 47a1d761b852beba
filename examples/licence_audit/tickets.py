"""How does the agent ask the ticket service for a ticket, and what does it know when no answer comes?"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from examples.licence_audit.errors import AnswerLost, ServiceAbsent, TicketRefused

ANSWER_SECONDS = 90.0
CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Opened:
    """What the service answered."""

    number: int
    new: bool
    """False when the key was known: the ticket of an earlier request."""


def open_at(url: str, dist: str, rule: str, text: str, key: str) -> Opened:
    """Ask the service at *url* for a ticket under the idempotency key *key*.

    Raises ServiceAbsent or TicketRefused when no ticket was opened, AnswerLost when nobody can say.
    """
    address = urlsplit(url)
    if address.scheme != "http" or address.hostname is None:
        raise ServiceAbsent(url, "not an http address")
    line = http.client.HTTPConnection(address.hostname, address.port, timeout=CONNECT_SECONDS)
    try:
        try:
            line.connect()
        except OSError as error:
            raise ServiceAbsent(url, str(error)) from error
        line.sock.settimeout(ANSWER_SECONDS)
        body = json.dumps({"dist": dist, "rule": rule, "text": text}).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        try:
            line.request("POST", "/tickets", body, headers)
            answer = line.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise AnswerLost(url, dist, rule, f"{type(error).__name__}: {error}") from error
    finally:
        line.close()
    if answer.status not in (200, 201):
        if answer.status >= 500:
            # A server that failed half-way may have acted.
            raise AnswerLost(url, dist, rule, f"status {answer.status}")
        said = content[:300].decode("utf-8", errors="replace")
        raise TicketRefused(f"It answered {answer.status}: {said}")
    try:
        return Opened(int(json.loads(content)["number"]), answer.status == 201)
    except (ValueError, KeyError, TypeError) as error:
        raise AnswerLost(url, dist, rule, f"an answer without a ticket number ({error})") from error
