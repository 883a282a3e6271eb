"""What is special about PostgreSQL: how long is waited for it, and how tables are changed."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.orm import Session

CONNECT_SECONDS = 5
# How long a statement waits for a lock; transactions here take milliseconds.
LOCK_SECONDS = 10
# A machine that vanishes amid a transaction keeps its locks until the server notices.
VANISHED_SECONDS = 20
# Any numbers that other programs do not lock.
_MIGRATION = 7305202626
_WAITING_ROWS = 7305202627

# How each side notices that the other one's machine has vanished.
_SERVER = {
    "lock_timeout": f"{LOCK_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{VANISHED_SECONDS}s",
    "tcp_keepalives_idle": f"{VANISHED_SECONDS}s",
    "tcp_keepalives_interval": "5s",
    "tcp_keepalives_count": "3",
}
# Keys of libpq, which psycopg and psycopg2 hand on.
ARGUMENTS: dict[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": VANISHED_SECONDS // 2,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": VANISHED_SECONDS * 1000,
    "options": " ".join(f"-c {name}={value}" for name, value in _SERVER.items()),
}


def lock_migrations(connection: Connection) -> None:
    """Let other processes wait, as long as it takes, until this transaction has changed tables."""
    connection.execute(text("SET LOCAL lock_timeout = 0"))
    connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION})"))


def lock_waiting_rows(session: Session) -> None:
    """Let other transactions that add rows wait, so that none counts without those of this one."""
    session.execute(text(f"SELECT pg_advisory_xact_lock({_WAITING_ROWS})"))
