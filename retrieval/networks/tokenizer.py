"""Texts as rows of token ids, as the packaged models were trained to read them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

from tokenizers import Tokenizer as Rust

Row: TypeAlias = list[int]
Offsets: TypeAlias = list[tuple[int, int]]


class Tokenizer:
    """A fast tokenizer of Hugging Face, without the import of transformers, which takes seconds."""

    def __init__(self, file: Path, max_tokens: int) -> None:
        """Read ``file``, a ``tokenizer.json``; ``pairs`` and ``texts`` cut to ``max_tokens``."""
        self._whole, self._cut = _opened(file, None), _opened(file, max_tokens)
        self.begin, self.end = self._whole.encode("").ids  # [CLS] and [SEP], or <s> and </s>

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Row]:
        """Return each pair of texts as one row; of the longer text the end is cut."""
        return [read.ids for read in self._cut.encode_batch(list(pairs))]

    def texts(self, texts: Sequence[str]) -> list[Row]:
        """Return each text, cut at its end, between the marks of begin and end."""
        return [read.ids for read in self._cut.encode_batch(list(texts))]

    def placed(self, texts: Sequence[str]) -> list[tuple[Row, Offsets]]:
        """Return each text, whole and without marks, and where each token lies, in characters."""
        read = self._whole.encode_batch(list(texts), add_special_tokens=False)
        return [(text.ids, text.offsets) for text in read]

    def length(self, first: str, second: str) -> int:
        """Return how many tokens the row of a pair has before it is cut."""
        return len(self._whole.encode(first, second))


@cache
def _opened(file: Path, max_tokens: int | None) -> Rust:
    """Return the tokenizer in a file, once for all models that cut to so many tokens."""
    tokenizer = Rust.from_file(str(file))
    tokenizer.no_padding()  # the file says to pad and to cut
    tokenizer.no_truncation()
    if max_tokens is not None:
        # A claim of up to half the window is never cut; 500 Chinese signs are more.
        tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    return tokenizer
