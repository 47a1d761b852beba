"""What does a distribution show about its licence: which files, of which digest, saying what?

Reads only files inside the distribution's own site folder, each up to MAX_BYTES; paths in a RECORD are made
by whoever built the wheel and may point anywhere.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

from examples.licence_audit.inventory import Distribution
from examples.licence_audit.texts import TextFacts, facts_of

MAX_BYTES = 2 * 1024 * 1024
_LICENCE_NAME = re.compile(r"(licen[cs]e|copying|unlicense|copyright)", re.IGNORECASE)
_BESIDE_NAME = re.compile(r"^(notice|authors|contributors)", re.IGNORECASE)
# Texts of vendored code and modules that deal with licences are not this distribution's licence.
_NOT_A_TEXT = re.compile(r"\.(py[cod]?|so|pyd|json|html|js|css|exe|spdx)$", re.IGNORECASE)
_NEAR = 2
"""A licence outside the metadata folder counts down to this depth in the site folder, as `pkg/LICENSE`."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file that was read, so that anybody can tell later whether it still is the same."""

    path: str
    """Relative to the site folder, with `/`."""
    kind: str
    """`metadata`, `licence` or `beside` (notices and authors)."""
    version: str
    """Of the distribution it belongs to."""
    sha256: str
    """64 hex digits over its bytes."""
    size: int
    """Bytes."""
    mtime_ns: int
    """Nanoseconds since the epoch, as the file system says."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything a distribution shows about its licence."""

    readable: bool
    """Its metadata could be read."""
    expression: str
    """`License-Expression`, empty when absent."""
    field: str
    """`License`, empty when absent."""
    classifiers: tuple[str, ...]
    """Licence classifiers without their leading `License :: `."""
    absent: tuple[str, ...]
    """Files its metadata declares as `License-File` that are not there."""
    unread: tuple[str, ...]
    """Licence files that are there but over MAX_BYTES or not readable."""
    records: tuple[FileRecord, ...]
    """Every file read, sorted by path."""
    texts: tuple[tuple[str, TextFacts], ...]
    """Path and content of each licence and beside file, sorted by path."""


def shown_by(dist: Distribution) -> Shown:
    """Read what *dist* shows. Missing or broken parts are said in the result, not raised."""
    place = Path(dist.where)
    site = place.parent
    metadata = next((p for p in (place / "METADATA", place / "PKG-INFO", place) if p.is_file()), None)
    if metadata is None:
        return Shown(False, "", "", (), (), (), (), ())
    read = _read(metadata, site)
    if read is None:
        return Shown(False, "", "", (), (), (), (), ())
    headers = HeaderParser().parsestr(read.decode("utf-8", errors="replace"))
    records = [_record(metadata, site, dist.version, "metadata", read)]
    texts: list[tuple[str, TextFacts]] = []
    unread: list[str] = []
    for path, kind in _licence_files(place, site, headers):
        content = _read(path, site)
        if content is None:
            unread.append(path.relative_to(site).as_posix())
            continue
        record = _record(path, site, dist.version, kind, content)
        records.append(record)
        texts.append((record.path, facts_of(content.decode("utf-8", errors="replace"))))
    return Shown(
        readable=bool(_one(headers, "Name")),
        expression=_one(headers, "License-Expression"),
        field=_one(headers, "License"),
        classifiers=tuple(
            line.removeprefix("License :: ")
            for line in headers.get_all("Classifier", [])
            if line.startswith("License :: ")
        ),
        absent=tuple(
            sorted(name for name in _declared(headers) if place.is_dir() and _find(place, site, name) is None)
        ),
        unread=tuple(sorted(unread)),
        records=tuple(sorted(records, key=lambda record: record.path)),
        texts=tuple(sorted(texts, key=lambda pair: pair[0])),
    )


def _one(headers: Message[str, str], name: str) -> str:
    return str(headers.get(name, "")).strip()


def _declared(headers: Message[str, str]) -> list[str]:
    return [str(name).strip() for name in headers.get_all("License-File", [])]


def _find(place: Path, site: Path, name: str) -> Path | None:
    # PEP 639 keeps them under `licenses/`; older tools put them beside METADATA, under the last part only.
    for candidate in (place / "licenses" / name, place / name, place / Path(name).name):
        if _inside(candidate, site) and candidate.is_file():
            return candidate
    return None


def _licence_files(place: Path, site: Path, headers: Message[str, str]) -> Iterator[tuple[Path, str]]:
    found: dict[Path, str] = {}
    if place.is_dir():
        for name in _declared(headers):
            path = _find(place, site, name)
            if path is not None:
                found[_level(path)] = _kind(path) or "licence"
        for path in sorted(p for p in place.rglob("*") if p.is_file() and _inside(p, site)):
            kind = _kind(path)
            if kind:
                found.setdefault(_level(path), kind)
        if "licence" not in found.values():
            for path in _near(place, site):
                found.setdefault(_level(path), _kind(path) or "licence")
    yield from sorted(found.items())


def _kind(path: Path) -> str:
    if _NOT_A_TEXT.search(path.name):
        return ""
    if _BESIDE_NAME.search(path.name):
        return "beside"
    return "licence" if _LICENCE_NAME.search(path.name) else ""


def _near(place: Path, site: Path) -> Iterator[Path]:
    listing = next((p for p in (place / "RECORD", place / "installed-files.txt") if p.is_file()), None)
    content = _read(listing, site) if listing is not None else None
    if content is None:
        return
    for line in content.decode("utf-8", errors="replace").splitlines():
        name = line.split(",", 1)[0].strip('"')
        path = site / name
        if name.count("/") < _NEAR and _kind(path) == "licence" and _inside(path, site) and path.is_file():
            yield path


def _level(path: Path) -> Path:
    # By the letters of the path: some installers link each file from a cache, and that is still inside.
    return Path(os.path.normpath(path))


def _inside(path: Path, site: Path) -> bool:
    return _level(path).is_relative_to(site)


def _read(path: Path, site: Path) -> bytes | None:
    if not _inside(path, site):
        return None
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    return content if len(content) <= MAX_BYTES else None


def _record(path: Path, site: Path, version: str, kind: str, content: bytes) -> FileRecord:
    return FileRecord(
        path=_level(path).relative_to(site).as_posix(),
        kind=kind,
        version=version,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        mtime_ns=path.stat().st_mtime_ns,
    )
