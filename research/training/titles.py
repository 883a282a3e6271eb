"""``esoteric train titles``: the model that generates the title of the next document.

The encoder is fine-tuned and the new decoder is trained from random weights, by maximum likelihood
of the identifiers of the sentences that lead to a document, and of its title (AdMIRaL, section
3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, cast

import torch
from torch.nn.utils.rnn import pad_sequence

from research.training.card import write_card, write_model
from research.training.compositions import compositions
from research.training.data import TrainingData, load_data
from research.training.loop import (
    Hyperparameters,
    Loss,
    fast_products,
    switch_off_dropout,
    train,
)
from research.training.networks.titles import NetworkReading, TitleNetwork, packaged_title_network
from research.training.sentence_pool import CandidateFinder, PoolSentence, SentencePool
from research.training.title_examples import TitleExample, steps_of, title_examples
from retrieval.index.formats.titles import split_disambiguation, title_key
from retrieval.index.interface import DocumentStore
from retrieval.models.papers.decoding import Reading, documents_alone, generate, joined
from retrieval.models.papers.title_generator import (
    IDENTIFIERS,
    MARKUP,
    MAX_TOKENS,
    PADDING,
    POSITIONS,
    MiniLMTitleModel,
    input_tokens,
)
from retrieval.models.title_trie import TitleTokenizer, TitleTrie
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.find.next import SENTENCES, MentionExpander
from retrieval.types import Evidence, Sentence, TitleMatch

RECIPE = Hyperparameters(learning_rate=2e-4, max_tokens=MAX_TOKENS)
COMPOSED = 6_000  # claims made from pages
BEAMS = 10  # of the figures
NAMED_BEAMS = RetrievalConfig().generation_named_beams

Read: TypeAlias = Callable[[str, Sequence[tuple[str, str]]], Reading]
"""Reads a claim and (title, sentence) pairs."""


def train_titles(data_folder: Path, run: Path, out: Path, seed: int) -> dict[str, float]:
    """Train the title model, write it to ``out`` and its logs and checkpoints to ``run``.

    Returns the figures of its card, as shipped.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the packaged base weights are missing.
    """
    data = load_data(data_folder, run.parent / "vectors", seed)
    made = [one.claim for one in compositions(data, seed, COMPOSED)]
    examples = title_examples(data.train, made, data.pool, seed)
    searches, titles = title_searches(data), PoolTitles(data.dev_pool)
    tokenizer, network = TitleTokenizer(), packaged_title_network()
    network.distilbert.embeddings.requires_grad_(False)
    switch_off_dropout(network)

    def read(claim: str, sentences: Sequence[tuple[str, str]]) -> Reading:
        return NetworkReading(network, input_tokens(tokenizer, claim, sentences, RECIPE.max_tokens))

    def figures_of(read: Read) -> dict[str, float]:
        return search_figures(lambda search: generated(read, titles.titles(), search), searches)

    loss_of = title_loss(network, tokenizer, RECIPE.max_tokens)
    recipe = replace(RECIPE, seed=seed)
    train(network, examples, loss_of, recipe, run, lambda: figures_of(read))
    trained = figures_of(read)
    write_model(out, "titles", network, packaged_title_network(), RECIPE.max_tokens)
    shipped = MiniLMTitleModel(out)
    expander = MentionExpander(cast(DocumentStore, titles), SENTENCES, BEAMS)
    figures = {
        "mention lookup": search_figures(lambda search: mentioned(expander, search), searches),
        "as trained": trained,
        "as shipped": figures_of(shipped.read),
        "as shipped, named titles searched too": search_figures(
            lambda search: generated(
                shipped.read, titles.titles(), search, titles.of(mentioned(expander, search))
            ),
            searches,
        ),
    }
    write_card(
        out,
        "titles",
        data.digests,
        {"titles": recipe},
        figures,
        beams=BEAMS,
        claims=data.described,
        composed=len(made),
        examples=len(examples),
        named_beams=NAMED_BEAMS,
        pages=len(data.dev_pool.by_page),
        searches=len(searches),
        sentences=SENTENCES,
    )
    return figures["as shipped"]


def title_loss(
    network: TitleNetwork, tokenizer: TitleTokenizer, max_tokens: int
) -> Loss[TitleExample]:
    """Return the mean cross entropy of the tokens to generate (equation 2)."""

    def loss_of(batch: Sequence[TitleExample]) -> torch.Tensor:
        inputs = _padded([input_tokens(tokenizer, e.claim, e.sentences, max_tokens) for e in batch])
        titles = tokenizer.tokens([example.title for example in batch])
        targets = _padded(
            [target_tokens(e.leads, title) for e, title in zip(batch, titles, strict=True)]
        )
        with fast_products(torch.device("cpu")):
            memory = network.read(inputs, (inputs != PADDING).long())
            likely = network.log_likelihood(memory, targets)
        return -likely.sum() / (targets != PADDING).sum()

    return loss_of


def target_tokens(leads: Sequence[int], title: Sequence[int]) -> list[int]:
    """Return the tokens to generate: identifiers, and the title between its markup."""
    named = [IDENTIFIERS[position] for position in leads]
    return [*named, MARKUP.title_begin, *title, MARKUP.title_end][:POSITIONS]


def _padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], True, PADDING)


@dataclass(frozen=True, slots=True)
class TitleSearch:
    """A claim and sentences, from which ``page`` is to be found."""

    claim: str
    sentences: tuple[PoolSentence, ...]
    page: str

    @property
    def seen(self) -> frozenset[str]:
        """The pages of the sentences."""
        return frozenset(sentence.page for sentence in self.sentences)


def title_searches(data: TrainingData) -> list[TitleSearch]:
    """Return the steps of dev claims to pages that they do not name, with other sentences."""
    pool, finder = data.dev_pool, CandidateFinder(data.dev_pool)
    steps = {
        (step.claim, step.page): step
        for step in steps_of(data.dev, pool)
        if step.page not in finder.named(step.claim)
    }
    candidates = finder.find([claim for claim, _ in steps])
    searches = []
    for step, found in zip(steps.values(), candidates, strict=True):
        beside = [i for i in found if pool.sentences[i].page != step.page]
        indices = list(dict.fromkeys([*step.leads, *beside]))[:SENTENCES]
        sentences = tuple(pool.sentences[i] for i in indices)
        searches.append(TitleSearch(step.claim, sentences, step.page))
    return searches


def search_figures(
    find: Callable[[TitleSearch], list[str]], searches: Sequence[TitleSearch]
) -> dict[str, float]:
    """Return how many searches find their page among the first, the first five and ten, %.

    ``find`` returns pages, best first.
    """
    found = [(search.page, find(search)) for search in searches]

    def among(count: int) -> float:
        right = sum(page in pages[:count] for page, pages in found)
        return 100 * right / max(1, len(found))

    return {"first": among(1), "first_five": among(5), "first_ten": among(10)}


def generated(
    read: Read, titles: TitleTrie, search: TitleSearch, named: TitleTrie | None = None
) -> list[str]:
    """Return the pages whose titles a model generates; ``named`` ones get a search of their own."""
    reading = read(search.claim, [sentence.pair for sentence in search.sentences])
    sources = [sentence.page for sentence in search.sentences]
    found = generate(reading, MARKUP, titles, BEAMS, sources, search.seen)
    if named is not None:
        among = generate(reading, MARKUP, named, NAMED_BEAMS, sources, search.seen)
        found = joined(found, among)
    return [page for one in documents_alone(found) for page in one.documents]


def mentioned(expander: MentionExpander, search: TitleSearch) -> list[str]:
    """Return the pages whose titles occur in the sentences of a search."""
    evidence = [
        Evidence(
            Sentence(s.page, s.sentence_id, s.text, 0, len(s.text)), s.title, None, (1, 0, 0), 1
        )
        for s in search.sentences
    ]
    found = expander.mentioned([], evidence, search.seen, 2)
    return [candidate.document_id for candidate in found]


class PoolTitles:
    """The titles of a pool's pages, in the form of an index."""

    def __init__(self, pool: SentencePool) -> None:
        """Make the tables."""
        self._titles = {
            page: pool.sentences[indices[0]].title for page, indices in pool.by_page.items()
        }
        self._matches: dict[str, list[TitleMatch]] = {}
        for page, title in self._titles.items():
            name, words = split_disambiguation(title)
            for key in dict.fromkeys((title_key(title), title_key(name))):
                exact = key == title_key(title)
                match = TitleMatch(page, title, name, None if exact else words)
                self._matches.setdefault(key, []).append(match)
        self._tokenizer = TitleTokenizer()
        self._trie = self.of(list(self._titles))

    def of(self, pages: Sequence[str]) -> TitleTrie:
        """Return the trie of the titles of these pages."""
        tokens = self._tokenizer.tokens([self._titles[page] for page in pages])
        return TitleTrie.of(tokens, pages)

    def titles(self) -> TitleTrie:
        """See ``DocumentStore``."""
        return self._trie

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        """See ``DocumentStore``."""
        return [
            replace(match, name=name)
            for name in dict.fromkeys(names)
            for match in sorted(
                self._matches.get(title_key(name), ()),
                key=lambda match: (match.disambiguation is not None, match.document_id),
            )
        ]
