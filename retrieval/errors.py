"""All errors that a user can act on; one class for each case that callers handle differently.

Each error has a ``code`` for programs, a ``message`` that says what is wrong and a ``hint`` that
says how to fix it. The CLI, the pages and the API show them; no other code catches them.
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
        """Pickle all arguments, so that another process can raise the error.

        By default only the arguments of ``super().__init__`` are pickled.
        """
        return _raised_elsewhere, (type(self), self.code, self.message, self.hint)


def _raised_elsewhere(
    kind: type[EsotericError], code: str, message: str, hint: str
) -> EsotericError:
    error = kind.__new__(kind)
    EsotericError.__init__(error, code, message, hint)
    return error


class InvalidClaim(EsotericError):
    """The text cannot be checked as a claim."""


class UnknownRecipe(EsotericError):
    """No recipe has this name."""


class BadSource(EsotericError):
    """A corpus cannot be read; the message names file and line."""


class IndexUnavailable(EsotericError):
    """The index is missing, damaged, of another format or of another encoder."""


class ModelUnavailable(EsotericError):
    """A model's files are missing, damaged or of another version."""


class Cancelled(Exception):
    """Raised by a progress listener to stop the work on a claim."""
