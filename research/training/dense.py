"""``esoteric train dense``: the encoder of queries for dense sentence retrieval (M3, section 3.2).

The paper trains both encoders, with two sampled negatives for each query and the other examples of
the batch. Here the sentence vectors are fixed (they are the index's). So every sentence of the
training pages is a negative of every query, also those that BM25 finds, at the cost of one matrix
product. The paper alternates between its sets of examples, epoch by epoch; here each batch is drawn
from all of them, and each example has its own objective.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy, normalize, softplus
from transformers import DistilBertModel

from research.evaluation.baselines import counted_words, words_of
from research.evaluation.claims import AnnotatedClaim
from research.training.card import write_card, write_model
from research.training.data import PageClaim, TrainingData, load_data
from research.training.dense_examples import DenseExample, ExampleSets
from research.training.figures import kept_opinions
from research.training.loop import Hyperparameters, Loss, fast_products, train
from research.training.networks.encoders import by_length, packaged_body, padded, row_tokenizer
from research.training.sentence_pool import SentencePool, kept_array
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.encoders import (
    EncodableDocument,
    MiniLMEncoder,
    Query,
    QueryEncoder,
    query_rows,
)
from retrieval.models.networks import Row, Tokenizer
from retrieval.models.packaged import MiniLM
from retrieval.models.shipped import minilm_classifier
from retrieval.text.context import evidence_set_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO

_BATCH = 32  # queries that are read together while the network is evaluated


class QueryNetwork(nn.Module):
    """A DistilBERT whose token vectors are averaged."""

    def __init__(self, distilbert: DistilBertModel) -> None:
        """Encode with ``distilbert``."""
        super().__init__()
        self.distilbert = distilbert

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return unit vectors in float32, ``(queries, 384)``, for ids of ``(queries, tokens)``."""
        tokens = self.distilbert(input_ids=input_ids, attention_mask=attention_mask)[0].float()
        mask = attention_mask[..., None].float()
        return normalize((tokens * mask).sum(1) / mask.sum(1), dim=-1)


def packaged_query_network() -> QueryNetwork:
    """Return the packaged weights, which encode a claim alone like the index's encoder.

    Raises:
        ModelUnavailable: they are missing or damaged.
    """
    return QueryNetwork(packaged_body())


def query_inputs(
    tokenizer: Tokenizer, queries: Sequence[Query], max_tokens: int
) -> dict[str, torch.Tensor]:
    """Return ``input_ids`` and ``attention_mask``, ``(queries, tokens)``, of claims with paths."""
    return _inputs(query_rows(tokenizer, queries, max_tokens))


def encoded(
    network: QueryNetwork, tokenizer: Tokenizer, queries: Sequence[Query], max_tokens: int
) -> NDArray[np.float32]:
    """Return a network's vectors of queries, like ``QueryEncoder.encode``."""
    result = np.zeros((len(queries), QueryEncoder.dimension), dtype=np.float32)
    rows = query_rows(tokenizer, queries, max_tokens)
    for part in by_length([len(row) for row in rows], _BATCH):
        with torch.inference_mode():
            result[part] = network(**_inputs([rows[row] for row in part])).numpy()
    return result


def _inputs(rows: Sequence[Row]) -> dict[str, torch.Tensor]:
    ids, mask = padded([torch.tensor(row) for row in rows], MiniLM.padding)
    return {"input_ids": ids, "attention_mask": mask}


SENTENCES, PAGES = (1, 5, 20, 100), (5, 20)

Score: TypeAlias = Callable[[Sequence[Query]], NDArray[np.floating[Any]]]
"""Scores every sentence of a pool for each query: ``(queries, sentences)``, higher is better."""


