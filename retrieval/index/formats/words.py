"""How texts and queries are cut into words, in every store alike: tantivy's analyzer.

The words near a word are found by Elasticsearch's term suggester.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tantivy

from retrieval.text.word_forms import is_near

_MOST = 50
_NAME = "near"


def words_analyzer() -> tantivy.TextAnalyzer:
    """Return the analyzer of texts and queries: words in lower case, without accents."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .build()
    )


def suggester(field: str, word: str, edits: int) -> dict[str, Any]:
    """Return the ``suggest`` of a search: words of ``field``, if none of its texts has the word."""
    term = {
        "field": field,
        "suggest_mode": "missing",
        "max_edits": edits,
        "prefix_length": 1,
        "min_word_length": 2,
        "size": _MOST,
        "sort": "frequency",
    }
    return {_NAME: {"text": word, "term": term}}


def suggested(suggest: Mapping[str, Any], word: str, edits: int) -> dict[str, int]:
    """Return the words of an answer, with the number of texts that contain each."""
    options = (option for found in suggest[_NAME] for option in found["options"])
    words = {str(option["text"]): int(option["freq"]) for option in options}
    return {one: words[one] for one in sorted(words) if is_near(word, one, edits)}
