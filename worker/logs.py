"""The log of the web process and of the worker, in UTC; it holds no text of a claim.

A message is one line, whatever address or error it quotes. It names a claim by its id. Of an
unexpected error only its kind and its places are written, since its message may quote what could
not be read.

As JSON, an event is one line with ``time``, ``level``, ``logger`` and ``message``, what it is
about (``about``, such as the id of a claim), and ``error`` with the lines of an unexpected one.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TypeAlias

_Raised: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)
# Errors whose messages name files, addresses and modules.
_MESSAGE_IS_SHOWN = (OSError, ImportError)
_LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_MOMENT = "%Y-%m-%dT%H:%M:%SZ"
_about: ContextVar[dict[str, str] | None] = ContextVar("about", default=None)


# What would end a line, or be a command to a terminal, is written as an escape.
_CONTROLS = {
    code: chr(code).encode("unicode_escape").decode()
    for code in (*range(32), *range(127, 160), 0x2028, 0x2029)
}


class Facts(dict[str, object]):
    """A message that is facts alone; in a log of text it is JSON."""

    def __str__(self) -> str:
        return json.dumps(self)


class _Formatter(logging.Formatter):
    converter = staticmethod(time.gmtime)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the line of a message."""
        return super().formatMessage(record).translate(_CONTROLS)

    def formatException(self, ei: _Raised) -> str:  # noqa: N802 - logging's name
        """Return the kinds and the places of an error and of those that led to it."""
        parts: list[str] = []
        error = ei[1]
        while error is not None:
            message = f": {error}" if isinstance(error, _MESSAGE_IS_SHOWN) else ""
            places = "".join(traceback.format_tb(error.__traceback__))
            parts.append(f"{places}{type(error).__name__}{message}")
            hidden = error.__suppress_context__
            error = error.__cause__ or (None if hidden else error.__context__)
        return "\n".join(reversed(parts))


class _JsonFormatter(_Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return the event as one line of JSON, in ASCII."""
        said = record.msg if isinstance(record.msg, Facts) else {"message": record.getMessage()}
        event = {
            "time": self.formatTime(record, _MOMENT),
            "level": record.levelname,
            "logger": record.name,
            **(_about.get() or {}),
            **said,
        }
        if record.exc_info:
            event["error"] = self.formatException(record.exc_info).splitlines()
        return json.dumps(event)


@contextmanager
def about(**named: str | None) -> Iterator[None]:
    """Say of all that this thread logs in the block what it is about; ``None`` is left out."""
    before = _about.set((_about.get() or {}) | _known(named))
    try:
        yield
    finally:
        _about.reset(before)


def now_about(**named: str | None) -> None:
    """Say what all is about that this thread logs from now on; forget what was said before."""
    _about.set(_known(named))


def _known(named: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in named.items() if value}


def log_as_json() -> None:
    """Write one line of JSON for each event from now on."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_JsonFormatter())


def start_logging() -> None:
    """Write messages from level INFO on to standard error, as text."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(_LINE, _MOMENT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    # It tells each part of each font that it puts into a PDF.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
