"""Lets one process at a time change an index: a document in the index ``NAME-lock``.

Elasticsearch writes the document only if it has not changed since it was read, so that only one of
two processes gets the lock. The holder renews it. A lock that is not renewed, or whose holder has
ended, is taken over.
"""

from __future__ import annotations

import logging
import os
import platform
import time
import uuid
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any

from elastic_transport import TransportError
from elasticsearch import ApiError, Elasticsearch

from retrieval.index.errors import IndexNotBuilt

_ID = "lock"
SUFFIX = "-lock"
_RENEWED_EVERY = 5.0  # seconds
_DEAD_AFTER = 120.0  # seconds; after that, or with another clock, the lock is watched
_RELEASED_WITHIN = 5.0  # seconds

# The locks of this process. A lock that it could not delete is removed from here too, so that it
# can take it again.
_HELD: set[str] = set()

logger = logging.getLogger(__name__)


class ChangeLock:
    """Held while the block runs; ``held`` raises if another process has taken it over."""

    def __init__(self, client: Elasticsearch, index: str) -> None:
        """Lock the index of this name."""
        # It waits less than a build does: a lock must be renewed in time.
        self._client = client.options(request_timeout=10, max_retries=1, retry_on_status=())
        self._index = index
        self._lock = f"{index}{SUFFIX}"
        self._token = uuid.uuid4().hex
        self._seen: dict[str, int] = {}
        self._lost = False
        self._ended = Event()
        self._writing = Lock()
        self._thread = Thread(target=self._renew, name="lock of the index", daemon=True)

    def __enter__(self) -> ChangeLock:
        """Take the lock.

        Raises:
            IndexNotBuilt: another process holds it.
            ApiError, TransportError: Elasticsearch does not answer or refuses.
        """
        if not self._client.indices.exists(index=self._lock):
            self._client.options(ignore_status=400).indices.create(
                index=self._lock,
                settings={"number_of_shards": 1, "auto_expand_replicas": "0-1"},
                mappings={"dynamic": False},
                wait_for_active_shards=1,
            )
        found = _read(self._client, self._lock)
        if found is not None and (_works(found) or self._is_renewed(found)):
            raise self._held_by(found["_source"])
        if not self._write({"op_type": "create"} if found is None else _as_read(found)):
            raise self._held_by({})
        _HELD.add(self._token)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the lock."""
        self._ended.set()
        self._thread.join(timeout=_RELEASED_WITHIN)
        _HELD.discard(self._token)
        if self._lost or self._thread.is_alive():
            return
        try:
            condition: dict[str, Any] = self._seen
            hurried = self._client.options(request_timeout=_RELEASED_WITHIN, max_retries=0)
            hurried.delete(index=self._lock, id=_ID, **condition)
        except (ApiError, TransportError) as failure:
            logger.debug("The lock remains until it expires: %s", failure)

    def held(self) -> None:
        """Renew the lock, which shows that it is still held.

        Raises:
            IndexNotBuilt: another process has taken it over, because this one did not renew it
                for two minutes.
            ApiError, TransportError: Elasticsearch does not answer or refuses.
        """
        if not self._renewed():
            raise self.taken_over()

    def taken_over(self) -> IndexNotBuilt:
        """Return the error that says that another process changes the index now."""
        return self._held_by({})

    def _renew(self) -> None:
        while not self._ended.wait(_RENEWED_EVERY):
            try:
                if not self._renewed():
                    return
            except (ApiError, TransportError) as error:
                logger.debug("The lock could not be renewed: %s", error)

    def _renewed(self) -> bool:
        """Renew the lock if it is still this process's; return whether it is."""
        with self._writing:
            self._lost = self._lost or not self._write(self._seen)
            return not self._lost

    def _write(self, condition: dict[str, Any]) -> bool:
        """Write the lock under a condition; return whether the condition was met."""
        holder = {**_this_process(), "token": self._token, "renewed_at": time.time()}
        written: Any = self._client.options(ignore_status=409).index(
            index=self._lock, id=_ID, document=holder, **condition
        )
        if "_seq_no" not in written:
            # The answer to an earlier try may have been lost; then the lock is this process's.
            written = _read(self._client, self._lock)
            if written is None or written["_source"]["token"] != self._token:
                return False
        self._seen = _as_read(written)
        return True

    def _is_renewed(self, found: Any) -> bool:
        """Watch a lock whose holder does not seem to work; return whether it is renewed."""
        if _has_ended(found["_source"]):
            return False
        time.sleep(3 * _RENEWED_EVERY)
        now = _read(self._client, self._lock)
        return now is not None and _as_read(now) != _as_read(found)

    def _held_by(self, holder: dict[str, Any]) -> IndexNotBuilt:
        who = f" (on {holder['host']}, process {holder['pid']})" if holder else ""
        return IndexNotBuilt(
            "index_locked",
            f"The index {self._index} is being changed by another process{who}.",
            "Wait until it is done. If that process was killed, wait two minutes.",
        )


def being_changed(client: Elasticsearch, index: str) -> bool:
    """Return whether a process holds the lock of an index."""
    found = _read(client, f"{index}{SUFFIX}")
    return found is not None and _works(found)


def _read(client: Elasticsearch, lock: str) -> Any:
    """Return the lock, None if no process holds it."""
    found = client.options(ignore_status=404).get(index=lock, id=_ID)
    return found if found.get("found") else None


def _as_read(answer: Any) -> dict[str, int]:
    return {"if_seq_no": answer["_seq_no"], "if_primary_term": answer["_primary_term"]}


def _works(found: Any) -> bool:
    """Return whether the process that wrote the lock still seems to work on the index."""
    age = time.time() - float(found["_source"]["renewed_at"])
    return abs(age) < _DEAD_AFTER and not _has_ended(found["_source"])


def _has_ended(holder: dict[str, Any]) -> bool:
    """Return whether the holder's process is known to have ended."""
    ours = _this_process()
    if holder["machine"] != ours["machine"]:
        return False
    if holder["pid"] == ours["pid"]:
        return holder["token"] not in _HELD
    try:
        os.kill(holder["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _this_process() -> dict[str, Any]:
    """Return what identifies this process among all others.

    ``machine``: only processes with the same value see each other's numbers; two containers differ.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        machine = f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not Linux: numbers of processes cannot be compared
        machine = f"{platform.node()} {os.getpid()}"
    return {"machine": machine, "host": platform.node(), "pid": os.getpid()}
