"""The input of title generation, claim and sentences, in training and in use."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.models.generators.decoding import Markup
from retrieval.models.generators.title_tokenizer import TitleTokenizer
from retrieval.text.model_texts import evidence_text

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
