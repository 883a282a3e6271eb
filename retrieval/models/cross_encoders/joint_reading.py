"""FER's fine-grained retriever: a claim and all its candidates, read as one sequence.

"The claim and all sentences in S are concatenated as a single input sequence,
with a special token [CLS] added at the beginning of each sentence" (FER, section
3.2). So the score of a sentence depends on the others: a second sentence with the
same fact is less useful, and some sentences are useful only together with another.

FER learns this from all of FEVER's training claims. Here there are far fewer, so
the output of the joint reading is added to the log-odds of each sentence's
relevance. Without training it is 0. And the vector of a sentence is not that of
its [CLS] but the mean from it to the next one: a [CLS] has to learn which words are
its own, and in 5,000 claims it did not (research/notebook.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.models.networks.arrays import Array
from retrieval.models.networks.tokenizer import Row, Tokenizer
from retrieval.text.model_texts import evidence_text

USEFUL = 1  # of the two classes: 0 is not useful
_LEAST = 0.005  # relevance is clipped to this and to 1 minus this


@dataclass(frozen=True, slots=True)
class JointRow:
    """A claim with its candidates as one row of tokens, and the position of each one's [CLS]."""

    ids: Row
    heads: list[int]


def joint_row(
    tokenizer: Tokenizer, claim: str, sentences: Sequence[tuple[str, str]], max_tokens: int
) -> JointRow:
    """Return the network's input for a claim and its (title, sentence) candidates."""
    row, rest = pieces(tokenizer, claim, sentences, max_tokens)
    heads = []
    for piece in rest:
        heads.append(len(row))
        row = [*row, tokenizer.begin, *piece]
    return JointRow(row, heads)


def log_odds(relevance: Sequence[float] | Array) -> Array:
    """Return the log-odds of the probabilities of relevance, ``(sentences,)``."""
    known = np.clip(np.asarray(relevance, np.float32), _LEAST, 1 - _LEAST)
    odds: Array = np.log(known / (1 - known))
    return odds


def pieces(
    tokenizer: Tokenizer, claim: str, sentences: Sequence[tuple[str, str]], max_tokens: int
) -> tuple[Row, list[Row]]:
    """Return the tokens of the claim, with its [CLS] and [SEP], and those of each sentence.

    Together with one more token for each sentence they fit into ``max_tokens``. If they are too
    long, the ends of the longest sentences are cut.
    """
    texts = [claim, *(evidence_text(title, sentence) for title, sentence in sentences)]
    (of_claim, _), *read = tokenizer.placed(texts)
    claim_row = [tokenizer.begin, *of_claim[: max_tokens // 2 - 2], tokenizer.end]
    if not sentences:
        return claim_row, []
    rows = [ids[:max_tokens] for ids, _ in read]
    room = max_tokens - len(claim_row) - len(rows)
    longest = longest_that_fits([len(row) for row in rows], room)
    return claim_row, [row[:longest] for row in rows]


def longest_that_fits(lengths: Sequence[int], room: int) -> int:
    """Return the greatest length of a sentence with which all fit; shorter ones stay whole."""
    for done, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - done)
        if length > share:
            return share
        room -= length
    return max(lengths)
