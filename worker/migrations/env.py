"""What Alembic runs around every command: which database, and in which transaction."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from settings import Settings
from worker.database import Database
from worker.migrations import is_mapped
from worker.schema import Base


def _run(connection: Connection) -> None:
    # All or nothing: the transaction began before, in SQLite too.
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_name=is_mapped,
        transactional_ddl=True,
        render_as_batch=True,  # SQLite cannot change a column in place
    )
    with context.begin_transaction():
        context.run_migrations()


if "connection" in context.config.attributes:
    _run(context.config.attributes["connection"])
else:  # the command alembic
    with Database(Settings.from_environment().database_url).migrating() as own:
        _run(own)
