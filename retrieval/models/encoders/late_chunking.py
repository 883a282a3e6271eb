"""Late chunking: the encoder reads a document whole, and a sentence's vector is pooled from it.

So the vector of a sentence reflects what "she" or "the film" in it means (Günther et al. 2024,
"Late Chunking"). If a document does not fit into one window, the rest is read in further ones, each
with the title before it; the paper uses overlapping windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """Sentence ``number`` of its document; its tokens are ``first`` to before ``last``."""

    number: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Window:
    """Token ids that are read together, without special ones, and the sentences among them."""

    tokens: list[int]
    sentences: list[PlacedSentence]


def windows(
    tokens: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    head: int,
    sentences: Sequence[tuple[int, int]],
    size: int,
) -> list[Window]:
    """Return windows of at most ``size`` tokens that contain every sentence once.

    ``offsets`` are the characters of the tokens; ``sentences`` are in the same text, in order, and
    its first ``head`` characters are the title. The first window is the beginning of the text. Each
    further one is the title, cut to half a window, and the text from the first sentence that is not
    whole in a window yet. A sentence that is longer than such a window is cut. A sentence without a
    token is in no window.
    """
    starts, ends = np.array(offsets, dtype=np.int64).reshape(-1, 2).T
    firsts = np.searchsorted(starts, [start for start, _ in sentences]).tolist()
    lasts = np.searchsorted(ends, [end for _, end in sentences], side="right").tolist()
    placed = [
        PlacedSentence(number, first, last)
        for number, (first, last) in enumerate(zip(firsts, lasts, strict=True))
        if first < last
    ]
    found = [Window(list(tokens[:size]), [s for s in placed if s.last <= size])]
    rest = [s for s in placed if s.last > size]
    title = list(tokens[: min(int(np.searchsorted(ends, head, side="right")), size // 2)])
    done = 0
    while done < len(rest):
        begin = rest[done].first
        end = begin + size - len(title)
        shift = len(title) - begin
        held: list[PlacedSentence] = []
        while done < len(rest) and (not held or rest[done].last <= end):
            sentence = rest[done]
            last = min(sentence.last, end) + shift
            held.append(PlacedSentence(sentence.number, sentence.first + shift, last))
            done += 1
        found.append(Window([*title, *tokens[begin:end]], held))
    return found
