"""Changes of the tables, by Alembic: each file in ``versions`` is one step forward.

The program goes forward by itself when it opens a database. The next step is a file with
``revision`` (NAME_NUMBER, the number one higher), ``down_revision`` (the one before) and
``upgrade``; ``worker.schema.REVISION`` names it, and the classes there have its result.
"""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from worker.schema import Base, revision_of


class UnknownSchema(Exception):
    """The tables have a revision that this program does not read; the message names it.

    ``older``: it is of a program before this one, else of a later one.
    """

    def __init__(self, revision: str, older: bool) -> None:
        super().__init__(revision)
        self.older = older


def upgrade(connection: Connection) -> None:
    """Make the tables, or bring them to the newest revision; does nothing if they have it.

    Raises:
        UnknownSchema: their revision is not read here.
    """
    config, found = config_of(connection), revision_of(connection)
    known = [step.revision for step in ScriptDirectory.from_config(config).walk_revisions()]
    if found in known:
        command.upgrade(config, "head")
    elif found is not None:
        raise UnknownSchema(found, older=found[-4:] < known[-1][-4:])
    elif inspect(connection).has_table("claims"):
        raise UnknownSchema("0000", older=True)
    else:
        Base.metadata.create_all(connection)
        command.stamp(config, "head")


def config_of(connection: Connection) -> Config:
    """Return Alembic's configuration for commands on this connection, in its transaction."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "worker:migrations")
    config.set_main_option("path_separator", "os")
    return config
