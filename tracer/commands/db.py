"""Does the store stand where this release wants it, and how does it get there?"""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import SchemaTooNew, StoreMissing
from ..recorder import settings
from ..store import engine
from ..store.engine import Store, translated
from .exits import Exit
from .opened import where
from .output import emit, json_option, say


@click.group(name="db", short_help="look after the database")
def command() -> None:
    """Look after the database."""


@command.command(name="upgrade")
@click.option("--check", is_flag=True, help="Only say what is pending; exit 1 when something is.")
@json_option
@click.pass_context
def upgrade(ctx: click.Context, check: bool, as_json: bool) -> None:
    """Bring the store to the newest migration, in one transaction. Nothing is lost; a newer store is left alone."""
    from ..store import migrate

    held = settings()
    url = engine.parsed_url(held.store_url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise StoreMissing(str(url.database))
    with Store(url) as store, translated(url):
        found, wanted = store.schema(), migrate.head()
        if found is not None and found > wanted:
            raise SchemaTooNew(found, wanted)
        pending = migrate.pending(store)
        if pending and not check:
            migrate.upgrade(store)
        at = store.schema()
        name = where(store)
    if as_json:
        emit(
            {
                "store": name,
                "found": found,
                "wanted": wanted,
                "pending": pending,
                "upgraded": bool(pending) and not check,
                "at": at,
            }
        )
    elif not pending:
        say(f"{name} stands at {at}, the newest migration.")
    else:
        say(f"{name} stood at {found or 'none'}." if not check else f"{name} stands at {found or 'none'}.")
        for step in pending:
            say(f"  {'pending' if check else 'done'}: {step}")
    ctx.exit(Exit.NO if check and pending else Exit.OK)
