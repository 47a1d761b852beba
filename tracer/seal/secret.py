"""How does a program refer to a secret that it must not store?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from ..errors import ConfigError, SecretMissing
from .patterns import SHORTEST

RESOLVERS: Final[dict[str, Callable[[str], str | None]]] = {}
"""Scheme -> how to look a name up. `keys` adds `env`; this module itself reads nothing."""

REVEALED: Final[list[str]] = []
"""Values handed out by `Secret.reveal` in this process; secrets wherever they turn up. Only grows."""
LITERALS: Final = 1000
"""Secrets remembered by value, at most."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A reference to a secret, stored as the reference and resolved again after a resume.

    `Secret("env:LLM_KEY")`; `reveal()` gives the value, everything else shows the reference only.
    """

    reference: str
    __waypost_atom__: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scheme, colon, name = self.reference.partition(":")
        if not colon or not name or not scheme.isalnum():
            # What was given is perhaps the secret itself, so it is not shown.
            raise ConfigError(
                f'A Secret is a reference such as "env:NAME", not {len(self.reference)} characters of it.'
            )

    def reveal(self) -> str:
        """The value, looked up now.

        Raises:
            SecretMissing: it does not resolve in this process.
        """
        scheme, _, name = self.reference.partition(":")
        if scheme not in RESOLVERS:
            raise SecretMissing(
                self.reference, f"nothing resolves {scheme!r}, only {', '.join(RESOLVERS) or 'nothing'}."
            )
        value = RESOLVERS[scheme](name)
        if not value:
            raise SecretMissing(
                self.reference, f"{name} is {'empty' if value == '' else 'not set'}; set it and resume again."
            )
        if len(value) >= SHORTEST and value not in REVEALED and len(REVEALED) < LITERALS:
            REVEALED.append(value)
        return value
