"""What can be wrong with an index, in words for the user; every store uses the same."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from retrieval.corpora.corpus import BadPage
from retrieval.errors import BadSource, EsotericError, IndexUnavailable
from retrieval.models.document_encoders import DEFAULT_ENCODER, DPR_ENCODER, OWN_ENCODER, choice_of
from retrieval.system.fixes import esoteric_command


class IndexNotBuilt(EsotericError):
    """The index could not be built or changed; the previous one is unchanged."""


def rebuild(source: str = "vital", encoder: str | None = None, changed: bool = False) -> str:
    """Return the hint that ends with the command which builds an index.

    ``encoder`` and ``changed`` are those of the ``Description`` of the index that is to be built
    again; an encoder that is not known is taken for the default one.
    """
    choice = DEFAULT_ENCODER if encoder is None else choice_of(encoder)
    vectors = "" if choice == DEFAULT_ENCODER else f" --vectors {choice}"
    command = esoteric_command(f"index build --source {shlex.quote(source)}{vectors}")
    then = ", and then add and remove again what was added and removed since" if changed else ""
    return f"Run{then}: {command}"


def index_missing(where: object = "") -> IndexUnavailable:
    """Return the error that there is no index, with the command that builds one."""
    at = f" at {where}" if where else ""
    return IndexUnavailable("index_missing", f"There is no index yet{at}.", rebuild())


def damaged(fix: str, what: str = "") -> IndexUnavailable:
    """Return the error of a damaged index, with the hint ``fix``; ``what`` names a part of it."""
    where = f": {what} is not whole" if what else ""
    return IndexUnavailable("index_damaged", f"The index is damaged{where}.", fix)


def other_encoder(has: str, wanted: str) -> IndexUnavailable:
    """Return the error of an index that has vectors of another encoder."""
    choice = choice_of(wanted)
    vectors = f" --vectors {choice}" if choice in (DPR_ENCODER, OWN_ENCODER) else ""
    named = f"vectors of {_called(has) or 'no encoder'}, not of {_called(wanted) or 'none'}"
    instead = "Use --recipe report, or run" if choice_of(has) == DPR_ENCODER else "Run"
    return IndexUnavailable(
        "index_encoder",
        f"The index has {named}.",
        f"{instead}: {esoteric_command(f'index encode{vectors}')}",
    )


def no_vectors() -> IndexUnavailable:
    """Return the error of an index without vectors."""
    return IndexUnavailable(
        "index_vectors", "The index has no vectors.", f"Run: {esoteric_command('index encode')}"
    )


def unknown_document(document_id: str) -> BadSource:
    """Return the error of ``Index.remove``."""
    return BadSource(
        "unknown_document",
        f"The index contains no document with the id {document_id!r}; nothing was removed.",
        "Leave it out.",
    )


def source_empty(source: str, bad: Sequence[BadPage]) -> BadSource:
    """Return the error of a source without a sentence; ``bad``: its pages that cannot be read."""
    message = f"{source} holds no page with a sentence"
    if bad:
        return BadSource("source_empty", f"{message}: {bad[0].message}", bad[0].hint)
    return BadSource("source_empty", f"{message}.", "Name a source that holds some.")


def _called(encoder: str) -> str:
    """Return how a message calls an encoder, by its name in an index."""
    if choice_of(encoder) == OWN_ENCODER:
        return f"{encoder.removeprefix(f'{OWN_ENCODER} ')} (ESOTERIC_ENCODER)"
    return encoder
