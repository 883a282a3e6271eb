"""What can go wrong, as few classes as callers can tell apart.

Each error carries a ``code`` for programs, a ``message`` that says what is
wrong and a ``hint`` that says what to do about it. Edges (CLI, pages, API)
translate; nothing in between catches them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in three parts: a code for programs, what is wrong, and what to do about it."""

    code: str
    message: str
    hint: str


class EsotericError(Exception):
    """Base of all errors that a user can act on."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.code = code
        self.message = message
        self.hint = hint

    @property
    def problem(self) -> Problem:
        """The three parts of the error."""
        return Problem(self.code, self.message, self.hint)

    def __reduce__(self) -> tuple[object, ...]:
        """Let another process raise it: exceptions pickle by what ``super`` was told otherwise."""
        return _raised_elsewhere, (type(self), self.code, self.message, self.hint)


def _raised_elsewhere(
    kind: type[EsotericError], code: str, message: str, hint: str
) -> EsotericError:
    error = kind.__new__(kind)
    EsotericError.__init__(error, code, message, hint)
    return error


class InvalidClaim(EsotericError):
    """The text given is not something that can be checked."""


class UnknownRecipe(EsotericError):
    """No recipe has this name."""


class BadSource(EsotericError):
    """A corpus cannot be read; the message names file and line."""


class IndexUnavailable(EsotericError):
    """The index is missing, damaged, of another format or of another encoder."""


class ModelUnavailable(EsotericError):
    """A model's files are missing or are not the ones this version was made with."""


class Cancelled(Exception):
    """Raised by a progress listener to stop the work on a claim."""
