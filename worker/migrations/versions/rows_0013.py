"""Claims say whether their evidence disagrees, and lists whose limits their rows count against."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "rows_0013"
down_revision = "tallies_0012"

_INDEX = "claims_divided"
# Rows whose results are in memory at once: each may have a hundred kilobytes.
_AT_ONCE = 50


def upgrade() -> None:
    """Add the columns, and mark the claims that are divided; NULL is not divided too.

    Only these are written: each row that is changed is written with its long result.
    """
    op.add_column("lists", sa.Column("client", sa.String(64)))
    op.add_column("claims", sa.Column("divided", sa.Boolean))
    claims = sa.table(
        "claims", sa.column("number"), sa.column("result"), sa.column("divided", sa.Boolean)
    )
    connection = op.get_bind()
    after = 0
    while True:
        wanted = sa.select(claims.c.number, claims.c.result)
        wanted = wanted.where(claims.c.result.is_not(None), claims.c.number > after)
        found = connection.execute(wanted.order_by(claims.c.number).limit(_AT_ONCE)).all()
        if not found:
            break
        after = found[-1].number
        divided = [number for number, result in found if _is_divided(result)]
        if divided:
            change = sa.update(claims).where(claims.c.number.in_(divided))
            connection.execute(change.values(divided=True))
    op.create_index(
        _INDEX,
        "claims",
        ["id", "divided"],
        sqlite_where=sa.text("divided = 1"),
        postgresql_where=sa.text("divided"),
    )


def downgrade() -> None:
    """Forget both."""
    op.drop_index(_INDEX, "claims")
    op.drop_column("claims", "divided")
    op.drop_column("lists", "client")


def _is_divided(result: str) -> bool:
    evidence = json.loads(result).get("evidence", [])
    stances = {item.get("stance") for item in evidence if item.get("selected")}
    return {"SUPPORTS", "REFUTES"} <= stances
