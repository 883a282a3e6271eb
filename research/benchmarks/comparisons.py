"""How many claims the stage ``comparison`` decides, and rightly, if the pages are given.

The claims are every fourth of those of ``research/datasets/everyday`` that have evidence and a
word of comparison; the sentences are all those of the pages with their evidence.
"""

from __future__ import annotations

import re

from research.benchmarks.corpus import everyday_claims, vital_index
from research.benchmarks.row import Row
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models import runtime
from retrieval.models.shipped import evidence_model
from retrieval.quantities.halves import comparison
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.comparison import ComparisonReader
from retrieval.text.english import EnglishParser
from settings import Settings

_WORDS = re.compile(r"\b(?:than|before|after|already)\b", re.IGNORECASE)
_EVERY = 4


def measure() -> list[Row]:
    """Decide each claim from the sentences of its pages."""
    settings = Settings.from_environment()
    runtime.use_threads(settings.threads)
    runtime.keep_in(settings.model_folders.networks)
    parser = EnglishParser()
    verifier = evidence_model(settings.model_folders, in_search=True)
    stage = ComparisonReader(parser, verifier, RetrievalConfig().compared_sentences)
    index = EmbeddedIndex(vital_index()).open(None)
    claims = [one for one in everyday_claims() if one["evidence"] and _WORDS.search(one["claim"])]
    cut = decided = right = 0
    for one in claims[::_EVERY]:
        halves = comparison(parser.parse(one["claim"]))
        if halves is None:
            continue
        cut += 1
        pages = {page for sentences in one["evidence"] for page, _ in sentences}
        texts = [
            (document.title, sentence.text)
            for document in index.documents(sorted(pages))
            for sentence in document.sentences
        ]
        if (found := stage.compared(halves, texts)) is not None:
            decided += 1
            right += found[0].label == one["label"]
    return [
        Row("claims with a word of comparison", f"{len(claims[::_EVERY]):,}"),
        Row("of these, cut into halves", f"{cut}"),
        Row("of these, decided", f"{decided}"),
        Row("of these, decided rightly", f"{right}"),
    ]
