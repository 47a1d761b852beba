"""Where do values over 256 KiB lie? In a folder beside the store, each under its digest."""

from __future__ import annotations

import errno
import os
import re
import secrets
from pathlib import Path
from typing import Final, Protocol

from .. import faults
from ..errors import IntegrityError, StoreFull

_KEY: Final = re.compile(r"[0-9a-f]{64}")


class Blobs(Protocol):
    """Bytes by digest. A put is durable when it returns and harmless when repeated."""

    def put(self, key: str, data: bytes) -> None:
        """Store *data* under *key* (64 hex digits)."""

    def get(self, key: str) -> bytes:
        """The bytes under *key*; IntegrityError when there are none."""


class FolderBlobs:
    """Blobs in a local folder: temporary file, fsync, rename, fsync of the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, key: str, data: bytes) -> None:
        """Store *data* under *key*.

        Raises:
            StoreFull: no space is left.
        """
        path = self._path(key)
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_name(f".{key}.{secrets.token_hex(4)}")
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(handle, view) :]
                faults.point("blob.written")
                os.fsync(handle)
            finally:
                os.close(handle)
            os.replace(temporary, path)
            faults.point("blob.renamed")
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise StoreFull(str(self.folder), str(error)) from error
            raise

    def get(self, key: str) -> bytes:
        """The bytes under *key*.

        Raises:
            IntegrityError: there are none.
        """
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            raise IntegrityError(f"blob {key}", f"it is not in {self.folder}") from None

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise IntegrityError(f"blob {key!r}", "a key has 64 hex digits")
        return self.folder / key[:2] / key
