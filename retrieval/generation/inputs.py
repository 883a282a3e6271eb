"""How claim and sentences are written where titles are generated, in training as in use."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.cross_encoders.inputs import evidence_text
from retrieval.generation.decoding import Markup
from retrieval.titles.title_tokenizer import TitleTokenizer

MAX_TOKENS = 256
# Entries of MiniLM's vocabulary that stand in no text, [unused1] and those after it.
IDENTIFIERS = tuple(range(2, 10))
MARKUP = Markup(title_begin=10, title_end=11)
PADDING, FIRST, SEPARATOR = 0, 101, 102  # [PAD], [CLS], [SEP]


def input_tokens(
    tokenizer: TitleTokenizer, claim: str, sentences: Sequence[tuple[str, str]], max_tokens: int
) -> list[int]:
    """Return claim and (title, sentence) pairs as one input, each sentence behind its identifier.

    Cut at its end to ``max_tokens``; of a long claim no more than half of them is
    read. There are as many identifiers as ``IDENTIFIERS`` holds: further sentences
    are left out.
    """
    texts = [claim, *(evidence_text(title, sentence) for title, sentence in sentences)]
    of_claim, *of_sentences = tokenizer.tokens(texts)
    tokens = [FIRST, *of_claim[: max_tokens // 2], SEPARATOR]
    for identifier, of_sentence in zip(IDENTIFIERS, of_sentences, strict=False):
        tokens += [identifier, *of_sentence]
    return [*tokens[: max_tokens - 1], SEPARATOR]


def identifiers_in(tokens: Sequence[int]) -> list[int]:
    """Return the identifiers of the sentences that an input holds, in their order."""
    return [token for token in tokens if token in IDENTIFIERS]
