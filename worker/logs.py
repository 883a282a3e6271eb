"""The log of the web process and of the worker, in UTC; it holds no text of a claim.

A message is one line, whatever address or error it quotes. It names a claim by its id. Of an
unexpected error only its kind and its places are written, since its message may quote what could
not be read.
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from types import TracebackType
from typing import TypeAlias

_Raised: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)
# Errors whose messages name files, addresses and modules.
_MESSAGE_IS_SHOWN = (OSError, ImportError)
_LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_MOMENT = "%Y-%m-%dT%H:%M:%SZ"


# What would end a line, or be a command to a terminal, is written as an escape.
_CONTROLS = {
    code: chr(code).encode("unicode_escape").decode()
    for code in (*range(32), *range(127, 160), 0x2028, 0x2029)
}


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


def start_logging() -> None:
    """Write messages from level INFO on to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(_LINE, _MOMENT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
