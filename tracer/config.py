"""How is Waypost set up in this process? Arguments over environment over `waypost.toml` over defaults."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Literal

from .errors import ConfigError

Mode = Literal["enforce", "observe"]
HOME: Final = Path(".waypost")


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting; `WAYPOST_` and the name in capitals sets it from the environment."""

    store: str = ""
    """Path of a SQLite file or SQLAlchemy URL; `.waypost/waypost.db` when empty."""
    home: str = ""
    """Folder of the key file, the blobs and the default store; `.waypost` when empty."""
    mode: Mode = "enforce"
    """`enforce`: no durable intent, no dispatch. `observe` is refused until auto-instrumentation is there."""
    lease_ttl_s: float = 30.0
    """Seconds without a heartbeat after which a run may be taken over."""
    chain_key: str = ""
    """Secret that turns the digest chain into an HMAC; `env:NAME` reads it from a variable."""
    seal: bool = True
    """Keep detected secrets encrypted. Turning it off is written into every run's journal."""
    environment: str = ""
    """Name of the deployment (`prod`, `staging`), a field of the runtime identity."""
    principal: str = ""
    """On whose behalf the agent acts, a field of the runtime identity."""
    public_url: str = ""
    """Where the inspector is reached, for links in messages."""

    @property
    def home_path(self) -> Path:
        """The folder for local files."""
        return Path(self.home) if self.home else HOME

    @property
    def store_url(self) -> str:
        """What `Store.open` takes."""
        return self.store or str(self.home_path / "waypost.db")

    @property
    def key_file(self) -> Path:
        """The file that holds the sealing and digest keys."""
        return self.home_path / "key"

    @property
    def chain_key_name(self) -> str:
        """What a message may call the chain key: `env:NAME`; empty for one that stands in the settings itself."""
        return self.chain_key if self.chain_key.startswith("env:") else ""

    def chain_key_bytes(self) -> bytes | None:
        """The HMAC key of the chain, or None for a plain digest.

        Raises:
            ConfigError: it refers to a variable that is not set.
        """
        if not self.chain_key:
            return None
        if not self.chain_key.startswith("env:"):
            return self.chain_key.encode()
        name = self.chain_key[4:]
        value = os.environ.get(name)
        if not value:
            raise ConfigError(f"chain_key refers to the variable {name}, which is not set. Export it.")
        return value.encode()


def load(environ: Mapping[str, str] | None = None, file: Path | None = None) -> Settings:
    """The settings of this process.

    Raises:
        ConfigError: a value does not fit; the message names the variable or the key and its file.
    """
    values: dict[str, Any] = {}
    path = file or Path("waypost.toml")
    if path.is_file():
        try:
            read = tomllib.loads(path.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} is not TOML: {error}. Correct that line.") from error
        values.update({f"{path}: {key}": value for key, value in read.items() if not isinstance(value, dict)})
    settings = Settings()
    for where, value in values.items():
        settings = _with(settings, where.rpartition(": ")[2], value, where)
    env = os.environ if environ is None else environ
    for field in fields(Settings):
        name = f"WAYPOST_{field.name.upper()}"
        if name in env:
            settings = _with(settings, field.name, env[name], name)
    return settings


def override(settings: Settings, **values: Any) -> Settings:
    """*settings* with some values replaced; unknown names and unfit values raise ConfigError."""
    for name, value in values.items():
        settings = _with(settings, name, value, f"configure({name}=…)")
    return settings


def _with(settings: Settings, name: str, value: Any, where: str) -> Settings:
    types = {field.name: field.type for field in fields(Settings)}
    if name not in types:
        raise ConfigError(f"{where}: there is no such setting. Known: {', '.join(sorted(types))}.")
    fitting: Any = value
    if isinstance(value, os.PathLike):
        fitting = os.fspath(value)
    if name == "seal" and isinstance(value, str):
        if value.lower() not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            raise ConfigError(f"{where} is {value!r}; use true or false.")
        fitting = value.lower() in ("1", "true", "yes", "on")
    elif name == "lease_ttl_s":
        try:
            fitting = float(value)
        except (TypeError, ValueError):
            raise ConfigError(f"{where} is {value!r}; use a number of seconds.") from None
        if not 0.1 <= fitting <= 86_400:
            raise ConfigError(f"{where} is {value!r}; use 0.1 to 86400 seconds.")
    elif name == "mode" and value == "observe":
        # Half of it would be worse than none: writes would pass outside runs, and errors still reach the agent.
        raise ConfigError(
            f"{where} is 'observe', which comes with auto-instrumentation; until then use enforce."
        )
    elif name == "mode" and value != "enforce":
        raise ConfigError(f"{where} is {value!r}; use enforce.")
    elif not isinstance(fitting, str | bool):
        raise ConfigError(f"{where} is {value!r}; use a text.")
    return replace(settings, **{name: fitting})