@dataclass(frozen=True, slots=True)
class Step:
    """A claim with one of its gold sentences, as a query, and the gold sentence on another page."""

    query: Query
    lead: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Searches:
    """The searches in a pool: for the evidence of claims, and for the next sentence of paths.

    ``claims`` are those that one page decides.
    """

    claims: Sequence[AnnotatedClaim]
    steps: Sequence[Step]
    pool: SentencePool

    @classmethod
    def of(cls, claims: Sequence[AnnotatedClaim], pool: SentencePool) -> Searches:
        """Return those of the claims whose evidence is in the pool.

        Steps go in both directions between the two sentences of a claim's first such set.
        """
        known = [c for c in claims if c.evidence and c.gold <= pool.position.keys()]
        steps = []
        for claim in known:
            pairs = [group for group in claim.evidence if len(group) == 2]
            if claim.needs_several_pages and pairs:
                first, second = (pool.position[key] for key in pairs[0])
                for lead, wanted in ((first, second), (second, first)):
                    query = (claim.text, (pool.sentences[lead].pair,))
                    steps.append(Step(query, lead, wanted))
        return cls([c for c in known if not c.needs_several_pages], steps, pool)


def search_figures(score: Score, searches: Searches) -> dict[str, float]:
    """Return the shares of searches that find their sentences among the first k, %.

    ``sentences_k``: claims with all sentences of an evidence set among the first k. ``pages_k``:
    claims with all its pages among the first k; a page has the rank of its best sentence.
    ``next_k``: steps whose sentence is among the first k that are not on the page already read.
    """
    pool = searches.pool
    number = {page: number for number, page in enumerate(pool.by_page)}
    page_of = np.array([number[sentence.page] for sentence in pool.sentences])
    sentences, pages = [], []
    for claim, scores in zip(
        searches.claims, score([(claim.text, ()) for claim in searches.claims]), strict=True
    ):
        by_page = np.full(len(number), -np.inf)
        np.maximum.at(by_page, page_of, scores)
        sentences.append(
            min(max(_rank(scores, pool.position[key]) for key in g) for g in claim.evidence)
        )
        pages.append(min(max(_rank(by_page, number[p]) for p, _ in g) for g in claim.evidence))
    following = []
    for step, scores in zip(
        searches.steps, score([step.query for step in searches.steps]), strict=True
    ):
        unread = np.array(scores)
        unread[pool.by_page[pool.sentences[step.lead].page]] = -np.inf
        following.append(_rank(unread, step.wanted))
    return {
        **{f"sentences_{k}": _share(sentences, k) for k in SENTENCES},
        **{f"pages_{k}": _share(pages, k) for k in PAGES},
        **{f"next_{k}": _share(following, k) for k in SENTENCES},
    }


def by_bm25(pool: SentencePool) -> Score:
    """Return BM25 over sentences with their titles, for the words of claim and path."""
    counted = counted_words([sentence.written for sentence in pool.sentences])

    def score(queries: Sequence[Query]) -> NDArray[np.float32]:
        words = words_of([f"{claim} {evidence_set_text(path)}" for claim, path in queries])
        return np.array([counted.get_scores(asked) for asked in words], dtype=np.float32)

    return score


def _rank(scores: NDArray[np.floating[Any]], row: int) -> int:
    """Return how many have a higher score than this one."""
    return int((scores > scores[row]).sum())


def _share(ranks: Sequence[int], first: int) -> float:
    return 100 * sum(rank < first for rank in ranks) / max(1, len(ranks))


RECIPE = Hyperparameters(epochs=3, batch_size=64, learning_rate=1e-4, max_tokens=256)
TEMPERATURE = 0.05  # of similarities
CLASSIFICATION = 1 / 30  # weight of that objective; the contrastive one has 1 (section 6.1)
COMPOSED = 2_000  # claims made from pages
FROM_PAGES = 4_000  # examples made from pages
DOUBTFUL = 12  # sentences near a claim that the relevance model reads
RELEVANT = 0.5  # a sentence with this probability of relevance or more is not a negative


