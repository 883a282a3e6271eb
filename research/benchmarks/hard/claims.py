"""The claims: those that need several pages, over the ids of ``pages``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, read_fever_claims
from research.evaluation.corpus_claims import read_corpus_claims
from research.training.compositions import compositions
from research.training.data import TrainingData
from research.training.sentence_pool import SentencePool
from retrieval.corpora.corpus import readable_pages
from retrieval.corpora.wiki.fever import FeverCorpus, plain_title
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.system.files import write_whole

KINDS = ("fever", "everyday", "composed")
_COMPOSED, _SEED = 400, 1


def write_claims(kind: str, data: Path, path: Path) -> None:
    """Write the claims of a kind, which ``esoteric evaluate --claims`` reads.

    ``fever``: the claims of FEVER's dev that need several pages. ``everyday``: the two-hop claims
    of dev about the default corpus. ``composed``: claims like HoVer's (Jiang et al. 2020), made by
    rules of sentences of two pages of the default corpus, one of which is only described. The ids
    of FEVER's pages become titles, as in ``pages``.
    """
    made = {"fever": _fever, "everyday": _everyday, "composed": _composed}
    claims = made[kind](data)
    lines = (json.dumps(_record(claim, kind), ensure_ascii=False) + "\n" for claim in claims)
    write_whole(path, "".join(lines).encode())


def _fever(data: Path) -> Sequence[AnnotatedClaim]:
    claims = read_fever_claims(data / "fever-dev/dev.jsonl")
    return [claim for claim in claims if claim.needs_several_pages]


def _everyday(data: Path) -> Sequence[AnnotatedClaim]:
    claims = read_corpus_claims(data / "vital/dev.jsonl")
    return [claim for claim in claims if claim.kind == "two-hop"]


def _composed(data: Path) -> Iterable[AnnotatedClaim]:
    """Return one claim for each pair of pages; the models were trained on other pages' claims."""
    fever = {page.title for page in readable_pages(FeverCorpus(data / "fever-dev/wiki-pages"))}
    with TemporaryDirectory() as folder:
        everything = SentencePool(VitalCorpus(), _NoEncoder(), Path(folder))
    pool = everything.without({s.page for s in everything.sentences if s.title in fever})
    sources = TrainingData([], [], [], [], pool, pool, 0, {})
    pairs: dict[frozenset[str], AnnotatedClaim] = {}
    for made in compositions(sources, _SEED, _COMPOSED):
        pairs.setdefault(made.claim.pages, made.claim)
    return pairs.values()


class _NoEncoder:
    """Composing reads no vectors."""

    name, dimension = "none", 1

    def warm_up(self) -> None:
        pass

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.zeros((len(texts), 1), np.float32)


def _record(claim: AnnotatedClaim, kind: str) -> dict[str, Any]:
    evidence = [[[plain_title(page), n] for page, n in group] for group in claim.evidence]
    return {"claim": claim.text, "label": claim.label, "kind": kind, "evidence": evidence}
