"""How the worker lets go of a message when its claim is done."""

from __future__ import annotations

from celery.worker import request


class Request(request.Request):  # type: ignore[misc]
    """A request that does not hide that its message could not be acknowledged.

    Celery logs such a failure and goes on, and the transport goes on counting the
    message as being worked on. With one message at a time that is the end: the
    connection may come back, but nothing is read from it any more. Raised, the
    error tells Celery that the connection is lost, and it opens another one.

    Celery also puts the acknowledgement off until the loop comes round, for pools
    whose results arrive in other threads. Ours runs claims in the loop's thread.
    """

    def acknowledge(self) -> None:
        """Acknowledge the message; raises the transport's error if it cannot be done."""
        if not self.acknowledged:  # type: ignore[has-type]
            self.message.ack()
            self.acknowledged = True
