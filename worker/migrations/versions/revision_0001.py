"""The tables as they were when Alembic came, at version 7 of a number in the table ``schema``.

Databases of the versions 1 to 6 are brought there. The number becomes 8, so that programs of that
time refuse what they do not know.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from worker.migrations import UnknownSchema

revision = "0001"
down_revision = None

_NUMBER_BEFORE, _NUMBER = 7, 8
# The statement that brings each version to the next one.
_CHANGES = {
    1: "ALTER TABLE claims ADD COLUMN label VARCHAR(16)",
    2: "ALTER TABLE workers ADD COLUMN corpus TEXT",
    3: "ALTER TABLE workers ADD COLUMN language_model TEXT",
    4: "ALTER TABLE claims ADD COLUMN confidence FLOAT",
    5: "ALTER TABLE claims ADD COLUMN leans VARCHAR(16)",
    # Their digests did not name a statement, so no claim could be deleted with them.
    6: "DELETE FROM answers",
}


def upgrade() -> None:
    """Make the tables, or bring those of an older version here."""
    connection = op.get_bind()
    tables = sa.inspect(connection).get_table_names()
    if "answers" not in tables:
        _create_answers()
    if "schema" not in tables:
        _create_others()
        op.execute(f"INSERT INTO schema (version) VALUES ({_NUMBER})")
        return
    number = connection.scalar(sa.text("SELECT version FROM schema"))
    if number not in (*_CHANGES, _NUMBER_BEFORE):
        raise UnknownSchema(str(number))
    for older in range(number, _NUMBER_BEFORE):
        op.execute(_CHANGES[older])
    if number == 1:
        # Only databases of SQLite are as old as this.
        op.execute("UPDATE claims SET label = json_extract(result, '$.verdict.label')")
    op.execute(f"UPDATE schema SET version = {_NUMBER}")


def downgrade() -> None:
    """Let programs without Alembic open the database again."""
    op.execute(f"UPDATE schema SET version = {_NUMBER_BEFORE}")


def _create_answers() -> None:
    op.create_table(
        "answers",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("kept_at", sa.DateTime, nullable=False),
    )


def _create_others() -> None:
    op.create_table("schema", sa.Column("version", sa.Integer, primary_key=True))
    op.create_table(
        "claims",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("id", sa.String(32), nullable=False, unique=True),
        sa.Column("claim", sa.Text, nullable=False),
        sa.Column("folded", sa.Text, nullable=False),
        sa.Column("recipe", sa.String(64), nullable=False),
        sa.Column("pending", sa.String(64), unique=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("dispatched_at", sa.DateTime),
        sa.Column("started_at", sa.DateTime),
        sa.Column("finished_at", sa.DateTime),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("token", sa.String(32)),
        sa.Column("worker", sa.String(128)),
        sa.Column("lease_until", sa.DateTime),
        sa.Column("label", sa.String(16)),
        sa.Column("confidence", sa.Float),
        sa.Column("leans", sa.String(16)),
        sa.Column("result", sa.Text),
        sa.Column("error", sa.Text),
        sqlite_autoincrement=True,
    )
    op.create_index("claims_by_state", "claims", ["state", "lease_until"])
    op.create_table(
        "events",
        sa.Column(
            "claim_id",
            sa.String(32),
            sa.ForeignKey("claims.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("stage", sa.String(32), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("of", sa.Integer, nullable=False),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.String(128), primary_key=True),
        sa.Column("started_at", sa.DateTime, nullable=False),
        sa.Column("seen_at", sa.DateTime, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("problem", sa.Text),
        sa.Column("corpus", sa.Text),
        sa.Column("language_model", sa.Text),
    )
