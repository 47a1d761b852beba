"""Where do the keys live, and who may read them?

One JSON file, mode 0600, made before the first run of a store. It holds the fingerprint key and the digest key, which
never change, and the encryption keys, of which the newest seals and all open.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import stat
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from . import seal
from .errors import ConfigError, KeyMissing, KeyUnsafe

FORMAT: Final = 1
_BYTES: Final = 32

# References are resolved at the edge; `seal` itself is pure.
seal.RESOLVERS["env"] = os.environ.get


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """The keys of one store."""

    where: str
    """The file, for messages."""
    fingerprint: bytes
    """32 bytes. Makes fingerprints of secrets; without it nothing sealed opens or compares again."""
    digest: bytes
    """32 bytes. Makes digests of arguments."""
    current: int
    """Id of the encryption key that seals."""
    encryption: Mapping[int, bytes] = field(default_factory=dict)
    """AES-256 keys by id, 1 to 255."""

    def __repr__(self) -> str:
        return f"Keys({self.where!r}, current={self.current}, ids={sorted(self.encryption)})"

    def arg_digest(self, canonical: bytes) -> bytes:
        """32 bytes that stand for *canonical* (see `codec.canonical`). Keyed: a plain digest of a short
        argument, such as a PIN, is found by trying all."""
        return hashlib.blake2b(canonical, key=self.digest, digest_size=_BYTES).digest()

    @property
    def public_id(self) -> str:
        """16 hex digits that name the digest key and tell nothing of it; no two key files have the same."""
        return hashlib.blake2b(b"waypost-key-id", key=self.digest, digest_size=8).hexdigest()

    @staticmethod
    def generate(where: str = "memory") -> Keys:
        """New keys that are in no file."""
        first = secrets.token_bytes(_BYTES)
        return Keys(where, secrets.token_bytes(_BYTES), secrets.token_bytes(_BYTES), 1, {1: first})

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Keys:
        """The keys of an existing file.

        Raises:
            KeyMissing: there is no such file.
            KeyUnsafe: others can read it.
            ConfigError: it is not a key file of ours, or cannot be read.
        """
        where = os.fspath(path)
        try:
            with open(where, "rb") as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                if mode & 0o077:
                    raise KeyUnsafe(where, mode)
                data = file.read(1 << 20)
        except FileNotFoundError:
            raise KeyMissing(where) from None
        except OSError as error:
            raise ConfigError(f"The key file {where} cannot be read: {error.strerror}.") from error
        return _parsed(where, data)

    @staticmethod
    def load_or_create(path: str | os.PathLike[str]) -> Keys:
        """The keys of *path*; where there is no such file it is made, and of many makers one wins.

        Raises:
            KeyUnsafe, ConfigError: as `load`, or the file cannot be made.
        """
        try:
            return Keys.load(path)
        except KeyMissing:
            where = Path(path)
        keys = Keys.generate(str(where))
        try:
            where.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = _written(keys, where)
            try:
                with contextlib.suppress(FileExistsError):
                    os.link(draft, where)
            finally:
                draft.unlink()
            _sync(where.parent)
        except OSError as error:
            raise ConfigError(f"The key file {where} cannot be made: {error.strerror}.") from error
        return Keys.load(where)

    def rotated(self) -> Keys:
        """The same keys and a new encryption key, written to the file; what was sealed stays readable.

        Raises:
            ConfigError: the file cannot be written, another rotation is under way, or 255 keys are used up.
        """
        where = Path(self.where)
        lock = where.with_name(where.name + ".lock")
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise ConfigError(
                f"Another rotation of {where} is under way. If none is, remove {lock}."
            ) from None
        except OSError as error:
            raise ConfigError(f"The key file {where} cannot be rotated: {error.strerror}.") from error
        try:
            found = Keys.load(where)  # not self: another process may have rotated since
            number = max(found.encryption) + 1
            if number > 255:
                raise ConfigError(f"{where} holds 255 encryption keys, which is all that a key id can name.")
            fresh = {**found.encryption, number: secrets.token_bytes(_BYTES)}
            keys = replace(found, current=number, encryption=fresh)
            os.replace(_written(keys, where), where)
            _sync(where.parent)
        except OSError as error:
            raise ConfigError(f"The key file {where} cannot be rotated: {error.strerror}.") from error
        finally:
            lock.unlink()
        return keys


def _written(keys: Keys, where: Path) -> Path:
    """A finished, synced file beside *where*; a reader never sees half a key."""
    draft = where.with_name(f".{where.name}.{secrets.token_hex(8)}")
    text = {
        "waypost-keys": FORMAT,
        "fingerprint": b64encode(keys.fingerprint).decode(),
        "digest": b64encode(keys.digest).decode(),
        "current": keys.current,
        "encryption": {str(number): b64encode(key).decode() for number, key in keys.encryption.items()},
    }
    with open(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
        json.dump(text, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    return draft


def _parsed(where: str, data: bytes) -> Keys:
    try:
        content: Any = json.loads(data)
        if content["waypost-keys"] != FORMAT:
            raise ConfigError(
                f"{where} has key format {content['waypost-keys']!r}, this package reads {FORMAT}."
            )
        encryption = {int(number): _key(text) for number, text in content["encryption"].items()}
        if content["current"] not in encryption or not set(encryption) <= set(range(1, 256)):
            raise ValueError("current")
        return Keys(
            where, _key(content["fingerprint"]), _key(content["digest"]), content["current"], encryption
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        # Not the parser's own words: they may quote the content.
        raise ConfigError(
            f"{where} ({len(data)} bytes) is no key file of ours. Restore it from its backup."
        ) from None


def _key(text: str) -> bytes:
    key = b64decode(text, validate=True)
    if len(key) != _BYTES:
        raise ValueError(len(key))
    return key


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
