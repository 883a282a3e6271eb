"""How the worker acknowledges a message when its claim is done."""

from __future__ import annotations

from celery.worker import request


class Request(request.Request):  # type: ignore[misc]
    """A request that raises an error if its message cannot be acknowledged.

    Celery only logs such a failure, and the transport continues to count the message
    as taken. With one message at a time, the worker would then never read another one,
    even after a new connection. With the error, Celery knows that the connection is
    lost and opens another one.

    Celery also delays the acknowledgement until its next loop, for pools whose results
    arrive in other threads. Here claims run in the loop's own thread.
    """

    def acknowledge(self) -> None:
        """Acknowledge the message; raises the transport's error if it cannot be done."""
        if not self.acknowledged:  # type: ignore[has-type]
            self.message.ack()
            self.acknowledged = True
