"""``python -m app``: the web server."""

from __future__ import annotations

import logging
import signal
import sys
from threading import Event
from types import FrameType

from app import create_app
from app.http.server import listening_server
from app.services import services_of
from retrieval.errors import BadRecipe
from settings import BadSetting, Settings
from worker.corpora.errors import CorpusNotWritten
from worker.database import StoreUnavailable
from worker.file_upkeep import FileUpkeep
from worker.logs import log_as_json, start_logging

logger = logging.getLogger(__name__)


def main() -> int:
    """Serve with the settings of the environment until SIGTERM; return the exit status."""
    start_logging()
    try:
        settings = Settings.from_environment()
        if settings.log_json:
            log_as_json()
        settings.check_who_may()
        app = create_app(settings)
        server = listening_server(app, settings)
    except (BadSetting, BadRecipe, StoreUnavailable) as error:
        logger.critical("%s", error)
        return 1
    except (OSError, ValueError) as error:
        logger.critical(
            "Cannot listen on %s port %s: %s. Set HOST or PORT to another value.",
            *(settings.host, settings.port, getattr(error, "strerror", None) or error),
        )
        return 1
    signal.signal(signal.SIGTERM, _exit)
    try:
        services_of(app).corpora.make_mark()
    except CorpusNotWritten as error:
        logger.error("%s", error)
    stopping = Event()
    upkeep = FileUpkeep(services_of(app).database, stopping)
    upkeep.start()
    logger.info("Listening on %s port %s", settings.host, settings.port)
    try:
        server.run()
    finally:
        stopping.set()
        upkeep.join()
        services_of(app).close()
    return 0


def _exit(_number: int, _frame: FrameType | None) -> None:
    # Waitress stops its threads cleanly when this exception reaches its loop.
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main())
