"""The shipped title model: MiniLM reads, a small decoder writes (AdMIRaL, section 3.1).

AdMIRaL uses BART, which has learnt from much text to copy its input. The two decoder layers here
have not, so they have a copy mechanism: each token is either generated or copied from the input
(See et al. 2017, "Get To The Point: Summarization with Pointer-Generator Networks"). The position
to copy is found by the token before it. ``research/training/networks/titles.py`` trains the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.models.arrays import Array, gelu, linear, normed, softmax, standardised
from retrieval.models.networks import word_embeddings
from retrieval.models.papers.decoding import Markup
from retrieval.models.title_trie import TitleTokenizer, TitleTrie
from retrieval.models.trained_model import TrainedModel
from retrieval.text.context import evidence_text

KeysAndValues: TypeAlias = tuple[Array, Array]
"""Keys and values of an attention, both ``(rows, heads, tokens, width / heads)``."""

LAYERS = 2
HEADS = 12
POSITIONS = 64  # of a generated sequence; later tokens share the last one

MAX_TOKENS = 256
# Entries of MiniLM's vocabulary that occur in no text, [unused1] and those after it.
IDENTIFIERS = tuple(range(2, 10))
MARKUP = Markup(title_begin=10, title_end=11)
PADDING, FIRST, SEPARATOR = 0, 101, 102  # [PAD], [CLS], [SEP]


def input_tokens(
    tokenizer: TitleTokenizer, claim: str, sentences: Sequence[tuple[str, str]], max_tokens: int
) -> list[int]:
    """Return claim and (title, sentence) pairs as one input, each sentence after its identifier.

    The end is cut to ``max_tokens``; the claim gets at most half of them. Sentences beyond the
    number of ``IDENTIFIERS`` are left out.
    """
    texts = [claim, *(evidence_text(title, sentence) for title, sentence in sentences)]
    of_claim, *of_sentences = tokenizer.tokens(texts)
    tokens = [FIRST, *of_claim[: max_tokens // 2], SEPARATOR]
    for identifier, of_sentence in zip(IDENTIFIERS, of_sentences, strict=False):
        tokens += [identifier, *of_sentence]
    return [*tokens[: max_tokens - 1], SEPARATOR]


def identifiers_in(tokens: Sequence[int]) -> list[int]:
    """Return the identifiers of the sentences in an input, in their order."""
    return [token for token in tokens if token in IDENTIFIERS]


@dataclass(frozen=True, slots=True)
class Memory:
    """The input as the decoder uses it.

    ``layers``: keys and values of each decoder layer's cross-attention. ``copy_keys``: the keys for
    copying, ``(tokens, width)``. ``tokens``: those of the input.
    """

    layers: list[KeysAndValues]
    copy_keys: Array
    tokens: NDArray[np.int64]


class MiniLMTitleModel(TrainedModel):
    """Generates titles in MiniLM's tokens, in which an index stores its trie."""

    markup = MARKUP

    def warm_up(self) -> None:
        """Load base weights and difference.

        Raises:
            ModelUnavailable: either is missing or damaged.
        """
        super().warm_up()
        _ = self._decoder, self._titles

    def trie(self, titles: Iterable[tuple[str, str]]) -> TitleTrie:
        """Return the trie of these titles in MiniLM's tokens, from (document id, title) pairs."""
        pairs = list(titles)
        tokens = self._titles.tokens([title for _, title in pairs])
        return TitleTrie.of(tokens, [document_id for document_id, _ in pairs])

    def read(self, claim: str, sentences: Sequence[tuple[str, str]]) -> DecoderReading:
        """Read a claim and (title, sentence) pairs; the end is cut to the model's window."""
        tokens = input_tokens(self._titles, claim, sentences, self._config["max_tokens"])
        return DecoderReading(self._decoder, tokens, self._network.states([tokens]).vectors[0])

    @cached_property
    def _titles(self) -> TitleTokenizer:
        return TitleTokenizer()

    @cached_property
    def _decoder(self) -> Decoder:
        return Decoder(self._heads, word_embeddings(self._base))


