"""Texts as rows of token ids, as the packaged models were trained to read them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from tokenizers import Tokenizer as Rust

Row: TypeAlias = list[int]
Offsets: TypeAlias = list[tuple[int, int]]


class Tokenizer:
    """A fast tokenizer of Hugging Face, without the import of transformers, which takes seconds."""

    def __init__(self, file: Path, max_tokens: int) -> None:
        """Read ``file``, a ``tokenizer.json``; ``pairs`` and ``texts`` cut to ``max_tokens``."""
        self._rust = _opened(file)
        self._max_tokens = max_tokens
        self.begin, self.end = self._rust.encode("").ids  # [CLS] and [SEP], or <s> and </s>

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Row]:
        """Return each pair of texts as one row; of the longer text the end is cut."""
        return self._cut(list(pairs))

    def texts(self, texts: Sequence[str]) -> list[Row]:
        """Return each text, cut at its end, between the marks of begin and end."""
        return self._cut(list(texts))

    def placed(self, texts: Sequence[str]) -> list[tuple[Row, Offsets]]:
        """Return each text, whole and without marks, and where each token lies, in characters."""
        read = self._rust.encode_batch(list(texts), add_special_tokens=False)
        return [(text.ids, text.offsets) for text in read]

    def length(self, first: str, second: str) -> int:
        """Return how many tokens the row of a pair has before it is cut."""
        return len(self._rust.encode(first, second))

    def _cut(self, inputs: list[Any]) -> list[Row]:
        # A claim of up to half the window is never cut; 500 Chinese signs are more.
        self._rust.enable_truncation(self._max_tokens, strategy="longest_first")
        try:
            return [read.ids for read in self._rust.encode_batch(inputs)]
        finally:
            self._rust.no_truncation()


@cache
def _opened(file: Path) -> Rust:
    """Return the tokenizer in a file, once for all models that read it."""
    tokenizer = Rust.from_file(str(file))
    tokenizer.no_padding()  # the file says to pad and to cut
    tokenizer.no_truncation()
    return tokenizer
