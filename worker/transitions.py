"""How a job changes its state: by one UPDATE that names the old state.

Only the database counts; a message in the broker contains only an id. So a lost message causes a
short delay, and a message that comes twice does no harm. If an UPDATE changes no row, another
process was first, and nothing is done. A job that is deleted, in any state, is a row that no
change finds any more.
"""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import ColumnElement, CursorResult, update
from sqlalchemy.orm import Session

from retrieval.errors import Problem
from worker import clock, tallies
from worker.jobs import State
from worker.schema import ClaimRow


def change(session: Session, allowed: ColumnElement[bool], **values: Any) -> bool:
    """Change the row of a job, if it is as it must be. False: it is not; nothing was changed."""
    statement = update(ClaimRow).where(allowed).values(**values)
    # No row is in the session before its change.
    changed = session.execute(statement, execution_options={"synchronize_session": False})
    return cast("CursorResult[Any]", changed).rowcount == 1


def end(
    session: Session,
    allowed: ColumnElement[bool],
    state: State,
    *more: tallies.Tally,
    error: Problem | None = None,
    **values: Any,
) -> bool:
    """Give a job one of the states in which it stays, and count that. False: nothing was changed.

    ``more``: what is counted with it.
    """
    ended = change(
        session,
        allowed,
        state=state,
        finished_at=clock.now(),
        pending=None,
        client=None,
        token=None,
        renewed_at=None,
        error=error,
        **values,
    )
    if ended:
        code = "" if error is None else error.code
        tallies.add(session, (tallies.Tally(tallies.CLAIMS, (state, code)), *more))
    return ended


def requeue(session: Session, allowed: ColumnElement[bool], **values: Any) -> bool:
    """Queue a running job again. False: nothing was changed."""
    return change(
        session,
        allowed,
        state="queued",
        token=None,
        worker=None,
        renewed_at=None,
        started_at=None,
        **values,
    )
