"""Turns texts into rows of token ids, in the form that the packaged models were trained with."""

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
        """Return each pair of texts as one row; the end of the longer text is cut."""
        return [read.ids for read in self._cut.encode_batch(list(pairs))]

    def texts(self, texts: Sequence[str]) -> list[Row]:
        """Return each text, cut at its end, with the special tokens of begin and end."""
        return [read.ids for read in self._cut.encode_batch(list(texts))]

    def placed(self, texts: Sequence[str]) -> list[tuple[Row, Offsets]]:
        """Return each text, whole and without special tokens, and each token's characters."""
        read = self._whole.encode_batch(list(texts), add_special_tokens=False)
        return [(text.ids, text.offsets) for text in read]

    def length(self, first: str, second: str) -> int:
        """Return the number of tokens of a pair's row before it is cut."""
        return len(self._whole.encode(first, second))


@cache
def _opened(file: Path, max_tokens: int | None) -> Rust:
    """Return the tokenizer in a file; models with the same ``max_tokens`` share it."""
    tokenizer = Rust.from_file(str(file))
    tokenizer.no_padding()  # the file's settings pad and cut
    tokenizer.no_truncation()
    if max_tokens is not None:
        # A claim of up to half the window is never cut; 500 Chinese characters are more.
        tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    return tokenizer
