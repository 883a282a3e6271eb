"""Changes of the tables, by Alembic: each file in ``versions`` is one step forward and back.

The program goes forward by itself when it opens a database. In the checkout, ``alembic downgrade
REVISION`` goes back (``base``: to the last version without Alembic), and ``alembic revision
--autogenerate --rev-id NUMBER -m WHAT`` begins the next step; ``worker.schema.REVISION`` names it.
"""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from worker.database import revision_of


class UnknownSchema(Exception):
    """The tables have a revision that this program does not know; the message names it."""


def upgrade(connection: Connection) -> None:
    """Bring the tables to the newest revision; does nothing if they have it.

    Raises:
        UnknownSchema: their revision is not known here.
    """
    config = config_of(connection)
    found = revision_of(connection)
    if found is not None:
        try:
            ScriptDirectory.from_config(config).get_revision(found)
        except CommandError as error:
            raise UnknownSchema(found) from error
    command.upgrade(config, "head")


def is_mapped(name: str | None, kind: str, _parents: object) -> bool:
    """Return whether Alembic compares this with the mapped classes: all but the number before."""
    return (name, kind) != ("schema", "table")


def config_of(connection: Connection) -> Config:
    """Return Alembic's configuration for commands on this connection, in its transaction."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "worker:migrations")
    config.set_main_option("path_separator", "os")
    return config
