"""Beam search over sentence identifiers and titles that exist (AdMIRaL, section 3.1).

Markup tokens switch between two sets of allowed tokens: first the identifiers of the input's
sentences, then the trie of all titles (dynamically constrained markup decoding: De Cao et al. 2021,
"Autoregressive Entity Retrieval", section 3.4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.titles.title_trie import TitleNode, TitleTrie

MOST_SENTENCES = 2  # that can lead to a document together
LONGEST = 64  # tokens of a sequence; a title that is longer is not generated


@dataclass(frozen=True, slots=True)
class Markup:
    """The tokens before and after a title."""

    title_begin: int
    title_end: int


class Reading(Protocol):
    """A claim and sentences that a model has read, as the input of generation."""

    @property
    def identifiers(self) -> Sequence[int]:
        """The identifiers of the sentences that were read, in their order.

        None for a model without identifiers.
        """
        ...

    def next_tokens(self, prefixes: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        """Return log-probabilities of the token after each prefix, ``(prefixes, vocabulary)``.

        The first call is for the empty prefix. In every later call each prefix is one of the
        previous call and one more token.
        """
        ...


@dataclass(frozen=True, slots=True)
class Generated:
    """A document that was generated, with its probability.

    Equation 1 sums over the sentences of one set of documents. This sums over all sentences that
    lead to the title, since it does not matter which of them did.

    ``sentences``: positions of the sentences that most probably led there together, the more
    probable one first.
    """

    document_id: str
    probability: float
    sentences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Sequence:
    """The tokens generated so far; ``node`` is the node of the trie, if the title has begun."""

    tokens: tuple[int, ...]
    sentences: tuple[int, ...]
    node: TitleNode | None
    log_probability: float

    @property
    def order(self) -> tuple[float, tuple[int, ...]]:
        return -self.log_probability, self.tokens


def generate(
    reading: Reading,
    markup: Markup,
    titles: TitleTrie,
    beams: int,
    unwanted: Collection[str] = (),
) -> list[Generated]:
    """Return documents, most probable first; equal ones by id.

    The search keeps the ``beams`` best beginnings and ends when none of them can still reach the
    ``beams`` best complete sequences. A sequence is the identifiers of one or two sentences, in
    ascending order, and a title. Its probability is the model's (equation 2); it is not normalised
    over the allowed tokens. ``unwanted`` documents are skipped, so that others take their places.
    """
    live = [_Sequence((), (), None, 0.0)]
    whole: list[tuple[_Sequence, list[str]]] = []
    while live:
        scores = reading.next_tokens([sequence.tokens for sequence in live])
        longer: list[_Sequence] = []
        for sequence, following in zip(live, scores, strict=True):
            documents = _ended(sequence, titles, unwanted)
            if documents:
                log_probability = sequence.log_probability + float(following[markup.title_end])
                end = _Sequence(sequence.tokens, sequence.sentences, None, log_probability)
                whole.append((end, documents))
            if len(sequence.tokens) < LONGEST:
                longer += _continued(
                    sequence, following, reading.identifiers, markup, titles, beams
                )
        whole.sort(key=lambda ended: ended[0].order)
        live = sorted(longer, key=lambda sequence: sequence.order)[:beams]
        if len(whole) >= beams:
            least = whole[beams - 1][0].log_probability
            live = [sequence for sequence in live if sequence.log_probability > least]
    return _documents(whole)


def _ended(sequence: _Sequence, titles: TitleTrie, unwanted: Collection[str]) -> list[str]:
    if sequence.node is None:
        return []
    return [document for document in titles.ends(sequence.node) if document not in unwanted]


def _continued(
    sequence: _Sequence,
    following: NDArray[np.float32],
    identifiers: Sequence[int],
    markup: Markup,
    titles: TitleTrie,
    beams: int,
) -> Iterator[_Sequence]:
    """Yield the ``beams`` most probable continuations, and others of the same probability."""

    def longer(token: int, sentences: tuple[int, ...], node: TitleNode | None) -> _Sequence:
        log_probability = sequence.log_probability + float(following[token])
        return _Sequence((*sequence.tokens, token), sentences, node, log_probability)

    named = sequence.sentences
    if sequence.node is not None:
        for token in _best(titles.children(sequence.node), following, beams):
            yield longer(token, named, titles.step(sequence.node, token))
        return
    if named or not identifiers:
        yield longer(markup.title_begin, named, titles.root())
    if len(named) < MOST_SENTENCES:
        for position in range(named[-1] + 1 if named else 0, len(identifiers)):
            yield longer(identifiers[position], (*named, position), None)


def _best(tokens: NDArray[np.uint16], following: NDArray[np.float32], count: int) -> list[int]:
    scores = following[tokens]
    if len(tokens) > count:
        least = np.partition(scores, -count)[-count]
        tokens = tokens[scores >= least]
    return [int(token) for token in tokens]


def _documents(whole: Sequence[tuple[_Sequence, list[str]]]) -> list[Generated]:
    """Sum the probabilities of each document's sequences; ``sequences`` come best first."""
    of_document: dict[str, list[_Sequence]] = {}
    for sequence, documents in whole:
        for document in documents:
            of_document.setdefault(document, []).append(sequence)
    generated = []
    for document, sequences in of_document.items():
        shares: dict[int, float] = {}
        for sequence in sequences:
            for position in sequence.sentences:
                share = shares.get(position, 0.0) + exp(sequence.log_probability)
                shares[position] = share
        best = sorted(sequences[0].sentences, key=lambda position: (-shares[position], position))
        probability = sum(exp(sequence.log_probability) for sequence in sequences)
        generated.append(Generated(document, probability, tuple(best)))
    return sorted(generated, key=lambda found: (-found.probability, found.document_id))
