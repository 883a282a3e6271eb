"""Cuts titles into tokens, for the index and for generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from tokenizers import Tokenizer

from retrieval.models.networks.minilm import minilm_folder


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a punctuation mark of a text, with its offsets there and its tokens."""

    start: int
    end: int
    tokens: tuple[int, ...]


class TitleTokenizer:
    """MiniLM's WordPiece, 30,522 uncased tokens; no special ones are added."""

    def __init__(self) -> None:
        """Load the vocabulary.

        Raises:
            ModelUnavailable: the package that it comes with is missing or damaged.
        """
        self._tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
        # The file's settings pad and cut everything to 128 tokens.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def tokens(self, titles: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each whole title, with its words in parentheses."""
        encoded = self._tokenizer.encode_batch(list(titles), add_special_tokens=False)
        return [title.ids for title in encoded]

    def words(self, text: str) -> list[Word]:
        """Return the words of a text in order, with the tokens that a title of them would have."""
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        tokens = zip(encoded.word_ids, encoded.offsets, encoded.ids, strict=True)
        words = [list(word) for _, word in groupby(tokens, key=lambda token: token[0])]
        return [
            Word(word[0][1][0], word[-1][1][1], tuple(token for _, _, token in word))
            for word in words
        ]
