"""Is everything here as Waypost needs it? One check per question, each with its remedy."""

from __future__ import annotations

import os
import platform
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal

import click
from rich.text import Text

from ..config import Settings
from ..errors import ConfigError, KeyMissing, SchemaTooOld, StoreError, StoreMissing, WaypostError
from ..keys import Keys
from ..ownership import clashes
from ..quantities import counted, size
from ..recorder import settings
from ..store import read
from ..store.engine import Store, parsed_url, translated
from ..store.tables import SCHEMA
from ..telemetry.provider import Tracing
from ..telemetry.wire import Wire
from .exits import Exit
from .opened import where
from .output import cell, emit, json_option, say, table, word

Verdict = Literal["ok", "warn", "fail"]
LOW: Final = 1_000_000_000
"""Bytes of free space under which a person should know."""
EMPTY: Final = 100_000_000
"""Bytes of free space under which a run will soon be stopped."""
PARTS: Final = ("sqlalchemy", "opentelemetry-sdk", "opentelemetry-exporter-otlp", "pydantic", "cryptography")


@dataclass(frozen=True, slots=True)
class Check:
    """One answer."""

    name: str
    verdict: Verdict
    what: str
    remedy: str = ""


@click.command(name="doctor", short_help="check this machine")
@click.option("--no-network", is_flag=True, help="Do not try the OTLP endpoint.")
@json_option
@click.pass_context
def command(ctx: click.Context, no_network: bool, as_json: bool) -> None:
    """Check this machine: versions, packages, settings, store, keys, disk, telemetry.

    Exit 0 when nothing fails, 1 otherwise. Nothing is changed; the OTLP endpoint gets one empty request.
    """
    checks = [*_checks(no_network)]
    healthy = not any(check.verdict == "fail" for check in checks)
    if as_json:
        emit({"healthy": healthy, "checks": [asdict(check) for check in checks]})
    else:
        made = table("check", "verdict", "what")
        for check in checks:
            told = cell(check.what)
            made.add_row(
                check.name, word(check.verdict), told.append(f"\n→ {check.remedy}") if check.remedy else told
            )
        say(made)
        say(Text("\nNothing fails." if healthy else "\nSomething fails; see the arrows."))
    ctx.exit(Exit.OK if healthy else Exit.NO)


def _checks(no_network: bool) -> Iterator[Check]:
    yield _versions()
    yield _packages()
    try:
        held = settings()
    except ConfigError as error:
        yield Check("settings", "fail", str(error))
        return
    yield _settings(held)
    for check in (_store, _keys, _disk):
        yield _guarded(check.__name__.strip("_"), lambda check=check: check(held))  # type: ignore[misc]
    yield _guarded("telemetry", lambda: _telemetry(no_network))
    yield _guarded("spans", lambda: _spans(held))


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    """A check that cannot be made is one that fails, and the others are made all the same."""
    try:
        return check()
    except (WaypostError, OSError) as error:
        return Check(name, "fail", str(error))


def _versions() -> Check:
    found = [f"waypost {version('waypost')}", f"Python {platform.python_version()}"]
    missing = []
    for name in PARTS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check(
            "versions", "fail", f"Missing: {', '.join(missing)}.", "`pip install --force-reinstall waypost`"
        )
    return Check("versions", "ok", ", ".join(found))


def _packages() -> Check:
    found = clashes()
    if not found:
        return Check("packages", "ok", "`tracer` and `inspector` are Waypost's own.")
    return Check("packages", "fail", " ".join(one.what for one in found), found[0].remedy)


def _settings(held: Settings) -> Check:
    file = Path("waypost.toml")
    source = f"from {file}" if file.is_file() else "no waypost.toml here"
    chain = "chain signed" if held.chain_key else "chain unsigned"
    what = f"mode {held.mode}, lease {held.lease_ttl_s:g} s, {chain}, sealing {'on' if held.seal else 'OFF'}; {source}"
    if not held.seal:
        return Check("settings", "warn", what, "secrets are stored in clear; take `seal = false` out")
    return Check("settings", "ok", what)


def _store(held: Settings) -> Check:
    try:
        store = Store.open(held.store_url, create=False, upgrade=False)
    except StoreMissing as error:
        return Check("store", "warn", str(error))
    except SchemaTooOld as error:
        return Check("store", "warn", str(error))
    with store, translated(store.url), store.reader.connect() as connection:
        runs, name = read.count_runs(connection), where(store)
        taken = f", {size(read.page_bytes(connection))}" if store.path is not None else ""
    if store.path is not None and not os.access(store.path, os.W_OK):
        return Check(
            "store", "fail", f"{name} cannot be written by {os.geteuid()}.", f"`chown` or `chmod` {name}"
        )
    return Check("store", "ok", f"{name}: schema {SCHEMA}, {counted(runs, 'run')}{taken}.")


def _keys(held: Settings) -> Check:
    try:
        keys = Keys.load(held.key_file)
    except KeyMissing:
        return Check(
            "keys", "warn", f"There is no {held.key_file} yet; the first run makes it, with mode 0600."
        )
    mode = stat.S_IMODE(held.key_file.stat().st_mode)
    count = counted(len(keys.encryption), "encryption key")
    return Check(
        "keys",
        "ok",
        f"{held.key_file}: mode {mode:04o}, {count}. Keep a copy: without it sealed data is lost.",
    )


def _disk(held: Settings) -> Check:
    url = parsed_url(held.store_url)
    folder = (Path(url.database or ".") if url.get_backend_name() == "sqlite" else held.home_path).absolute()
    while not folder.is_dir():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    what = f"{size(free)} free where the store and the blobs lie ({folder})."
    if free < EMPTY:
        return Check(
            "disk", "fail", what, "free some space; a run stops before its next effect when there is none"
        )
    return Check("disk", "warn" if free < LOW else "ok", what)


def _telemetry(no_network: bool) -> Check:
    tracing = Tracing.from_env()
    if not tracing.enabled:
        return Check("telemetry", "ok", "Switched off by OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER.")
    if tracing.endpoint is None:
        remedy = "set OTEL_EXPORTER_OTLP_ENDPOINT; spans wait in the store until then"
        return Check("telemetry", "warn", "No endpoint is set.", remedy)
    name = tracing.endpoint
    if no_network:
        return Check("telemetry", "ok", f"{name}, not tried.")
    wire = Wire(tracing)
    try:
        sent = wire.send([])
    finally:
        wire.close()
    if sent.ok:
        return Check("telemetry", "ok", f"{name} answers.")
    remedy = (
        "start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT or _HEADERS; spans wait in the store"
    )
    return Check("telemetry", "fail", f"{name} does not take spans: {sent.reason}", remedy)


def _spans(held: Settings) -> Check:
    try:
        store = Store.open(held.store_url, create=False, upgrade=False)
    except (StoreMissing, SchemaTooOld):
        return Check("spans", "ok", "None is owed.")
    except StoreError as error:
        return Check("spans", "fail", str(error))
    with store, translated(store.url), store.reader.connect() as connection:
        owed = read.count_pending(connection)
    if not owed:
        return Check("spans", "ok", "None is owed.")
    return Check(
        "spans", "warn", f"{counted(owed, 'span')} not acknowledged yet.", "`waypost export --pending`"
    )
