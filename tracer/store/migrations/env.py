"""How does Alembic reach the connection that is already open?"""

from alembic import context

from tracer.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="waypost_schema",
    render_as_batch=True,
)
context.run_migrations()
