"""How every command fails: one line on standard error and an exit status, never a traceback."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import wraps
from typing import IO, Any, NoReturn, ParamSpec, TypeVar

import click

from retrieval.errors import BadRecipe, EsotericError, InvalidClaim, UnknownRecipe
from settings import BadSetting

P = ParamSpec("P")
R = TypeVar("R")

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
# The last one is the code of UnknownRecipe, as a running service answers it.
_WRONG_USAGE_CODES = {"source_unknown", "store_unknown", "unknown_recipe"}


def reports_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn the errors that a user can act on into one line and an exit status."""

    @wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (InvalidClaim, UnknownRecipe, BadRecipe, BadSetting) as error:
            _fail(str(error), WRONG_USAGE)
        except EsotericError as error:
            _fail(str(error), WRONG_USAGE if error.code in _WRONG_USAGE_CODES else FAILED)
        except BrokenPipeError:
            raise  # the reader of the output closed it; click ends without a message
        except OSError as error:
            _fail(os_error(error), FAILED)
        except KeyboardInterrupt:
            click.echo("\nesoteric: Interrupted.", err=True)
            raise SystemExit(INTERRUPTED) from None

    return wrapper


def printable(text: str) -> str:
    """Return the text without control characters, since evidence may be hostile."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def say(text: str, *, on_output: bool = False) -> None:
    """Print a line on standard error, or on standard output, without control characters."""
    click.echo(printable(text), err=not on_output)


class WrongUsage(click.ClickException):
    """Click's message about wrong usage, in one line."""

    exit_code = WRONG_USAGE

    def __init__(self, error: click.UsageError) -> None:
        command = error.ctx.command_path if error.ctx else "esoteric"
        super().__init__(f"{error.format_message()} See: {command} --help")

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        _print(self.message)


def os_error(error: OSError) -> str:
    """Return what went wrong with a file, why, and what to do."""
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"The disk is full{where}. Make room and run the command again."
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return f"A file or folder cannot be read or written{where}. Check its permissions."
    return f"{error.strerror or error}{where}. Check the path."


def _fail(message: str, status: int) -> NoReturn:
    _print(message)
    raise SystemExit(status) from None


def _print(message: str) -> None:
    say(f"esoteric: {' '.join(message.split())}")
