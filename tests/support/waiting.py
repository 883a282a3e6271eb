"""Waiting for what happens in another process or thread."""

import time
from collections.abc import Callable


def wait_until(true: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Look again and again; after so many seconds the test fails and says what did not come."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds} seconds"
        time.sleep(0.02)
