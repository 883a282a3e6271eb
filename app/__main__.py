"""``python -m app``: the web server."""

from __future__ import annotations

import logging
import signal
import sys
from types import FrameType

import waitress

from app import create_app
from app.services import services_of
from retrieval.errors import BadRecipe
from settings import BadSetting, Settings

# Requests mostly wait for the database, so there may be more threads than cores.
THREADS = 8
# The application refuses bodies above 64 KiB with an error in JSON or as a page. Waitress refuses
# bodies above this size itself, in plain text.
MOST_BYTES_READ = 8 * 1024 * 1024

logger = logging.getLogger(__name__)


def main() -> int:
    """Serve with the settings of the environment until SIGTERM; return the exit status."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    try:
        settings = Settings.from_environment()
        app = create_app(settings)
        server = waitress.create_server(
            app,
            host=settings.host,
            port=settings.port,
            threads=THREADS,
            ident=None,
            max_request_body_size=MOST_BYTES_READ,
            clear_untrusted_proxy_headers=True,
        )
    except (BadSetting, BadRecipe) as error:
        logger.critical("%s", error)
        return 1
    except (OSError, ValueError) as error:
        logger.critical(
            "Cannot listen on %s port %s: %s. Set HOST or PORT to another value.",
            *(settings.host, settings.port, getattr(error, "strerror", None) or error),
        )
        return 1
    signal.signal(signal.SIGTERM, _exit)
    logger.info("Listening on %s port %s", settings.host, settings.port)
    try:
        server.run()
    finally:
        services_of(app).close()
    return 0


def _exit(_number: int, _frame: FrameType | None) -> None:
    # Waitress stops its threads cleanly when this exception reaches its loop.
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main())
