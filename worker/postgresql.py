"""What is special about PostgreSQL: how long is waited for it, which texts it cannot hold."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, event, text

CONNECT_SECONDS = 5
# How long a statement waits for a lock; transactions here take milliseconds.
LOCK_SECONDS = 10
# A machine that vanishes amid a transaction keeps its locks until the server notices.
VANISHED_SECONDS = 20
_MIGRATION = 7305202626  # any number that other programs do not lock

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


def set_up(engine: Engine) -> None:
    """Set up every statement of the engine."""
    event.listen(engine, "before_cursor_execute", _without_nul, retval=True)


def lock_migrations(connection: Connection) -> None:
    """Let other processes wait, as long as it takes, until this transaction has changed tables."""
    connection.execute(text("SET LOCAL lock_timeout = 0"))
    connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION})"))


def _without_nul(
    _connection: Connection, _cursor: Any, statement: str, parameters: Any, *_: object
) -> tuple[str, Any]:
    """Replace the one character that its texts cannot have; SQLite's can."""
    many = isinstance(parameters, list)
    replaced = [_replaced(one) for one in parameters] if many else _replaced(parameters)
    return statement, replaced


def _replaced(parameters: Any) -> Any:
    return {
        name: value.replace("\0", "\ufffd") if isinstance(value, str) else value
        for name, value in parameters.items()
    }
