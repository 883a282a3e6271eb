"""Every threshold and limit of the pipeline, in one place.

The report's own values are named where they differ, because its encoders score
on another scale. The cutoffs are low: they keep out what is plainly about
something else and leave the choice to the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """What a recipe may vary. Scores are cosine similarities unless said otherwise.

    Attributes:
        disambiguation_cutoff: least similarity of a disambiguated title to the claim.
        disambiguation_limit: most disambiguated titles kept.
        text_limit: most documents taken from text match (report, 3.3.7: 1000).
        word_limit: documents taken by the claim's words and read whatever the ranking says.
        document_cutoff: least similarity of a document to its best question
            (report, 3.3.9: 0.65 with DPR).
        document_limit: most documents that the ranking hands to the sentence stages.
        sentence_limit: most sentences classified per hop, taken document by document.
        relevance_cutoff: least probability that a sentence bears on the claim.
        semantic_cutoff: least similarity of a sentence to the claim
            (report, 3.3.11: 0.7 with all-mpnet-base-v2).
        rerank_limit: most sentences that the large profile reads twice.
        selection_share: a sentence is selected if it has at least this share of the best
            one's relevance.
        selection_limit: most sentences that the verdict rests on.
        mention_sentences: sentences whose mentions the next hop follows, selected or not.
        max_hops: rounds of retrieval.
    """

    disambiguation_cutoff: float = 0.25
    disambiguation_limit: int = 5
    text_limit: int = 1000
    word_limit: int = 8
    document_cutoff: float = 0.35
    document_limit: int = 12
    sentence_limit: int = 80
    relevance_cutoff: float = 0.05
    semantic_cutoff: float = 0.1
    rerank_limit: int = 5
    selection_share: float = 0.4
    selection_limit: int = 5
    mention_sentences: int = 5
    max_hops: int = 2
