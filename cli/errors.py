"""How every command fails: one line on standard error and a status, never a traceback."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import wraps
from typing import NoReturn, ParamSpec, TypeVar

import click

from retrieval.errors import EsotericError
from settings import BadSetting

P = ParamSpec("P")
R = TypeVar("R")

FAILED = 1
INTERRUPTED = 130


def reports_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn the errors that a user can act on into one line and an exit status."""

    @wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (EsotericError, BadSetting) as error:
            _fail(str(error))
        except OSError as error:
            if error.errno == errno.ENOSPC:
                _fail(f"The disk is full ({error.filename}). Make room and run the command again.")
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                _fail(f"{error.filename} cannot be written. Check its permissions.")
            raise
        except KeyboardInterrupt:
            click.echo("", err=True)
            raise SystemExit(INTERRUPTED) from None

    return wrapper


def _fail(message: str) -> NoReturn:
    line = " ".join(message.split())
    click.echo(f"esoteric: {line}", err=True)
    raise SystemExit(FAILED) from None
