"""Which texts of an append does everybody read, and how do they get there without a secret in them?

The one choke point before the journal: the subject, mark and body of every entry and the text columns of every row
pass here. What must come back exactly (state, arguments, results) is sealed before and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from .errors import ConfigError
from .seal import REVEALED, masked_secrets

if TYPE_CHECKING:
    from .journal import Append

EXACT: Final = frozenset(
    {"root", "contract", "parent", "args", "result", "binding", "effect_id", "owner", "rows", "keys"}
)
"""Parts of a body that are lossless or are ids and digests of ours."""
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "insert run": ("objective",),
    "insert branch": ("plan", "step", "reason", "degraded"),
    "upsert call": ("call_key", "target", "error"),
    "insert approval": ("subject", "prompt"),
    "decide approval": ("decided_by", "why"),
    "upsert alert": ("sentence", "compared_with"),
    "decide alert": ("decided_by", "note"),
    "insert mute": ("muted_by", "note"),
}
"""Statement of `store.write` -> columns that hold what a program or a person worded."""
CHANGES: Final = ("plan", "step", "reason", "degraded")
"""The same of a branch."""
SHORT: Final = 64
"""Characters of a text that is remembered as clean: names of steps, kinds and types come again and again."""
REMEMBERED: Final = 4_096
Row = tuple[str, dict[str, Any]]


class Shown:
    """Masks texts for everybody, equal secrets of one store as equal placeholders.

    Only patterns that are sure of themselves count: what is masked here is lost, and one in ten random numbers
    could be that of a card.
    """

    def __init__(self, key: Callable[[], bytes | None] = lambda: None) -> None:
        self._key = key
        self._clean: set[str] = set()
        self._revealed = 0

    def __call__(self, text: str) -> str:
        """*text* with every secret in it as a placeholder; masking twice changes nothing more."""
        if len(text) > SHORT:
            return masked_secrets(text, self._fingerprint_key)
        if self._revealed != len(REVEALED):  # what was harmless may be known for a secret since
            self._revealed = len(REVEALED)
            self._clean.clear()
        if text in self._clean:
            return text
        shown = masked_secrets(text, self._fingerprint_key)
        if shown == text and len(self._clean) < REMEMBERED:
            self._clean.add(text)
        return shown

    def plain(self, value: Any) -> Any:
        """A copy of a plain value with its texts and keys masked."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {
                self(name) if isinstance(name, str) else name: self.plain(part)
                for name, part in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.plain(part) for part in value]
        return value

    def body(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of an entry, masked except the parts named in `EXACT`."""
        return {name: part if name in EXACT else self.plain(part) for name, part in body.items()}

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        """Rows as the store may hold them."""
        return [(name, self.columns(values, COLUMNS.get(name, ()))) for name, values in rows]

    def columns(self, values: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
        """*values* with the texts in the columns *names* masked."""
        masked = {
            name: self(values[name]) for name in names if isinstance(values.get(name), str) and values[name]
        }
        return {**values, **masked} if masked else values

    def clean(self, append: Append) -> None:
        """Mask in place what everybody will read of *append*."""
        for draft in append.drafts:
            draft.subject = self(draft.subject)
            draft.mark = self(draft.mark)
            draft.body = self.body(draft.body)
        append.rows = self.rows(append.rows)
        append.creates = self.rows(append.creates)
        append.changes = self.columns(append.changes, CHANGES)

    def _fingerprint_key(self) -> bytes | None:
        try:
            return self._key()
        except ConfigError:  # no usable key file is no reason to write a secret down
            return None
