"""What the index says of itself, read from its ``meta.json`` alone.

The web must not load what opens an index, and need not: this file tells enough.
"""

from __future__ import annotations

import json
from pathlib import Path

from app.contexts import Corpus
from app.wording import day
from retrieval.errors import IndexUnavailable
from retrieval.mends import esoteric_command

# Sources whose texts are Wikipedia's and are shown under its licence.
_WIKIPEDIA_SOURCES = ("vital", "fever")


def read_corpus(index: Path) -> Corpus:
    """Return the corpus that the current index holds.

    Raises:
        IndexUnavailable: there is no index, or it does not say what it is.
    """
    path = index / "current" / "meta.json"
    build = f"Build it: {esoteric_command('index build --source vital')}"
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
        return Corpus(
            name=str(meta["name"]),
            documents=int(meta["documents"]),
            built=day(str(meta["built_at"])),
            attribution=str(meta["source"]).partition(":")[0] in _WIKIPEDIA_SOURCES,
        )
    except FileNotFoundError as error:
        raise IndexUnavailable("index_missing", "There is no index yet.", build) from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        message = f"The index cannot be read ({path})."
        raise IndexUnavailable("index_damaged", message, build) from error
