"""The network that generates titles; see ``retrieval.models.papers.title_generator``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import gelu, layer_norm, pad, scaled_dot_product_attention
from transformers import DistilBertModel

from research.training.networks.encoders import packaged_body, padded
from retrieval.models.papers.title_generator import (
    FIRST,
    HEADS,
    LAYERS,
    PADDING,
    POSITIONS,
    identifiers_in,
)

FEED_FORWARD = 1024

KeysAndValues: TypeAlias = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Memories:
    """The inputs as the decoder uses them.

    ``layers``: keys and values of each decoder layer's cross-attention, shape
    ``(batch, heads, tokens, width / heads)``. ``copy_keys``: ``(batch, tokens,
    width)``. ``input_ids`` and ``mask``, true for tokens: ``(batch, tokens)``.
    """

    layers: tuple[KeysAndValues, ...]
    copy_keys: torch.Tensor
    input_ids: torch.Tensor
    mask: torch.Tensor


@dataclass(frozen=True, slots=True)
class Choice:
    """The probabilities of the next token, for each row and place of a sequence.

    ``generated``: log-probabilities of the vocabulary, ``(rows, places, vocabulary)``. ``copied``:
    of the input's tokens, ``(rows, places, tokens)``. ``copying``: of copying and of generating,
    ``(rows, places, 2)``.
    """

    generated: torch.Tensor
    copied: torch.Tensor
    copying: torch.Tensor


class TitleNetwork(nn.Module):
    """Generates sentence identifiers and a title from a claim and sentences."""

    def __init__(self, distilbert: DistilBertModel) -> None:
        """Add a new decoder, initialised with a fixed seed, to an encoder.

        The decoder's own word embeddings, in and out, are the encoder's.
        """
        super().__init__()
        self.distilbert = distilbert
        width, vocabulary = distilbert.config.dim, distilbert.config.vocab_size
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.positions = nn.Embedding(POSITIONS, width)
            nn.init.normal_(self.positions.weight, std=0.02)
            self.input_norm = nn.LayerNorm(width)
            self.layers = nn.ModuleList(DecoderLayer(width) for _ in range(LAYERS))
            self.output_norm = nn.LayerNorm(width)
            self.output = nn.Linear(width, width)
            self.output_bias = nn.Parameter(torch.zeros(vocabulary))
            self.copy_gate = nn.Linear(width, 2)
            self.copy_query = nn.Linear(width, width)
            self.copy_key = nn.Linear(width, width)
            self.copy_previous = nn.Linear(width, width, bias=False)
            # The token after the last one of the input is the first one.
            nn.init.eye_(self.copy_query.weight)
            nn.init.eye_(self.copy_previous.weight)

    def read(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Memories:
        """Encode inputs of shape ``(batch, tokens)``, once for all generated sequences."""
        hidden = self.distilbert(input_ids=input_ids, attention_mask=attention_mask)[0]
        hidden = hidden.to(self.positions.weight.dtype)
        before = self.embedding(pad(input_ids[:, :-1], (1, 0)))
        before = layer_norm(before, before.shape[-1:])
        return Memories(
            layers=tuple(layer.cross_attention.keys_and_values(hidden) for layer in self._layers),
            copy_keys=self.copy_key(hidden) + self.copy_previous(before),
            input_ids=input_ids,
            mask=attention_mask.bool(),
        )

    def decode(
        self, memory: Memories, tokens: torch.Tensor, past: Sequence[KeysAndValues] = ()
    ) -> tuple[Choice, list[KeysAndValues]]:
        """Return the choice of the token after each of ``tokens``, shape ``(rows, places)``.

        ``past``: the second result of the call for the tokens before, cut to the rows that
        continue. A memory of one input can be used for any number of rows.
        """
        done = past[0][0].shape[2] if past else 0
        places = torch.arange(done, done + tokens.shape[1]).clamp(max=POSITIONS - 1)
        hidden = self.input_norm(self.embedding(tokens) + self.positions(places))
        seen = memory.mask[:, None, None, :]
        made = []
        for number, layer in enumerate(self._layers):
            before = past[number] if past else None
            hidden, keys_and_values = layer(hidden, before, memory.layers[number], seen)
            made.append(keys_and_values)
        hidden = self.output_norm(hidden)
        logits = self.output(hidden) @ self.embedding.weight.T + self.output_bias
        query = self.copy_query(hidden)
        scores = (query @ memory.copy_keys.mT).float() / query.shape[-1] ** 0.5
        scores = scores.masked_fill(~memory.mask[:, None, :], -torch.inf)
        return (
            Choice(
                generated=logits.float().log_softmax(dim=-1),
                copied=scores.log_softmax(dim=-1),
                copying=self.copy_gate(hidden).float().log_softmax(dim=-1),
            ),
            made,
        )

    def log_likelihood(self, memory: Memories, targets: torch.Tensor) -> torch.Tensor:
        """Return the log-probability of each target token, shape ``(batch, places)``.

        Each depends on those before it (equation 2). It is 0 where ``targets`` is padded with 0.
        """
        start = torch.full_like(targets[:, :1], FIRST)
        choice, _ = self.decode(memory, torch.cat([start, targets[:, :-1]], dim=1))
        generated = choice.generated.gather(2, targets[:, :, None])[:, :, 0]
        same = memory.input_ids[:, None, :] == targets[:, :, None]
        # Not minus infinity, which has no gradient if nothing can be copied.
        copied = choice.copied.masked_fill(~same, -1e4).logsumexp(dim=-1)
        likely = torch.logaddexp(
            choice.copying[:, :, 0] + copied, choice.copying[:, :, 1] + generated
        )
        return likely.masked_fill(targets == PADDING, 0.0)

    def next_tokens(
        self, memory: Memories, tokens: torch.Tensor, past: Sequence[KeysAndValues]
    ) -> tuple[torch.Tensor, list[KeysAndValues]]:
        """Return log-probabilities of each row's next token, ``(rows, vocabulary)``, and the past.

        ``tokens``: the last one of each row, shape ``(rows, 1)``.
        """
        choice, made = self.decode(memory, tokens, past)
        copied = (choice.copying[:, 0, :1] + choice.copied[:, 0]).exp()
        probability = (choice.copying[:, 0, 1:] + choice.generated[:, 0]).exp()
        where = memory.input_ids.expand(len(tokens), -1)
        return probability.scatter_add(1, where, copied).log(), made

    @property
    def embedding(self) -> nn.Embedding:
        """The word embeddings that encoder and decoder share."""
        embedding: nn.Embedding = self.distilbert.embeddings.word_embeddings
        return embedding

    @property
    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]


class DecoderLayer(nn.Module):
    """A transformer's decoder layer, with normalisation before each part (Xiong et al. 2020)."""

    def __init__(self, width: int) -> None:
        """Initialise the weights so that the layer changes its input only a little."""
        super().__init__()
        self.self_norm, self.self_attention = nn.LayerNorm(width), Attention(width)
        self.cross_norm, self.cross_attention = nn.LayerNorm(width), Attention(width)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.widen, self.narrow = nn.Linear(width, FEED_FORWARD), nn.Linear(FEED_FORWARD, width)
        for linear in (self.self_attention.out, self.cross_attention.out, self.narrow):
            nn.init.normal_(linear.weight, std=0.02)

    def forward(
        self,
        hidden: torch.Tensor,
        past: KeysAndValues | None,
        memory: KeysAndValues,
        seen: torch.Tensor,
    ) -> tuple[torch.Tensor, KeysAndValues]:
        """Return the output for ``hidden``, ``(rows, places, width)``, and the longer past."""
        normed = self.self_norm(hidden)
        made = self.self_attention.keys_and_values(normed)
        if past is not None:
            made = (torch.cat([past[0], made[0]], dim=2), torch.cat([past[1], made[1]], dim=2))
        # After a past there is one token at a time, which may attend to all of it.
        hidden = hidden + self.self_attention(normed, made, causal=past is None)
        hidden = hidden + self.cross_attention(self.cross_norm(hidden), memory, mask=seen)
        wide = gelu(self.widen(self.feed_forward_norm(hidden)))
        return hidden + self.narrow(wide), made


