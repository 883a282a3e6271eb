"""The tables of the database, as mapped classes; ``worker/migrations`` makes and changes them.

Whoever sent a text, one rule is for all that is stored: PostgreSQL takes no NUL, and no database
takes half of a surrogate pair, which UTF-8 cannot encode. Each becomes U+FFFD, so that a text keeps
its length, and places in it stay right.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, ClassVar, cast

from pydantic import TypeAdapter
from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
    false,
    inspect,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine

from retrieval.errors import Problem
from retrieval.result import ClaimResult
from retrieval.types import Findings
from worker.reports import AskedModel, SearchedCorpus

# The newest revision in worker/migrations.
REVISION = "right_evidence_0020"
_REFUSED = re.compile("[\0\ud800-\udfff]")


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the tables; ``None``: there are none, or they are older than that."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return cast("str | None", found)


def storable(value: Any) -> Any:
    """Return a text, or a value of JSON with all its texts, as every database takes it."""
    if isinstance(value, str):
        return _REFUSED.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {storable(name): storable(one) for name, one in value.items()}
    if isinstance(value, list):
        return [storable(one) for one in value]
    return value


class StoredText(TypeDecorator[str]):
    """A column of text; also what it is compared with goes by the rule."""

    impl = Text
    cache_ok = True

    def __init__(self, length: int | None = None) -> None:
        """``length``: of the longest text, for those that are short."""
        super().__init__(length)
        self.length = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type that the database knows."""
        return Text() if self.length is None else String(self.length)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the text as the database stores it."""
        return None if value is None else str(storable(value))


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC, stored without time zone because SQLite has none."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time as the database stores it."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time with its time zone."""
        return None if value is None else value.replace(tzinfo=UTC)


class AsJson(TypeDecorator[Any]):
    """A value of one class, stored as JSON text."""

    impl = Text
    cache_ok = True

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.kind = kind
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Return the value as the database stores it."""
        if value is None:
            return None
        return self._adapter.dump_json(storable(value), exclude_unset=True).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Return the value; raises pydantic's ``ValidationError`` if it is another kind."""
        return None if value is None else self._adapter.validate_json(value)


class Base(DeclarativeBase):
    """All tables."""

    type_annotation_map: ClassVar = {datetime: UtcDateTime, str: StoredText}


class ClaimRow(Base):
    """A submitted claim."""

    __tablename__ = "claims"
    __table_args__ = (
        Index("claims_by_state", "state", "lease_until"),
        Index("claims_by_owner", "owner", "number"),
        # The history needs no row to group claims, and few to show a page of them.
        Index("claims_by_text", "folded", "number"),
        Index("claims_by_recipe", "recipe"),
        # All that a search for divided claims needs: SQLite reads a column behind the long results
        # slowly.
        Index(
            "claims_divided",
            "id",
            "divided",
            sqlite_where=text("divided = 1"),
            postgresql_where=text("divided"),
        ),
        {"sqlite_autoincrement": True},
    )

    # The order of the history, also for two claims of the same millisecond.
    number: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True
    )
    id: Mapped[str] = mapped_column(StoredText(32), unique=True)
    claim: Mapped[str]
    # The claim casefolded: LIKE ignores case only for ASCII in SQLite, and never in PostgreSQL.
    folded: Mapped[str]
    recipe: Mapped[str] = mapped_column(StoredText(64))
    # The visitor who submitted it (app/people/visitor.py). NULL: it belongs to nobody, because a
    # command or a program without a cookie submitted it.
    owner: Mapped[str | None] = mapped_column(StoredText(64))
    # With whom it is shared (worker/sharing.py).
    shared: Mapped[str | None] = mapped_column(StoredText(64))
    # Whose turn it takes (worker/turns.py): a user, or a digest of an address, until it has ended.
    client: Mapped[str | None] = mapped_column(StoredText(64))
    # A person typed it into the page, and waits for it.
    typed: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    # The claim that its author edited, or whose search this one continues. That one may be gone.
    edited_from: Mapped[str | None] = mapped_column(StoredText(32))
    continued_from: Mapped[str | None] = mapped_column(StoredText(32))
    # Who said it, where and when, as far as known (worker/jobs.py, SaidBy).
    speaker: Mapped[str | None] = mapped_column(StoredText(300))
    appearance: Mapped[str | None] = mapped_column(StoredText(300))
    said_on: Mapped[str | None] = mapped_column(StoredText(300))
    # The names of the corpora that it is checked against; NULL: the default one.
    corpora: Mapped[tuple[str, ...] | None] = mapped_column(AsJson(tuple[str, ...]))
    # A digest of claim, recipe, corpora and owner while the job is pending, NULL afterwards. UNIQUE
    # allows many NULLs, so it means "one pending job", on every database.
    pending: Mapped[str | None] = mapped_column(StoredText(64), unique=True)
    state: Mapped[str] = mapped_column(StoredText(16))
    created_at: Mapped[datetime]
    # Of earlier versions: when the broker took a message for it.
    dispatched_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    attempts: Mapped[int]
    # Identifies one run of the job. Only the worker with this token may write events or a result.
    token: Mapped[str | None] = mapped_column(StoredText(32))
    worker: Mapped[str | None] = mapped_column(StoredText(128))
    # When the worker last renewed its lease, by its clock. Others only look whether it changes.
    renewed_at: Mapped[datetime | None] = mapped_column("lease_until")
    # Copies of the result's verdict, so that a list of claims need not read the results.
    label: Mapped[str | None] = mapped_column(StoredText(16))
    confidence: Mapped[float | None] = mapped_column(Float)
    leans: Mapped[str | None] = mapped_column(StoredText(16))
    # Whether the evidence of the verdict disagrees; NULL: it does not, or there is none yet.
    divided: Mapped[bool | None] = mapped_column(Boolean)
    result: Mapped[ClaimResult | None] = mapped_column(AsJson(ClaimResult))
    error: Mapped[Problem | None] = mapped_column(AsJson(Problem))

    @staticmethod
    def outcome(result: ClaimResult) -> dict[str, Any]:
        """Return the columns of a claim that is done."""
        verdict = result.verdict
        return {
            "label": verdict.label,
            "confidence": verdict.confidence,
            "leans": verdict.leans,
            "divided": result.divided,
            "result": result,
        }


