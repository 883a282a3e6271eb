"""Beam search over sentence identifiers and titles that exist (AdMIRaL, section 3.1).

Markup tokens switch between two sets of allowed tokens: first the identifiers of the input's
sentences, then the trie of titles (dynamically constrained markup decoding: De Cao et al. 2021,
"Autoregressive Entity Retrieval", section 3.4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import exp
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.models.title_trie import TitleNode, TitleTrie

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
        """The identifiers of the sentences that were read, in their order."""
        ...

    def next_tokens(self, prefixes: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        """Return log-probabilities of the token after each prefix, ``(prefixes, vocabulary)``.

        A call for the empty prefix alone begins a search. In every later call each prefix is one of
        the previous call and one more token.
        """
        ...


class TitleModel(Protocol):
    """A model that generates titles, token by token, in the tokens of a trie."""

    @property
    def markup(self) -> Markup:
        """The tokens between which it writes a title."""
        ...

    def warm_up(self) -> None:
        """Load the weights; cheap when they are loaded already.

        Raises:
            ModelUnavailable: they are missing or damaged.
        """
        ...

    def trie(self, titles: Iterable[tuple[str, str]]) -> TitleTrie:
        """Return the trie of these titles, from (document id, title) pairs."""
        ...

    def read(self, claim: str, sentences: Sequence[tuple[str, str]]) -> Reading:
        """Read a claim and sentences, each with its document's title before it.

        The end of a text that does not fit the model's window is cut.
        """
        ...


@dataclass(frozen=True, slots=True)
class Generated:
    """Sentences and the document that they lead to, with their probability (equation 2).

    ``sentences``: positions, ascending; none if the model named none. ``documents``: those of the
    sentences by their ids, each once, and then the one that they lead to.
    """

    sentences: tuple[int, ...]
    documents: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """A document with those that led to it, and the probability of the set.

    ``documents``: the one that was generated is the last. ``sentences``: positions of those that
    most probably led there together, the more probable one first.
    """

    documents: tuple[str, ...]
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
    sources: Sequence[str],
    unwanted: Collection[str] = (),
) -> list[Generated]:
    """Return what was generated, most probable first.

    The search keeps the ``beams`` best beginnings and ends when none of them can still reach the
    ``beams`` best complete sequences. A sequence is the identifiers of up to two sentences, in
    ascending order, and a title; a model that was trained without identifiers, such as GENRE, names
    no sentence. Its probability is the model's (equation 2); it is not normalised over the allowed
    tokens. ``sources`` has the document of each sentence; none leads to itself. ``unwanted``
    documents are skipped, so that others take their places.
    """
    live = [_Sequence((), (), None, 0.0)] if beams else []
    whole: list[tuple[_Sequence, list[str]]] = []
    while live:
        scores = reading.next_tokens([sequence.tokens for sequence in live])
        longer: list[_Sequence] = []
        for sequence, following in zip(live, scores, strict=True):
            named = [sources[position] for position in sequence.sentences]
            documents = _ended(sequence, titles, {*unwanted, *named})
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
    return [
        Generated(
            sequence.sentences,
            (*sorted({sources[position] for position in sequence.sentences}), document),
            exp(sequence.log_probability),
        )
        for sequence, documents in whole
        for document in documents
    ]


def joined(*found: Sequence[Generated]) -> list[Generated]:
    """Return what several searches of one reading generated, each sequence once."""
    ways = {(one.sentences, one.documents): one for one in chain(*found)}
    return sorted(ways.values(), key=lambda one: -one.probability)


def joint_sets(generated: Iterable[Generated]) -> list[DocumentSet]:
    """Return sets of documents, scored as equation 1 says, most probable first.

    The probability of a set is summed over all sentences of its documents that lead to its last
    one.
    """
    return _summed((one.documents, one) for one in generated)


def documents_alone(generated: Iterable[Generated]) -> list[DocumentSet]:
    """Return each document as a set of one, whichever sentences led to it ("Not-joint", table 3).

    Its probability given claim and sentences is summed over all sequences that end with it.
    """
    return _summed((one.documents[-1:], one) for one in generated)


def _summed(generated: Iterable[tuple[tuple[str, ...], Generated]]) -> list[DocumentSet]:
    """Sum the probabilities of each set's sequences, which come best first."""
    ways_to: dict[tuple[str, ...], list[Generated]] = {}
    for documents, one in generated:
        ways_to.setdefault(documents, []).append(one)
    sets = []
    for documents, ways in ways_to.items():
        shares: dict[int, float] = {}
        for way in ways:
            for position in way.sentences:
                shares[position] = shares.get(position, 0.0) + way.probability
        sentences = sorted(ways[0].sentences, key=lambda position: (-shares[position], position))
        probability = sum(way.probability for way in ways)
        sets.append(DocumentSet(documents, probability, tuple(sentences)))
    return sorted(sets, key=lambda one: (-one.probability, one.documents[::-1]))


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