def train_dense(
    data_folder: Path, relevance_model: Path, run: Path, out: Path, seed: int
) -> dict[str, float]:
    """Train the query encoder, write it to ``out`` and its logs and checkpoints to ``run``.

    ``relevance_model`` is the folder of the trained relevance model, which finds likely evidence
    that was not annotated. Returns the figures of the card, as shipped.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the relevance model or the packaged weights are missing.
    """
    cache = run.parent / "vectors"
    data = load_data(data_folder, cache, seed)
    dev_vectors = pool_vectors(data.dev_pool, cache)
    vectors = training_vectors(data, dev_vectors, cache)
    ignored = likely_evidence(
        data.train, data.pool, minilm_classifier(relevance_model), run, RELEVANT
    )
    sets = ExampleSets.of(data, ignored, COMPOSED, FROM_PAGES, seed)
    examples = [*sets.claims, *sets.others]

    tokenizer = row_tokenizer(RECIPE.max_tokens)
    network = untrained_network()
    searches = Searches.of(data.dev, data.dev_pool)
    score = score_of(network, tokenizer, dev_vectors)
    lexical = search_figures(by_bm25(data.dev_pool), searches)
    untrained = search_figures(score, searches)
    loss_of = joint_loss(network, tokenizer, torch.from_numpy(vectors), RECIPE.max_tokens)
    recipe = replace(RECIPE, seed=seed)
    train(network, examples, loss_of, recipe, run, lambda: search_figures(score, searches))
    trained = search_figures(score, searches)
    write_model(out, "dense", network.query, packaged_query_network(), RECIPE.max_tokens)
    encoder = QueryEncoder(out)
    shipped = search_figures(lambda queries: encoder.encode(queries) @ dev_vectors.T, searches)
    write_card(
        out,
        "dense",
        data.digests,
        {"dense": recipe},
        {"BM25": lexical, "untrained": untrained, "as trained": trained, "as shipped": shipped},
        claims=data.described,
        composed=sets.composed,
        examples=len(examples),
        searched=len(searches.claims),
        steps=len(searches.steps),
    )
    return shipped


def pool_vectors(pool: SentencePool, cache: Path) -> NDArray[np.float32]:
    """Return the vectors of these sentences in an index, ``(sentences, 384)``."""
    pages = [pool.page(page) for page in pool.by_page]
    made = _page_vectors([(page[0].title, [s.text for s in page]) for page in pages], cache)
    vectors = np.empty_like(made)
    vectors[[i for rows in pool.by_page.values() for i in rows]] = made
    return vectors


def training_vectors(
    data: TrainingData, dev_vectors: NDArray[np.float32], cache: Path
) -> NDArray[np.float32]:
    """Return the vectors of the sentences that training reads: the pool's, then page claims'."""
    kept = [data.dev_pool.position[sentence.key] for sentence in data.pool.sentences]
    return np.concatenate([dev_vectors[kept], page_claim_vectors(data.page_claims, cache)])


def page_claim_vectors(claims: Sequence[PageClaim], cache: Path) -> NDArray[np.float32]:
    """Return vectors of the sentences that come with claims, encoded as whole pages.

    They are each claim's gold sentences, then the others of its page.
    """
    return _page_vectors([(claim.title, [*claim.gold, *claim.others]) for claim in claims], cache)


class JointNetwork(nn.Module):
    """The query network with a head that classifies claims; the head is trained with it only."""

    def __init__(self, query: QueryNetwork) -> None:
        """Add a new head, initialised with a fixed seed, to ``query``."""
        super().__init__()
        self.query = query
        width = query.distilbert.config.dim
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.classifier = nn.Linear(2 * width, len(LABELS))
        self._scale = float(width**0.5)

    def verdicts(self, queries: torch.Tensor, sentences: torch.Tensor) -> torch.Tensor:
        """Return logits over ``LABELS``, ``(pairs, 3)``, of concatenated vectors (eq. 2)."""
        # Numbers of unit vectors are small for a linear layer; scaled, they are about 1.
        pairs: torch.Tensor = self.classifier(torch.cat([queries, sentences], dim=-1) * self._scale)
        return pairs


def untrained_network() -> JointNetwork:
    """Return the packaged weights with a new head.

    The embeddings are not trained, so that the difference is small enough to ship.
    """
    network = JointNetwork(packaged_query_network()).train(False)
    network.query.distilbert.embeddings.requires_grad_(False)
    return network


def score_of(network: JointNetwork, tokenizer: Tokenizer, vectors: NDArray[np.float32]) -> Score:
    """Return the similarities of queries to sentences with these vectors."""

    def score(queries: Sequence[Query]) -> NDArray[np.float32]:
        found = encoded(network.query, tokenizer, queries, RECIPE.max_tokens) @ vectors.T
        return np.asarray(found, dtype=np.float32)

    return score