class EventRow(Base):
    """One step of the work on a claim."""

    __tablename__ = "events"

    claim_id: Mapped[str] = mapped_column(
        StoredText(32), ForeignKey("claims.id", ondelete="CASCADE"), primary_key=True
    )
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    stage: Mapped[str] = mapped_column(StoredText(32))
    message: Mapped[str]
    done: Mapped[int]
    of: Mapped[int]
    found: Mapped[Findings | None] = mapped_column(AsJson(Findings))


class FeedbackRow(Base):
    """What a visitor says about a verdict."""

    __tablename__ = "feedback"
    __table_args__ = (
        # NULL is not equal to NULL: programs without a cookie may give any number.
        UniqueConstraint("claim_id", "owner", name="feedback_once"),
        Index("feedback_by_owner", "owner"),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True
    )
    id: Mapped[str] = mapped_column(StoredText(32), unique=True)
    claim_id: Mapped[str] = mapped_column(
        StoredText(32), ForeignKey("claims.id", ondelete="CASCADE")
    )
    owner: Mapped[str | None] = mapped_column(StoredText(64))
    agrees: Mapped[bool]
    label: Mapped[str] = mapped_column(StoredText(16))
    wrong: Mapped[tuple[int, ...]] = mapped_column(AsJson(tuple[int, ...]))
    note: Mapped[str]
    name: Mapped[str]
    created_at: Mapped[datetime]


class TurnRow(Base):
    """The last turn of a client or of an owner: the higher the number, the later."""

    __tablename__ = "turns"

    who: Mapped[str] = mapped_column(StoredText(64), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)


class UserRow(Base):
    """Somebody who may use the service."""

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(StoredText(50), primary_key=True)
    role: Mapped[str] = mapped_column(StoredText(16))
    created_at: Mapped[datetime]


class MemberRow(Base):
    """A user in a group. A group is there as long as it has members."""

    __tablename__ = "group_members"
    __table_args__ = (Index("group_members_by_user", "user"),)

    group: Mapped[str] = mapped_column(StoredText(50), primary_key=True)
    user: Mapped[str] = mapped_column(
        StoredText(50), ForeignKey("users.name", ondelete="CASCADE"), primary_key=True
    )


class CredentialRow(Base):
    """What lets a user in: a token, or the session of a browser that has logged in.

    ``digest``: of the token or the cookie, so these are in no database.
    """

    __tablename__ = "credentials"
    __table_args__ = (Index("credentials_by_user", "user"),)

    digest: Mapped[str] = mapped_column(StoredText(64), primary_key=True)
    # What pages and commands name it by.
    id: Mapped[str] = mapped_column(StoredText(32), unique=True)
    # token or session.
    kind: Mapped[str] = mapped_column(StoredText(16))
    user: Mapped[str] = mapped_column(StoredText(50), ForeignKey("users.name", ondelete="CASCADE"))
    # Of a token what its user calls it, of a session its browser.
    name: Mapped[str]
    made_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    ends_at: Mapped[datetime | None]


