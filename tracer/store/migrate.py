"""How does an older store become one of this release? Alembic, without an ini file.

Imported only when a store must be made or changed: Alembic costs 0.1–0.3 s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from .engine import Store
from .read import VERSION_TABLE
from .tables import metadata


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    return config


def upgrade(store: Store) -> None:
    """Bring *store* to the newest migration, in one transaction."""
    with store.writer.begin() as connection:
        command.upgrade(_config(connection), "head")


def pending(store: Store) -> list[str]:
    """Names of the migrations that *store* still lacks, oldest first; changes nothing."""
    script = ScriptDirectory.from_config(_config())
    found = store.schema() or "base"
    steps = [step for step in script.iterate_revisions("head", found) if step.revision != found]
    return [f"{step.revision} {step.doc}" for step in reversed(steps)]


def head() -> str:
    """The newest migration that this package ships."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def drift(store: Store) -> list[Any]:
    """How the tables differ from their description in `tables`; empty when they agree."""
    with store.reader.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        return list(compare_metadata(context, metadata))
