"""Who may see a claim, a list or a corpus: its owner, operators, and those it is shared with.

What a user submits is the user's own until it is shared with everyone. What was submitted where
nobody logs in, or by an older version, has no such mark: everybody who has its address may open it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, false, or_, true
from sqlalchemy.orm import InstrumentedAttribute

from worker.jobs import Shared
from worker.schema import ClaimRow, ListRow
from worker.user_store import user_of


def shared_at_first(owner: str | None) -> Shared | None:
    """Return with whom something new is shared; ``None``: it has no mark, as nobody logs in."""
    return "owner" if user_of(owner) is not None else None


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who wants to see something.

    ``owner``: of what is the viewer's. ``sees_all``: an operator. ``lists_unmarked``: lists show
    also what has no mark; else only its address opens it.
    """

    owner: str | None
    sees_all: bool = False
    lists_unmarked: bool = False

    def opens(self, owner: str | None, shared: str | None) -> bool:
        """Return whether the viewer may open what belongs to this owner and is shared so."""
        return self.sees_all or shared != "owner" or self._owns(owner)

    def _owns(self, owner: str | None) -> bool:
        return owner is not None and owner == self.owner

    def may_open(self, kind: type[ClaimRow | ListRow]) -> ColumnElement[bool]:
        """Return which rows ``opens`` is true of."""
        if self.sees_all:
            return true()
        return or_(kind.shared.is_(None), kind.shared != "owner", self._owned(kind.owner))

    def listed(self, kind: type[ClaimRow | ListRow]) -> ColumnElement[bool]:
        """Return which rows lists and searches show to the viewer."""
        if self.sees_all:
            return true()
        unmarked = kind.shared.is_(None) if self.lists_unmarked else false()
        return or_(kind.shared == "everyone", unmarked, self._owned(kind.owner))

    def _owned(self, owner: InstrumentedAttribute[str | None]) -> ColumnElement[bool]:
        return false() if self.owner is None else owner == self.owner


EVERYTHING = Viewer(None, sees_all=True)