def joint_loss(
    network: JointNetwork,
    tokenizer: Tokenizer,
    vectors: torch.Tensor,
    max_tokens: int,
) -> Loss[DenseExample]:
    """Return the multi-task loss (M3, equation 4) over sentence vectors ``(sentences, 384)``."""

    def loss_of(batch: Sequence[DenseExample]) -> torch.Tensor:
        inputs = query_inputs(tokenizer, [example.query for example in batch], max_tokens)
        with fast_products(torch.device("cpu")):
            queries = network.query(**inputs)
        contrast = contrastive_loss(
            queries @ vectors.T / TEMPERATURE,
            [example.wanted for example in batch],
            [example.ignored for example in batch],
        )
        classified = [(i, *example.verdict) for i, example in enumerate(batch) if example.verdict]
        if not classified:
            return contrast
        asked, beside, labels = torch.tensor(classified).T
        logits = network.verdicts(queries[asked], vectors[beside])
        return contrast + CLASSIFICATION * cross_entropy(logits, labels)

    return loss_of


def contrastive_loss(
    scores: torch.Tensor, wanted: Sequence[Sequence[int]], ignored: Sequence[Sequence[int]]
) -> torch.Tensor:
    """Return the mean cross entropy of wanted sentences against all others (M3, equation 1).

    ``scores`` has the shape ``(queries, sentences)``. Each wanted sentence of a query competes with
    every sentence that is neither wanted nor ignored. The wanted sentences of a query have the
    weight 1 together; queries without wanted sentences do not count.
    """
    rows = torch.tensor([i for i, own in enumerate(wanted) for _ in own], dtype=torch.long)
    columns = torch.tensor([column for own in wanted for column in own], dtype=torch.long)
    shares = torch.tensor([1 / len(own) for own in wanted for _ in own])
    apart = torch.zeros_like(scores, dtype=torch.bool)
    apart[rows, columns] = True
    for row, own in enumerate(ignored):
        apart[row, list(own)] = True
    others = scores.masked_fill(apart, -torch.inf).logsumexp(dim=1)
    # -log(e^w / (e^w + sum of e^others))
    log_loss = softplus(others[rows] - scores[rows, columns])
    return (log_loss * shares).sum() / max(1, sum(1 for own in wanted if own))


def likely_evidence(
    claims: Sequence[AnnotatedClaim],
    pool: SentencePool,
    relevance_model: CrossEncoder,
    run: Path,
    least: float,
) -> dict[str, list[int]]:
    """Return sentences, as indices into the pool, that are likely evidence of each decided claim.

    They are those of the ``DOUBTFUL`` most similar ones that the relevance model finds relevant,
    with at least the probability ``least``; as negatives they would teach the wrong thing (M3,
    sections 3.2.1 and 6.4). The model's probabilities are stored in ``run``.
    """
    texts = [claim.text for claim in claims if claim.label != NOT_ENOUGH_INFO]
    near = pool.nearest(texts, DOUBTFUL)
    pairs = [
        (text, pool.sentences[i].written)
        for text, found in zip(texts, near, strict=True)
        for i in found
    ]
    opinions = kept_opinions(relevance_model, pairs, run)
    relevant = (1 - opinions[:, LABELS.index(NOT_ENOUGH_INFO)]).reshape(near.shape) >= least
    return {
        text: [int(i) for i in found[likely]]
        for text, found, likely in zip(texts, near, relevant, strict=True)
    }


def _page_vectors(pages: Sequence[tuple[str, Sequence[str]]], cache: Path) -> NDArray[np.float32]:
    """Return the vectors of titled pages' sentences, page by page; stored in ``cache``."""
    encoder = MiniLMEncoder()

    def make() -> NDArray[np.float32]:
        _, vectors = encoder.encode_documents([_joined(title, texts) for title, texts in pages])
        return np.concatenate([np.zeros((0, encoder.dimension), dtype=np.float32), *vectors])

    return kept_array(cache, "pages", pages, make)


def _joined(title: str, sentences: Sequence[str]) -> EncodableDocument:
    """Return a document of sentences, joined as by the index builder."""
    ends = np.cumsum([len(sentence) + 1 for sentence in sentences]) - 1
    bounds = [(int(end) - len(s), int(end)) for s, end in zip(sentences, ends, strict=True)]
    return EncodableDocument(title, " ".join(sentences), tuple(bounds))
