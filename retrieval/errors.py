"""The errors: one class for each kind that callers treat differently.

Each error has a ``code`` for programs, a ``message`` that says what is wrong
and a ``hint`` that says how to fix it. Only the command line, the pages and the
API catch and show them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in three parts: a code for programs, what is wrong, and how to fix it."""

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
        """Make the error picklable for other processes, with all three parts."""
        return _unpickled, (type(self), self.code, self.message, self.hint)


def _unpickled(kind: type[EsotericError], code: str, message: str, hint: str) -> EsotericError:
    error = kind.__new__(kind)
    EsotericError.__init__(error, code, message, hint)
    return error


class InvalidClaim(EsotericError):
    """The text is not a claim that can be checked."""


class InvalidText(EsotericError):
    """The text cannot be read for its claims."""


class UnknownRecipe(EsotericError):
    """No recipe has this name."""


class BadRecipe(EsotericError):
    """A recipe's file cannot be used; the message names file and line."""


class RecipeUnavailable(EsotericError):
    """The recipe cannot run over the index that is served, or without models that are missing."""


class BadSource(EsotericError):
    """A corpus cannot be read; the message names file and line."""


class IndexUnavailable(EsotericError):
    """The index is missing, damaged, of another format or of another encoder."""


class IndexAway(IndexUnavailable):
    """The server of the index does not answer now; the same question may be answered later."""


class ModelUnavailable(EsotericError):
    """A model's files are missing, or differ from those that this version needs."""


class Cancelled(Exception):
    """Raised by a progress listener to stop the work on a claim."""