class WorkerRow(Base):
    """A worker, as described by its last heartbeat."""

    __tablename__ = "workers"

    id: Mapped[str] = mapped_column(StoredText(128), primary_key=True)
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    state: Mapped[str] = mapped_column(StoredText(16))
    problem: Mapped[Problem | None] = mapped_column(AsJson(Problem))
    corpus: Mapped[SearchedCorpus | None] = mapped_column(AsJson(SearchedCorpus))
    language_model: Mapped[AskedModel | None] = mapped_column(AsJson(AskedModel))
    # The mark of its folder of documents; NULL: it did not say.
    documents: Mapped[str | None] = mapped_column(StoredText(64))


class AnswerRow(Base):
    """An answer of a language model, by the digest of the statement and of what was asked."""

    __tablename__ = "answers"

    digest: Mapped[str] = mapped_column(StoredText(64), primary_key=True)
    answer: Mapped[str]
    kept_at: Mapped[datetime]


class TallyRow(Base):
    """A number that only grows (worker/tallies.py); ``series``: its labels' values, as JSON."""

    __tablename__ = "tallies"

    name: Mapped[str] = mapped_column(StoredText(64), primary_key=True)
    series: Mapped[str] = mapped_column(StoredText(255), primary_key=True)
    value: Mapped[float] = mapped_column(Float)


class ListRow(Base):
    """A list of claims that somebody has submitted."""

    __tablename__ = "lists"
    __table_args__ = ({"sqlite_autoincrement": True},)

    number: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True
    )
    id: Mapped[str] = mapped_column(StoredText(32), unique=True)
    name: Mapped[str]
    recipe: Mapped[str] = mapped_column(StoredText(64))
    # As in the table of claims.
    owner: Mapped[str | None] = mapped_column(StoredText(64))
    shared: Mapped[str | None] = mapped_column(StoredText(64))
    # Whose limit its rows count against where it has no owner (app/lists/input.py), until it
    # has ended.
    client: Mapped[str | None] = mapped_column(StoredText(64))
    state: Mapped[str] = mapped_column(StoredText(16))
    # The names of the columns beside the claims, in their order.
    columns: Mapped[list[str]] = mapped_column(AsJson(list[str]))
    # The file that it came in, the name of its column with the claims ("": there is none), and how
    # many of the others stand before it.
    file_name: Mapped[str] = mapped_column(default="", server_default="")
    claim_column: Mapped[str] = mapped_column(default="", server_default="")
    claim_after: Mapped[int] = mapped_column(default=0, server_default="0")
    # What parts its cells, and the decimal mark of its numbers: of a .csv, as it came in.
    csv_separator: Mapped[str] = mapped_column(StoredText(1), default=",", server_default=",")
    csv_decimal_mark: Mapped[str] = mapped_column(StoredText(1), default=".", server_default=".")
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    # The text that the claims are from, NULL where they are from none.
    source_text: Mapped[str | None]
    # The web page that this text was read from, NULL where it was pasted.
    page_title: Mapped[str | None]
    page_address: Mapped[str | None]
    # As in the table of claims.
    corpora: Mapped[tuple[str, ...] | None] = mapped_column(AsJson(tuple[str, ...]))


class EntryRow(Base):
    """A row of a list. Its claim is made when the row is handed to the queue."""

    __tablename__ = "list_rows"
    __table_args__ = (
        Index("list_rows_by_claim", "claim_id", "list_id", "number"),
        Index("list_rows_by_state", "state", "number"),
    )

    list_id: Mapped[str] = mapped_column(
        StoredText(32), ForeignKey("lists.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    # Its line or row in the file, for messages.
    place: Mapped[str]
    claim: Mapped[str]
    others: Mapped[dict[str, Any]] = mapped_column(AsJson(dict[str, Any]))
    # waiting, handed (to the queue), refused (why: problem) or cancelled.
    state: Mapped[str] = mapped_column(StoredText(16))
    problem: Mapped[Problem | None] = mapped_column(AsJson(Problem))
    # NULL in a row that was handed on: its claim was deleted.
    claim_id: Mapped[str | None] = mapped_column(
        StoredText(32), ForeignKey("claims.id", ondelete="SET NULL")
    )
    # The characters of the list's text that say it.
    said_from: Mapped[int | None]
    said_to: Mapped[int | None]


class ComparedRow(Base):
    """A check in a comparison, with what is known of its claim. It goes with the check.

    The name of the comparison is in each of its rows: without rows there is none.
    """

    __tablename__ = "compared_checks"
    __table_args__ = (Index("compared_checks_by_claim", "claim_id"),)

    comparison_id: Mapped[str] = mapped_column(StoredText(32), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    claim_id: Mapped[str] = mapped_column(
        StoredText(32), ForeignKey("claims.id", ondelete="CASCADE")
    )
    name: Mapped[str]
    gold: Mapped[str | None] = mapped_column(StoredText(16))
    kind: Mapped[str]
    # The sentences that the right label rests on: document and number.
    evidence: Mapped[tuple[tuple[str, int], ...] | None] = mapped_column(
        AsJson(tuple[tuple[str, int], ...])
    )
