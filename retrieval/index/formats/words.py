"""How texts and queries are cut into words, in every store alike: tantivy's analyzer."""

from __future__ import annotations

import tantivy


def words_analyzer() -> tantivy.TextAnalyzer:
    """Return the analyzer of texts and queries: words in lower case, without accents."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .build()
    )
