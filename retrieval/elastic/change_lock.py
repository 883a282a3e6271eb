"""Lets one process at a time change an index: a document in the index ``NAME-lock``.

Elasticsearch writes it only if it is as it was read, so that of two that want it one gets it. Its
holder renews it; a lock that is not renewed, or whose holder has ended, is taken over.
"""

from __future__ import annotations

import logging
import os
import platform
import time
import uuid
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any

from elastic_transport import TransportError
from elasticsearch import ApiError, Elasticsearch

from retrieval.index.building import IndexNotBuilt

_ID = "lock"
_RENEWED_EVERY = 5.0  # seconds
_DEAD_AFTER = 120.0  # seconds; the clocks of two machines may differ by some

# The locks of this process: one that it could not give back is none of them.
_HELD: set[str] = set()

logger = logging.getLogger(__name__)


class ChangeLock:
    """Held while the block runs, unless ``held`` says that it was taken over."""

    def __init__(self, client: Elasticsearch, index: str) -> None:
        """Lock the index of this name."""
        # Not as patient as what builds: a lock that cannot be renewed in time is no use.
        self._client = client.options(request_timeout=30, max_retries=1, retry_on_status=())
        self._index = index
        self._lock = f"{index}-lock"
        self._token = uuid.uuid4().hex
        self._seen: dict[str, int] = {}
        self._lost = False
        self._ended = Event()
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
        found = self._client.options(ignore_status=404).get(index=self._lock, id=_ID)
        if found.get("found"):
            if _works(found["_source"]):
                raise self._held_by(found["_source"])
            condition: dict[str, Any] = _as_read(found)
        else:
            condition = {"op_type": "create"}
        if not self._write(**condition):
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
        """Give the lock back."""
        self._ended.set()
        self._thread.join()
        _HELD.discard(self._token)
        if self._lost:
            return
        try:
            condition: dict[str, Any] = self._seen
            self._client.delete(index=self._lock, id=_ID, **condition)
        except (ApiError, TransportError) as failure:
            logger.debug("The lock stays until it is found dead: %s", failure)

    def held(self) -> None:
        """Look whether the lock is still held.

        Raises:
            IndexNotBuilt: another process has taken it over, since this one stood still.
        """
        if self._lost:
            raise self._held_by({})

    def _renew(self) -> None:
        while not self._ended.wait(_RENEWED_EVERY):
            try:
                self._lost = not self._write(**self._seen)
            except (ApiError, TransportError) as error:
                logger.debug("The lock could not be renewed: %s", error)
            if self._lost:
                return

    def _write(self, **condition: Any) -> bool:
        """Write the lock under a condition; return whether it held."""
        holder = {**_this_process(), "token": self._token, "renewed_at": time.time()}
        written = self._client.options(ignore_status=409).index(
            index=self._lock, id=_ID, document=holder, **condition
        )
        if "_seq_no" not in written:
            return False
        self._seen = _as_read(written)
        return True

    def _held_by(self, holder: dict[str, Any]) -> IndexNotBuilt:
        who = f" (on {holder['host']}, process {holder['pid']})" if holder else ""
        return IndexNotBuilt(
            "index_locked",
            f"The index {self._index} is being changed by another process{who}.",
            "Wait until it is done. If it was killed on another machine, wait two minutes.",
        )


def _as_read(answer: Any) -> dict[str, int]:
    return {"if_seq_no": answer["_seq_no"], "if_primary_term": answer["_primary_term"]}


def _works(holder: dict[str, Any]) -> bool:
    """Return whether the process that wrote the lock still works on the index."""
    if time.time() - float(holder["renewed_at"]) > _DEAD_AFTER:
        return False
    ours = _this_process()
    if holder["machine"] != ours["machine"]:
        return True
    if holder["pid"] == ours["pid"]:
        return holder["token"] in _HELD
    return Path(f"/proc/{holder['pid']}").exists()


def _this_process() -> dict[str, Any]:
    """Return what tells this process from all others.

    ``machine``: processes with the same see each other's numbers, so not those of two containers.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        machine = f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # no Linux: another process's number says nothing
        machine = f"{platform.node()} {os.getpid()}"
    return {"machine": machine, "host": platform.node(), "pid": os.getpid()}
