"""MiniLM without its layers: a vector for each token, and their sum for a sentence.

A token's vector is computed from its embedding and from the transformer's state of the token alone.
A linear map brings the sums near the vectors of ``MiniLMEncoder``
(``research/training/static.py``), so queries of the transformer can be compared with documents of
this encoder. Encoding takes a small part of the time, so that millions of pages can be encoded on
an ordinary computer. Frequent tokens have a lower weight, as in Arora et al. 2017 ("A Simple but
Tough-to-Beat Baseline for Sentence Embeddings", section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from retrieval.models import runtime
from retrieval.models.arrays import unit
from retrieval.models.encoders import EncodableDocument, MiniLMEncoder
from retrieval.models.networks import opened_tokenizer
from retrieval.models.packaged import MiniLM, minilm_folder
from retrieval.models.trained_model import read_config, version_of
from retrieval.models.weights import checked
from retrieval.system.fixes import restore_model

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

WEIGHTS = "weights.safetensors"
_TABLE = "static-tokens"  # the vectors of all tokens
_WORDS = 1_000_000  # that are remembered at most


class StaticEncoder:
    """Sums of token vectors, on the CPU."""

    dimension = MiniLMEncoder.dimension
    query_encoder = MiniLMEncoder.name

    def __init__(self, folder: Path) -> None:
        """Read the folder's configuration; no weights are loaded yet.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        self._folder = folder
        self._config = read_config(folder)
        # The name contains the digest of the weights, since vectors of others cannot be compared.
        self.name = f"{version_of(self._config)} {self._config['sha256'][:8]}"

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """See ``DocumentEncoder.encode_documents``.

        A sentence is the sum of the vectors of its tokens and of its title's; a document is the sum
        of its sentences, each with the title. A text without a token has a vector of zeros.
        """
        if not documents:
            return np.zeros((0, self.dimension), np.float32), []
        titles = self._sums([document.title for document in documents])
        sentences = self._sums(
            [document.text[a:b] for document in documents for a, b in document.sentences]
        )
        counts = [len(document.sentences) for document in documents]
        owners = np.repeat(np.arange(len(documents)), counts)
        apart = unit(sentences + titles[owners])
        whole = np.zeros_like(titles)
        np.add.at(whole, owners, apart)
        nothing = np.array(counts) == 0
        whole[nothing] = titles[nothing]
        return unit(whole), np.split(apart, list(accumulate(counts))[:-1])

    def _sums(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the sum of each text's token vectors, shape ``(len(texts), 384)``."""
        import torch

        words, table = self._parts
        tokens, starts = map(torch.from_numpy, words.tokens(texts))
        sums: NDArray[np.float32] = torch.nn.functional.embedding_bag(
            tokens, table, starts, mode="sum"
        ).numpy()
        return sums

    @cached_property
    def _parts(self) -> tuple[WordTokens, torch.Tensor]:
        from safetensors.torch import load_file

        runtime.limit_torch()
        table = runtime.kept_file(_TABLE, self.name, ".safetensors", self._table)
        return WordTokens(word_pieces()), load_file(table)[_TABLE]

    def _table(self) -> bytes:
        """Return the vectors of all tokens as a safetensors file; this takes up to a minute."""
        from safetensors.torch import load_file, save

        fix = restore_model(self._folder)
        fitted = load_file(checked(self._folder / WEIGHTS, self._config["sha256"], fix))
        weights = fitted["weights"].float()
        table = token_vectors(range(len(weights))) @ fitted["map"].float()
        table *= weights[:, None]
        return save({_TABLE: table})


class WordTokens:
    """Cuts texts into tokens word by word, and remembers the words.

    The tokens of a text are those of its words, and a few words make up most of any text. Looking
    them up is much faster than the tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Begin without words."""
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    def tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the token ids of all texts, joined, and the position where each text begins."""
        split = [text.split() for text in texts]
        self._meet(set(chain.from_iterable(split)))
        rows = [list(chain.from_iterable(map(self._known.__getitem__, text))) for text in split]
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)[:-1]
        return np.fromiter(chain.from_iterable(rows), np.int64), starts

    def _meet(self, words: set[str]) -> None:
        if len(self._known) + len(words) > _WORDS:
            self._known.clear()
        new = [word for word in words if word not in self._known]
        found = self._tokenizer.encode_batch(new, add_special_tokens=False)
        self._known.update((word, read.ids) for word, read in zip(new, found, strict=True))


def token_vectors(tokens: Sequence[int]) -> torch.Tensor:
    """Return two unit vectors for each of these of MiniLM's tokens, side by side: 768 numbers.

    They are its embedding, and the mean of the last hidden states when it is read alone. All 30,522
    take up to a minute.

    Raises:
        ModelUnavailable: the weights are missing or damaged.
    """
    import torch
    from torch.nn.functional import normalize

    base = MiniLM()
    weights = base.weights()
    model = base.torch_body(weights).train(False)
    read = torch.tensor(tokens)
    words = torch.from_numpy(base.body(weights, places=1).words)[read].float()
    begin, end = word_pieces().encode("").ids  # [CLS] and [SEP]
    alone = torch.empty(words.shape)
    with torch.inference_mode():
        for some, into in zip(torch.split(read, 1024), torch.split(alone, 1024), strict=True):
            ids = torch.stack([torch.full_like(some, begin), some, torch.full_like(some, end)], 1)
            into[:] = model(input_ids=ids)[0].float().mean(dim=1)
    return torch.cat([normalize(words, dim=1), normalize(alone, dim=1)], dim=1)


def word_pieces() -> Tokenizer:
    """Return MiniLM's tokenizer, whole texts in and no padding; raises the same."""
    return opened_tokenizer(minilm_folder() / "tokenizer.json")
