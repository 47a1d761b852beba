"""How does a value of the agent become bytes, and exactly the same value again?

    value  -- lower -->  plain  -- encode -->  bytes
    value  <-- lift --   plain  <-- decode --  bytes

*Plain* is what strict JSON holds. Whatever else a value has, its types above all, stands in tags such as
`{"$tuple": [1, 2]}`; `docs/formats.md` lists them. A value goes through exactly or is refused with its path.
Pure: no clock, no files, and no class is ever looked up by a name in the data.
"""

from __future__ import annotations

from typing import Any

from ..errors import NotStorable, UnknownType
from ..seal.assignments import plain_path
from ..types import REGISTRY, Plain, Registry
from .lifting import Lifting, Open
from .lowering import Lowering, Seal
from .wire import encode_sorted


def lower(
    value: Any,
    *,
    path: str = "$",
    seal: Seal | None = None,
    registry: Registry = REGISTRY,
    lost: list[NotStorable] | None = None,
) -> Plain:
    """The plain tree of *value*, sharing nothing mutable with it.

    *seal* is asked about every text, with the nearest dict key (`Vault.seal_text`). Where *lost* is given,
    what cannot be kept is noted there and marked in the tree, instead of raising: only for recording without
    a promise.

    Raises:
        NotStorable: a part that would not come back as itself; names its path, type and remedy.
        LimitExceeded: deeper than 1,000 containers, a cycle, more than 16 Mi members, over 256 MiB.
    """
    return Lowering(seal, registry, lost=lost).run(value, path if seal is None else plain_path(path), path)


def lift(
    plain: Plain,
    *,
    path: str = "$",
    open: Open | None = None,
    registry: Registry = REGISTRY,
    strict: bool = False,
    notes: list[str] | None = None,
) -> Any:
    """The value of *plain*, equal in value and type to what was lowered.

    *open* gives the secret of a fingerprint. A type that is not registered, or whose class no longer fits,
    becomes an `Opaque`, or is refused when *strict*. *notes* collects what a resume log should say: types
    that were loaded under another name, filled defaults, opaque parts.

    Raises:
        UnknownType: strict, and a type is not known.
        KeyMissing: a part is sealed and *open* is not given.
        IntegrityError: *plain* is nothing that `lower` ever made.
    """
    return Lifting(open, registry, notes=notes, strict=strict).run(plain, path)


def unknown_types(plain: Plain, *, path: str = "$", registry: Registry = REGISTRY) -> list[UnknownType]:
    """What `lift` could not load as itself. Opens no secret, so that a gate can ask before anything runs."""
    found: list[UnknownType] = []
    Lifting(lambda _: "", registry, unknown=found).run(plain, path)
    return sorted(found, key=lambda each: each.path)


def canonical(value: Any, *, registry: Registry = REGISTRY) -> bytes:
    """Bytes that are equal for equal values, whatever the order of their keys; 1, 1.0 and True stay apart.

    Holds secrets in clear: for a keyed digest (`Keys.arg_digest`) and never to be kept.

    Raises:
        NotStorable: as `lower`.
    """
    return encode_sorted(Lowering(None, registry, digest_only=True).run(value, "$", "$"))
