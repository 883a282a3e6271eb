"""The threads that look after something regularly, beside the claims."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread

from retrieval.errors import EsotericError

logger = logging.getLogger(__name__)


class Regular(Thread):
    """Calls ``look`` again and again, until ``stop`` is set. An error is logged when it changes."""

    def __init__(self, name: str, stop: Event, pause: Callable[[bool | None], float]) -> None:
        """``pause``: after how many seconds the next look is, by what the last one returned.

        It gets ``None`` after an error.
        """
        super().__init__(name=name, daemon=True)
        self._halt = stop
        self._pause = pause
        self._said = ""

    def look(self) -> bool | None:
        """Do it once."""
        raise NotImplementedError

    def run(self) -> None:
        """Look until ``stop`` is set."""
        while True:
            found, problem = None, ""
            try:
                found = self.look()
            except (EsotericError, OSError) as error:
                problem = str(error)
                if problem != self._said:
                    logger.critical("The %s cannot go on: %s", self.name, problem)
            self._said = problem
            if self._halt.wait(self._pause(found)):
                return
