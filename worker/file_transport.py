"""The embedded broker: messages are files in a folder, so there is no server to run.

This is kombu's filesystem transport with four operations changed. Three let processes be
killed at any moment:

* A message is written to another name and then renamed into the queue. Kombu opens the
  final name first, so another process can find an empty file, lose it and fail.
* A message is taken by renaming it within ``taken/``, on the same disk. Kombu
  moves it to the system's temporary folder, possibly by copying.
* The table that binds the queue to its exchange is replaced as a whole. Kombu
  truncates it before it takes the lock, so a process that is killed then leaves an
  empty table, and the queue fails from then on.

The fourth: a channel lists the folder once, reads the messages of the list, and only then lists it
again. Kombu lists and sorts it for each message, so a long queue is read ever more slowly.

Names start with the time in nanoseconds, so that they sort by age. Kombu uses
milliseconds since boot, which do not sort as text and start again with every boot.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import defaultdict, deque
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import filesystem

from retrieval.system.files import make_private_folder

# Celery checks between two waits whether it should stop.
LONGEST_WAIT_SECONDS = 0.25


class Channel(filesystem.Channel):
    """A channel whose files are complete or absent."""

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)  # type: ignore[no-untyped-call]
        self._listed: defaultdict[str, deque[Path]] = defaultdict(deque)
        for folder in (self.data_folder_in, self.processed_folder, self.control_folder):
            make_private_folder(Path(folder))

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]
        name = f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        _write_whole(Path(self.data_folder_out) / name, payload)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        listed = self._listed[queue]
        while True:
            if not listed:
                listed.extend(sorted(Path(self.data_folder_in).glob(f"*.{queue}.msg")))
            if not listed:
                raise Empty
            waiting = listed.popleft()
            taken = Path(self.processed_folder) / waiting.name
            try:
                waiting.rename(taken)
            except FileNotFoundError:
                continue  # another worker was faster, or the queue was emptied
            content = taken.read_bytes()
            taken.unlink()
            try:
                return json.loads(content)
            except ValueError:
                continue  # damaged by a power failure: the reaper sends the claim again

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        table = self.get_table(exchange)  # type: ignore[no-untyped-call]
        binding = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        if binding not in table:
            file = self._exchange_file(exchange)  # type: ignore[no-untyped-call]
            _write_whole(file, [binding, *table])


class Transport(filesystem.Transport):
    """Kombu's filesystem transport with the channel above."""

    Channel = Channel

    def drain_events(  # type: ignore[override]
        self, connection: Any, timeout: float | None = None
    ) -> None:
        """Wait for one message, but not longer than a stopping worker may take."""
        longest = LONGEST_WAIT_SECONDS if timeout is None else min(timeout, LONGEST_WAIT_SECONDS)
        super().drain_events(connection, longest)  # type: ignore[no-untyped-call]


def _write_whole(path: Path, content: Any) -> None:
    # No fsync: after a power failure the reaper sends lost messages again.
    partial = path.with_name(f".{uuid.uuid4()}.partial")
    try:
        partial.write_text(json.dumps(content), "utf-8")
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)  # on a full disk, too
        raise
