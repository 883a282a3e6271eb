"""``esoteric train static``: token vectors whose sums come near a transformer's sentence vectors.

One matrix maps all token vectors, so that the shipped file is small. It is fitted by ridge
regression to the vectors of ``MiniLMEncoder`` for the sentences of the default corpus, each with
its title. Weights follow from the tokens' frequencies there (Arora et al. 2017, section 3). Fitting
weights and matrix further by gradient descent did not improve the figures.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch.nn.functional import embedding_bag, normalize

from research.evaluation.claims import FeverClaim, read_fever_claims
from research.training.card import write_card
from research.training.sentence_pool import kept_array
from retrieval.corpora.corpus import Corpus, readable_pages
from retrieval.corpora.sources import open_corpus
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.index.formats.codes import rotation
from retrieval.index.formats.records import encodable, records_of
from retrieval.models.encoders import (
    DocumentEncoder,
    EncodableDocument,
    MiniLMEncoder,
    QueryEncoder,
)
from retrieval.models.shipped import DENSE
from retrieval.models.static_encoder import WEIGHTS, StaticEncoder, token_vectors, word_pieces
from retrieval.system.files import digest_of
from retrieval.text.sentence_splitter import SentenceSplitter

VERSION = "1"  # of the shipped model; vectors of two versions are never compared
FREQUENT = 1e-3  # a token with this share of all tokens has half the weight of a rare one
RIDGE = 1e-3  # of the features' mean square
FIRST = (20, 100, 1000)
_TOGETHER = 4096  # texts


def train_static(data: Path, run: Path, out: Path) -> None:
    """Fit the token vectors and write them to ``out``; ``run`` is the folder of the cache.

    ``data`` contains the pages and claims that the result is measured on; they are not read in
    training.

    Raises:
        BadSource: they cannot be read.
        ModelUnavailable: the packaged weights are missing.
    """
    cache = run.parent / "vectors"
    documents = _documents(open_corpus("vital"))
    rows = _rows(documents)
    _, wanted = _encoded(MiniLMEncoder(), documents, cache)
    counts = np.bincount(np.concatenate(rows), minlength=word_pieces().get_vocab_size())
    weights = torch.from_numpy(FREQUENT / (FREQUENT + counts / counts.sum())).float()
    vectors = token_vectors(range(len(weights)))
    fitted = {"map": fit(rows, torch.from_numpy(wanted), vectors, weights)}
    out.mkdir(parents=True, exist_ok=True)
    save_file(
        {
            name: values.half().contiguous()
            for name, values in (fitted | {"weights": weights}).items()
        },
        out / WEIGHTS,
    )
    config = {"name": "static MiniLM", "version": VERSION, "sha256": digest_of(out / WEIGHTS)}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    dev = read_fever_claims(data / "fever-dev" / "dev.jsonl")
    searches = _Searches(dev, data / "fever-dev" / "wiki-pages", cache)
    write_card(
        out,
        "static",
        {"dev.jsonl": digest_of(data / "fever-dev" / "dev.jsonl")},
        {},
        {
            "transformer": searches.figures(MiniLMEncoder()),
            "as shipped": searches.figures(StaticEncoder(out)),
        },
        sentences=len(rows),
    )


def fit(
    rows: Sequence[NDArray[np.int64]],
    wanted: torch.Tensor,
    vectors: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """Return the map that brings weighted sums of token vectors nearest to the wanted vectors.

    It is fitted by ridge regression: ``rows`` are the tokens of texts, ``wanted`` their vectors,
    ``(texts, 384)``, ``vectors`` the tokens', ``(tokens, width)``, ``weights`` one for each
    token. The map has the shape ``(width, 384)``.
    """
    square = torch.zeros(vectors.shape[1], vectors.shape[1])
    product = torch.zeros(vectors.shape[1], wanted.shape[1])
    for start in range(0, len(rows), _TOGETHER):
        some = rows[start : start + _TOGETHER]
        tokens = torch.from_numpy(np.concatenate(some))
        starts = torch.tensor([0, *accumulate(map(len, some))][:-1])
        sums = normalize(
            embedding_bag(tokens, vectors, starts, mode="sum", per_sample_weights=weights[tokens])
        )
        square += sums.T @ sums
        product += sums.T @ wanted[start : start + _TOGETHER]
    square += RIDGE * square.diagonal().mean() * torch.eye(len(square))
    found: torch.Tensor = torch.linalg.solve(square, product)
    return found


def _documents(corpus: Corpus) -> list[EncodableDocument]:
    pages = list(readable_pages(corpus))
    return [encodable(record) for record in records_of(pages, SentenceSplitter())]


def _rows(documents: Sequence[EncodableDocument]) -> list[NDArray[np.int64]]:
    """Return the tokens of each sentence and its title, in the documents' order."""
    texts = [f"{d.title} {d.text[a:b]}" for d in documents for a, b in d.sentences]
    rows = word_pieces().encode_batch(texts, add_special_tokens=False)
    return [np.array(row.ids, dtype=np.int64) for row in rows]


def _encoded(
    encoder: DocumentEncoder, documents: Sequence[EncodableDocument], cache: Path
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the vectors of the documents and of all their sentences, stored in ``cache``."""
    name, count = encoder.name.replace(" ", "-"), len(documents)

    def make() -> NDArray[np.float32]:
        whole, sentences = encoder.encode_documents(documents)
        return np.concatenate([whole, *sentences])

    both = kept_array(cache, name, documents, make)
    return both[:count], both[count:]


class _Searches:
    """Claims that one page decides, searched for among all pages."""

    def __init__(self, claims: Sequence[FeverClaim], wiki_pages: Path, cache: Path) -> None:
        pages = list(readable_pages(FeverCorpus(wiki_pages)))
        records = records_of(pages, SentenceSplitter())
        self._documents = [encodable(record) for record in records]
        self._cache = cache
        keys = [(r["id"], number) for r in records for number, _, _ in r["sentences"]]
        places = {key: place for place, key in enumerate(keys)}
        numbers = {record["id"]: number for number, record in enumerate(records)}
        self._claims = [
            claim
            for claim in claims
            if claim.evidence and not claim.needs_several_pages and claim.gold <= places.keys()
        ]
        self._sentences = [[places[key] for key in claim.gold] for claim in self._claims]
        self._pages = [[numbers[page] for page, _ in claim.gold] for claim in self._claims]

    def figures(self, encoder: DocumentEncoder) -> dict[str, float]:
        """Return how often gold is among the first k, %."""
        queries = QueryEncoder(DENSE).encode([(claim.text, ()) for claim in self._claims])
        if isinstance(encoder, MiniLMEncoder):
            documents, sentences = _encoded(encoder, self._documents, self._cache)
        else:
            documents, parts = encoder.encode_documents(self._documents)
            sentences = np.concatenate(parts)
        turn = rotation(queries.shape[1])
        signs = [np.sign(vectors @ turn) for vectors in (queries, documents)]
        return {
            f"{what}_{first}": 100 * float(np.mean(ranks < first))
            for what, ranks in (
                ("sentences", _ranks(queries @ sentences.T, self._sentences)),
                ("documents", _ranks(queries @ documents.T, self._pages)),
                ("signs", _ranks(signs[0] @ signs[1].T, self._pages)),
            )
            for first in FIRST
        }


def _ranks(scores: NDArray[np.float32], wanted: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Return how many columns are ranked before the best wanted one of each row."""
    return np.array(
        [int((row > row[own].max()).sum()) for row, own in zip(scores, wanted, strict=True)]
    )
