"""What results were measured with, so that no folder mixes results of different things."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from retrieval.config import RetrievalConfig
from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.errors import BadSource

FILE = "provenance.json"
_WORDS = {"wiki_pages": "wiki pages", "claims": "claims", "models": "models or thresholds"}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Digests (SHA-256, hexadecimal) of everything that decides the answers."""

    wiki_pages: str
    claims: str
    models: str


def digest_of_models(models: Sequence[CrossEncoder]) -> str:
    """Return the digest of these models and of every threshold of the pipeline."""
    told = [repr(RetrievalConfig()), *(model.digest for model in models)]
    return hashlib.sha256(" ".join(told).encode()).hexdigest()


def claim_folder(folder: Path, provenance: Provenance) -> None:
    """Make ``folder`` one of results with this provenance, or find that it is one.

    Raises:
        BadSource: it holds results of something else, or no results.
    """
    path = folder / FILE
    if not path.exists():
        if folder.is_dir() and any(folder.iterdir()):
            raise _refused(folder, "holds files that are no results of an evaluation")
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(provenance), indent=1) + "\n", encoding="utf-8")
        return
    try:
        found = Provenance(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise _refused(folder, f"holds a damaged {FILE}") from error
    different = [
        _WORDS[field.name]
        for field in fields(Provenance)
        if getattr(found, field.name) != getattr(provenance, field.name)
    ]
    if different:
        raise _refused(folder, f"holds results of other {' and '.join(different)}")


def _refused(folder: Path, why: str) -> BadSource:
    return BadSource("other_results", f"{folder} {why}.", "Name another folder, or remove it.")
