"""What do all runs of one process share? The store, the journal, the keys, the exporter and the heart."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol
from weakref import WeakSet

from . import config
from .cleartext import Shown
from .config import Settings
from .errors import ConfigError, KeyMissing, StoreGone
from .journal import Journal
from .keys import Keys
from .lease import Heart, Standing, standing
from .seal import VERSION, Vault
from .signing import Signing
from .store import objects, read
from .store.blobs import Blobs, FolderBlobs
from .store.engine import Store, translated
from .telemetry.metrics import Metrics
from .telemetry.outbox import Outbox
from .telemetry.provider import Tracing
from .telemetry.shutdown import Farewell
from .tree import TreeReader

LOST: Final = (
    "no such file, and the runs of this store were written with it: without it no call is recognised and nothing"
    " sealed opens. On another host, copy it from the one that began them. If it is lost for good, these runs can be"
    " read and not resumed; begin new ones in a store of their own (WAYPOST_HOME)."
)


class Interruptible(Protocol):
    """A live segment, as the end of the process sees it."""

    def interrupt(self, reason: str) -> None:
        """End it in order, if it may still write."""

    def poison(self, error: BaseException) -> None:
        """It may not write any more."""


class Recorder:
    """One store as this process uses it. Closing it waits for the exporter, briefly."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store
        self.blobs: Blobs = FolderBlobs(settings.home_path / "blobs")
        self.signing = Signing(settings.chain_key_bytes(), settings.chain_key_name, self.keys_at_hand)
        self.shown = Shown(self._print_key)
        """Masks what everybody reads; the journal does it too, for what nobody else masked."""
        self.journal = Journal(store, blobs=self.blobs, signing=self.signing, shown=self.shown)
        self.tracing = Tracing.from_env()
        self.outbox = Outbox(store, self.journal, self.tracing, dead=owner_is_dead, mask_key=self.mask_key)
        self.metrics = Metrics(self._owed, lambda: self.outbox.refused)
        self.live: dict[tuple[str, str], Interruptible] = {}
        """The segments of this process that have not ended, by run and branch."""
        self._opening: list[tuple[str, str]] = []
        self.heart = Heart(self._beat)
        self.pid = os.getpid()
        self._keys: Keys | None = None
        self._farewell: Farewell | None = None
        self._making_keys = threading.Lock()
        _all.add(self)

    @classmethod
    def open(cls, settings: Settings, *, create: bool = True) -> Recorder:
        """Open the store that *settings* name.

        Raises:
            StoreMissing, SchemaTooOld, SchemaTooNew, StoreError: see `Store.open`.
            ConfigError: its folder cannot be made or used.
        """
        try:
            return cls(settings, Store.open(settings.store_url, create=create))
        except OSError as error:
            where = error.filename or settings.store_url
            raise ConfigError(
                f"The store {settings.store_url} cannot be opened: {where}: {error.strerror or error}. Set"
                " WAYPOST_HOME to a folder that this process may write."
            ) from error

    @property
    def keys(self) -> Keys:
        """The sealing and digest keys; the file is made at the first use of a store that has no run yet.

        Raises:
            KeyMissing: the runs of this store were written with a key file that is not here.
        """
        found = self.keys_at_hand()
        if found is not None:
            return found
        with translated(self.store.url), self.store.reader.connect() as connection:
            used = read.count_runs(connection) > 0
        with self._making_keys:
            if self._keys is None:
                make = Keys.load if used else Keys.load_or_create
                try:
                    self._keys = make(self.settings.key_file)
                except KeyMissing as missing:
                    raise KeyMissing(missing.where, LOST) from None
            return self._keys

    def keys_at_hand(self) -> Keys | None:
        """The keys, or None when there is no key file; none is made."""
        with self._making_keys:
            if self._keys is None:
                with contextlib.suppress(KeyMissing):
                    self._keys = Keys.load(self.settings.key_file)
            return self._keys

    def mask_key(self) -> bytes:
        """The key under which placeholders of secrets are equal in all spans of this store."""
        return self.keys.fingerprint

    def _print_key(self) -> bytes | None:
        keys = self.keys_at_hand()
        return None if keys is None else keys.fingerprint

    def vault(self, patterns: int = VERSION) -> Vault:
        """A fresh vault: it collects the ciphertexts of one caller.

        Args:
            patterns: version of the secret patterns, to which a run is pinned from its start.
        """
        return Vault(self.keys, version=patterns)

    def get(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """The bytes of every digest, checked; IntegrityError when one is missing or damaged."""
        wanted = list(digests)
        if not wanted:
            return {}
        with translated(self.store.url), self.store.reader.connect() as connection:
            rows = read.objects(connection, wanted)
        return objects.from_rows(wanted, rows, self.blobs)

    def reader(self) -> TreeReader:
        """Rebuilds values from this store's objects."""
        return TreeReader(self.get)

    def open_sealed(self, fingerprint: str) -> str:
        """The text behind a sealed leaf.

        Raises:
            IntegrityError: the store lacks its ciphertext.
            KeyMissing: the key file that can open it is not here.
        """
        key = bytes.fromhex(fingerprint)
        with self.store.reader.connect() as connection:
            rows = read.sealed_values(connection, [key])
        if key not in rows:
            from .errors import IntegrityError

            raise IntegrityError(f"sealed value {fingerprint}", "it is not in the store")
        return Vault(Keys.load(self.settings.key_file)).open(fingerprint, rows[key])

    @contextmanager
    def opening(self, run_id: str, branch: str) -> Iterator[None]:
        """The block takes a lease for which nobody beats yet."""
        self._opening.append((run_id, branch))
        try:
            yield
        finally:
            self._opening.remove((run_id, branch))

    def holds(self, run_id: str, branch: str) -> bool:
        """Whether a segment of this recorder lives, or is about to."""
        place = (run_id, branch)
        return place in self.live or place in self._opening or self.heart.beats(*place)

    def began(self, run_id: str, branch: str, segment: Interruptible) -> None:
        """A segment lives: SIGTERM ends it in order, and its spans are sent at the end of the process."""
        self.live[run_id, branch] = segment
        self.metrics.run_began()
        if self._farewell is None:
            self._farewell = Farewell(self._interrupted, self.outbox.flush)
            self._farewell.install()

    def ended(self, run_id: str, branch: str) -> None:
        """A segment has ended, or may never write again."""
        self.heart.stop(run_id, branch)
        if self.live.pop((run_id, branch), None) is not None:
            self.metrics.run_ended()

    def _interrupted(self) -> None:
        for segment in list(self.live.values()):
            segment.interrupt("SIGTERM")

    def _owed(self) -> int:
        with self.store.reader.connect() as connection:
            return read.count_pending(connection)

    def close(self, timeout_s: float = 3.0) -> None:
        """Send what can be sent in *timeout_s* seconds, then give everything back."""
        _all.discard(self)
        if self._farewell is not None:
            self._farewell.remove()
        self.heart.close()
        self.outbox.close(timeout_s)
        self.journal.close()
        self.store.close()

    def _beat(self, held: list[tuple[str, str, int]]) -> None:
        now = time.time_ns()
        rows: list[dict[str, Any]] = [
            {"at_run_id": run_id, "at_branch": branch, "at_epoch": epoch, "beat_at": now}
            for run_id, branch, epoch in held
        ]
        try:
            self.store.require_present()
            self.journal.execute("beat", rows)
            self.store.fold()
        except StoreGone as gone:
            for segment in list(self.live.values()):
                segment.poison(gone)
        except Exception:  # a missed beat is not an error: the lease lasts three of them
            return


def owner_is_dead(owner: str) -> bool:
    """Whether a segment's owner is proven dead, so that its root may be sent for it."""
    return standing(owner) is Standing.DEAD


_open: dict[tuple[int, str, str], Recorder] = {}
_all: WeakSet[Recorder] = WeakSet()
_opening = threading.Lock()
_settings: Settings | None = None


def configure(**values: Any) -> Settings:
    """Set up Waypost in this process: any field of `Settings`, over environment and `waypost.toml`.

    Raises:
        ConfigError: there is no such setting, the value does not fit, or runs go on under the settings before.
    """
    global _settings
    wanted = config.override(settings(), **values)
    with _opening:
        found = _open.get(_where(wanted))
        if found is not None and found.settings != wanted and found.live:
            runs = ", ".join(sorted(run_id for run_id, _ in found.live))
            raise ConfigError(
                f"Run {runs} goes on with the settings before. Configure first, then start runs."
            )
        _settings = wanted
    return wanted


def settings() -> Settings:
    """What holds in this process."""
    global _settings
    if _settings is None:
        _settings = config.load()
    return _settings


def recorder(*, create: bool = True) -> Recorder:
    """The recorder of the configured store, opened at first use; one per process."""
    held = settings()
    where = _where(held)
    with _opening:
        for key in [key for key in _open if key[0] != os.getpid()]:
            _open.pop(key).store.abandon()
        found = _open.get(where)
        if found is None or found.settings != held:
            if found is not None:
                found.close()
            found = _open[where] = Recorder.open(held, create=create)
        return found


def holds(run_id: str, branch: str) -> bool:
    """Whether this process works on a run of that name, in whatever store."""
    return any(one.holds(run_id, branch) for one in list(_all) if one.pid == os.getpid())


def _where(held: Settings) -> tuple[int, str, str]:
    url = held.store_url
    return (
        os.getpid(),
        url if "://" in url else str(Path(url).absolute()),
        str(held.home_path.absolute()),
    )


def reset() -> None:
    """Close every recorder of this process and forget `configure` (for tests and at exit)."""
    global _settings
    with _opening:
        for key in list(_open):
            held = _open.pop(key)
            if key[0] == os.getpid():
                held.close()
            else:
                held.store.abandon()
        _settings = None