class Decoder:
    """Two layers with normalisation before each part (Xiong et al. 2020), and the output.

    Its word embeddings, in and out, are the encoder's.
    """

    def __init__(self, weights: Mapping[str, Array], words: Array) -> None:
        """Compute with these weights and word embeddings, ``(vocabulary, width)``."""
        self._weights = weights
        self._words = words

    def memory(self, tokens: Sequence[int], states: Array) -> Memory:
        """Return the decoder's input from tokens and their states, ``(tokens, width)``."""
        before = standardised(self._words[[0, *tokens[:-1]]])
        return Memory(
            layers=[
                self._keys_and_values(f"layers.{n}.cross_attention", states[None])
                for n in range(LAYERS)
            ],
            copy_keys=self._linear(states, "copy_key") + self._linear(before, "copy_previous"),
            tokens=np.array(tokens),
        )

    def next_tokens(
        self, memory: Memory, tokens: NDArray[np.int64], past: Sequence[KeysAndValues]
    ) -> tuple[Array, list[KeysAndValues]]:
        """Return log-probabilities of each row's next token, ``(rows, vocabulary)``, and the past.

        ``tokens``: the last one of each row, ``(rows,)``. ``past``: the second result of the
        previous call, cut to the rows that continue.
        """
        place = min(past[0][0].shape[2] if past else 0, POSITIONS - 1)
        hidden = self._words[tokens] + self._weights["positions.weight"][place]
        hidden = self._norm(hidden, "input_norm")[:, None]
        made: list[KeysAndValues] = []
        for n in range(LAYERS):
            hidden, longer = self._layer(n, hidden, memory.layers[n], past[n] if past else None)
            made.append(longer)
        hidden = self._norm(hidden[:, 0], "output_norm")
        generated = self._linear(hidden, "output") @ self._words.T + self._weights["output_bias"]
        width = np.float32(hidden.shape[-1] ** 0.5)
        copied = self._linear(hidden, "copy_query") @ memory.copy_keys.T / width
        gate = softmax(self._linear(hidden, "copy_gate"))
        probabilities = gate[:, 1:] * softmax(generated)
        np.add.at(probabilities.T, memory.tokens, (gate[:, :1] * softmax(copied)).T)
        with np.errstate(divide="ignore"):  # the logarithm of a probability that is 0 in float32
            return np.log(probabilities), made

    def _layer(
        self, n: int, hidden: Array, memory: KeysAndValues, past: KeysAndValues | None
    ) -> tuple[Array, KeysAndValues]:
        """Return the layer's output for ``hidden``, ``(rows, 1, width)``, and the longer past."""
        name = f"layers.{n}"
        asked = self._norm(hidden, f"{name}.self_norm")
        made = self._keys_and_values(f"{name}.self_attention", asked)
        if past is not None:
            made = (
                np.concatenate([past[0], made[0]], axis=2),
                np.concatenate([past[1], made[1]], axis=2),
            )
        hidden = hidden + self._attended(f"{name}.self_attention", asked, made)
        asked = self._norm(hidden, f"{name}.cross_norm")
        hidden = hidden + self._attended(f"{name}.cross_attention", asked, memory)
        wide = gelu(self._linear(self._norm(hidden, f"{name}.feed_forward_norm"), f"{name}.widen"))
        return hidden + self._linear(wide, f"{name}.narrow"), made

    def _keys_and_values(self, name: str, hidden: Array) -> KeysAndValues:
        return (
            _split(self._linear(hidden, f"{name}.key")),
            _split(self._linear(hidden, f"{name}.value")),
        )

    def _attended(self, name: str, hidden: Array, keys_and_values: KeysAndValues) -> Array:
        keys, values = keys_and_values
        query = _split(self._linear(hidden, f"{name}.query"))
        scores = query @ keys.swapaxes(-1, -2) / np.float32(query.shape[-1] ** 0.5)
        found = (softmax(scores) @ values).swapaxes(1, 2)
        return self._linear(found.reshape(hidden.shape), f"{name}.out")

    def _linear(self, inputs: Array, name: str) -> Array:
        return linear(inputs, self._weights, name)

    def _norm(self, vectors: Array, name: str) -> Array:
        return normed(vectors, self._weights, name)


class DecoderReading:
    """An input that the model has read; see ``decoding.Reading``."""

    def __init__(self, decoder: Decoder, tokens: Sequence[int], states: Array) -> None:
        """Generate from the tokens of ``input_tokens`` and their states, ``(tokens, width)``."""
        self.identifiers = identifiers_in(tokens)
        self._decoder = decoder
        self._memory = decoder.memory(tokens, states)
        self._rows: dict[tuple[int, ...], int] = {}
        self._past: list[KeysAndValues] = []

    def next_tokens(self, prefixes: Sequence[tuple[int, ...]]) -> Array:
        """Return log-probabilities of the token after each prefix, ``(prefixes, vocabulary)``."""
        past, last = [], [FIRST]
        if prefixes[0]:
            parents = [self._rows[prefix[:-1]] for prefix in prefixes]
            past = [(keys[parents], values[parents]) for keys, values in self._past]
            last = [prefix[-1] for prefix in prefixes]
        scores, self._past = self._decoder.next_tokens(self._memory, np.array(last), past)
        self._rows = {prefix: row for row, prefix in enumerate(prefixes)}
        return scores


def _split(hidden: Array) -> Array:
    """Return ``(rows, places, width)`` as ``(rows, heads, places, width / heads)``."""
    rows, places, width = hidden.shape
    return hidden.reshape(rows, places, HEADS, width // HEADS).swapaxes(1, 2)
