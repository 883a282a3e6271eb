"""Who may see a claim, a list or a corpus: its owner, operators, and those it is shared with.

What a user submits is the user's own until it is shared with a group or with everyone. What was
submitted where nobody logs in, or by an older version, has no such mark: everybody who has its
address may open it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, false, or_, true
from sqlalchemy.orm import InstrumentedAttribute

from worker.jobs import GROUP, Shared
from worker.schema import ClaimRow, ListRow
from worker.user_store import user_of


def shared_at_first(owner: str | None) -> Shared | None:
    """Return with whom something new is shared; ``None``: it has no mark, as nobody logs in."""
    return "owner" if user_of(owner) is not None else None


def group_of(shared: Shared | None) -> str | None:
    """Return the name of the group that something is shared with, if it is one."""
    if shared is None or not shared.startswith(GROUP):
        return None
    return shared.removeprefix(GROUP)


def shared_in_list(claim: Shared | None, of_list: Shared | None) -> Shared | None:
    """Return with whom a claim of before is shared when a list of its owner comes to it.

    More see it, never fewer: of two groups, the first keeps it.
    """
    wider = of_list == "everyone" or (claim == "owner" and of_list is not None)
    return of_list if wider else claim


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who wants to see something.

    ``owner``: of what is the viewer's. ``sees_all``: an operator. ``lists_unmarked``: lists show
    also what has no mark; else only its address opens it. ``groups``: those that the viewer is in.
    """

    owner: str | None
    sees_all: bool = False
    lists_unmarked: bool = False
    groups: tuple[str, ...] = ()

    def opens(self, owner: str | None, shared: Shared | None) -> bool:
        """Return whether the viewer may open what belongs to this owner and is shared so."""
        return self.sees_all or shared is None or shared in self._marks or self._owns(owner)

    def _owns(self, owner: str | None) -> bool:
        return owner is not None and owner == self.owner

    def may_open(self, kind: type[ClaimRow | ListRow]) -> ColumnElement[bool]:
        """Return which rows ``opens`` is true of."""
        if self.sees_all:
            return true()
        return or_(kind.shared.is_(None), self.is_shared(kind), self._owned(kind.owner))

    def listed(self, kind: type[ClaimRow | ListRow]) -> ColumnElement[bool]:
        """Return which rows lists and searches show to the viewer."""
        if self.sees_all:
            return true()
        unmarked = kind.shared.is_(None) if self.lists_unmarked else false()
        return or_(self.is_shared(kind), unmarked, self._owned(kind.owner))

    def is_shared(self, kind: type[ClaimRow | ListRow]) -> ColumnElement[bool]:
        """Return which rows are shared with the viewer, whosever they are."""
        return kind.shared.in_(self._marks)

    @property
    def _marks(self) -> tuple[Shared, ...]:
        return ("everyone", *(f"{GROUP}{name}" for name in self.groups))

    def _owned(self, owner: InstrumentedAttribute[str | None]) -> ColumnElement[bool]:
        return false() if self.owner is None else owner == self.owner


EVERYTHING = Viewer(None, sees_all=True)
