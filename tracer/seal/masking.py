"""What do people see where a secret stands?

`‹sealed sk 20·1a2b3c4d›`: the kind, the length, and the first digits of a keyed fingerprint, so that equal
secrets look equal in a diff and nothing can be computed back. Views are lossy; nothing here is ever loaded.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..types import Plain
from .assignments import LONGEST_NAME, sensitive
from .patterns import Span, classify, merged

Kinds = Callable[[str], tuple[str, int] | None]
"""Fingerprint -> (kind, length), or None where that is not known."""

_CARD: Final = re.compile(r"(?<![0-9])[0-9](?:[ -]?[0-9]){12,18}(?![0-9])")


PLACEHOLDER: Final = re.compile("(‹sealed(?: [a-z0-9_-]+ [0-9]+)?·[0-9a-f]{8}›)")
"""What `placeholder` makes, as one group."""


def placeholder(fingerprint: str, kind: str = "", length: int = 0) -> str:
    """The text that stands for one secret."""
    what = f" {kind} {length}" if kind else ""
    return f"‹sealed{what}·{fingerprint[:8]}›"


def masked_text(
    text: str, fingerprint: Callable[[str], str], spans: list[Span], *, cards: bool = True
) -> str:
    """*text* with *spans*, and (*cards*) what may be a card number, replaced."""
    spans = merged([*spans, *_cards(text)]) if cards else spans
    out: list[str] = []
    end = 0
    for start, stop, kind in spans:
        secret = text[start:stop]
        out += (
            text[end:start],
            placeholder(fingerprint(secret), kind if kind == "card" else classify(secret), len(secret)),
        )
        end = stop
    out.append(text[end:])
    return "".join(out)


def masked_plain(
    plain: Plain, mask: Callable[[str], str], fingerprint: Callable[[str], str], kinds: Kinds | None = None
) -> Plain:
    """*plain* with the same shape, its text and keys masked and its sealed parts shown as placeholders."""

    def whole(text: str) -> str:
        return placeholder(fingerprint(text), classify(text), len(text)) if text else text

    def sealed(part: dict[str, Any]) -> str:
        print_ = str(part["$sealed"])
        return placeholder(print_, *((kinds and kinds(print_)) or ()))

    def leaf(item: Any, name: str) -> Any:
        if type(item) is str:
            return whole(item) if name and sensitive(name) else mask(item)
        if type(item) is dict and len(item) == 1:
            if "$sealed" in item:
                return sealed(item)
            if type(item.get("$text")) is list:
                return "".join(
                    sealed(part) if type(part) is dict and "$sealed" in part else mask(str(part))
                    for part in item["$text"]
                )
            for tag in ("$bytes", "$bytearray"):
                if type(item.get(tag)) is str:
                    return {tag: _masked_bytes(item[tag], mask, whole if name and sensitive(name) else None)}
        return _MORE

    def shown(item: Any, name: str) -> Any:
        part = leaf(item, name)
        if part is not _MORE:
            return part
        if type(item) is not dict and type(item) is not list:
            return item
        copy: Any = {} if type(item) is dict else []
        stack.append((item, copy, name))
        return copy

    stack: list[tuple[Any, Any, str]] = []
    root = shown(plain, "")
    while stack:
        source, target, name = stack.pop()
        hot = bool(name) and sensitive(name)
        if type(source) is dict:
            for key, item in source.items():
                target[mask(key)] = shown(item, name if hot or key[:1] == "$" else key)
        else:
            pair = len(source) == 2 and type(source[0]) is str and len(source[0]) < LONGEST_NAME
            for place, item in enumerate(source):
                target.append(shown(item, source[0] if place and pair and not hot else name))
    return root  # type: ignore[no-any-return]


class _More:
    """This part has parts of its own."""


_MORE: Final = _More()


def _masked_bytes(text: str, mask: Callable[[str], str], whole: Callable[[str], str] | None) -> str:
    try:
        data = b64decode(text, validate=True).decode("latin-1")
    except NotBase64:
        return mask(text)
    if whole is not None:
        return whole(data)
    shown = mask(data)
    return text if shown == data else shown


def _cards(text: str) -> Iterator[Span]:
    """What passes as a card number. One in ten random numbers of 16 digits does, so it masks views only."""
    if len(text) < 13:
        return
    for match in _CARD.finditer(text):
        digits = [int(char) for char in match.group() if char.isdecimal()]
        doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
        if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0:
            yield match.start(), match.end(), "card"