class Attention(nn.Module):
    """Attention in several heads; keys and values are computed separately."""

    def __init__(self, width: int) -> None:
        """Initialise the weights."""
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def keys_and_values(self, hidden: torch.Tensor) -> KeysAndValues:
        """Return keys and values of ``hidden``, ``(rows, places, width)``, split into heads."""
        return _split(self.key(hidden)), _split(self.value(hidden))

    def forward(
        self,
        hidden: torch.Tensor,
        keys_and_values: KeysAndValues,
        mask: torch.Tensor | None = None,
        causal: bool = False,
    ) -> torch.Tensor:
        """Return the attention of ``hidden`` to keys and values, in its shape."""
        keys, values = keys_and_values
        query = _split(self.query(hidden))
        rows = len(query)
        # Shared keys and values are not copied for each row: the rows' queries are concatenated.
        shared = len(keys) == 1 and not causal
        if shared:
            query = query.transpose(0, 1).flatten(1, 2)[None]
        found = scaled_dot_product_attention(query, keys, values, attn_mask=mask, is_causal=causal)
        if shared:
            heads, queries, width = found[0].shape
            found = found.view(heads, rows, queries // rows, width).transpose(0, 1)
        merged: torch.Tensor = self.out(found.transpose(1, 2).flatten(2))
        return merged


def _split(hidden: torch.Tensor) -> torch.Tensor:
    rows, places, width = hidden.shape
    return hidden.view(rows, places, HEADS, width // HEADS).transpose(1, 2)


def packaged_title_network() -> TitleNetwork:
    """Return a network with the packaged encoder and a new decoder.

    Raises:
        ModelUnavailable: the packaged weights are missing or damaged.
    """
    return TitleNetwork(packaged_body())


class NetworkReading:
    """An input that a network has read; see ``decoding.Reading``."""

    def __init__(self, network: TitleNetwork, tokens: Sequence[int]) -> None:
        """Encode the tokens of ``input_tokens``."""
        self.identifiers = identifiers_in(tokens)
        self._network = network
        with torch.inference_mode():
            self._memory = network.read(*padded([torch.tensor(tokens)], PADDING))
        self._rows: dict[tuple[int, ...], int] = {}
        self._past: list[KeysAndValues] = []

    def next_tokens(self, prefixes: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        """Return log-probabilities of the token after each prefix, ``(prefixes, vocabulary)``."""
        if prefixes[0]:
            parents = torch.tensor([self._rows[prefix[:-1]] for prefix in prefixes])
            past = [(keys[parents], values[parents]) for keys, values in self._past]
            tokens = torch.tensor([[prefix[-1]] for prefix in prefixes])
        else:
            past, tokens = [], torch.tensor([[FIRST]])
        with torch.inference_mode():
            scores, self._past = self._network.next_tokens(self._memory, tokens, past)
        self._rows = {prefix: row for row, prefix in enumerate(prefixes)}
        result: NDArray[np.float32] = scores.numpy()
        return result
