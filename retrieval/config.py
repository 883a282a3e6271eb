"""The thresholds and limits of the pipeline that may be tuned, in one place.

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
        sentence_limit: most sentences read alone in the first hop.
        expansion_sentence_limit: the same in later hops.
        relevance_cutoff: least probability that a sentence bears on the claim.
        title_bonus: added to the similarity of a document that was found by its title but for
            words in parentheses, and of the sentences of a document that was found by its title
            (docs/experiments.md, "The page of a name among many that begin with it").
        first_sentence_bonus: added to the similarity of a document's first sentence, which names
            the subject that the others refer to (docs/experiments.md, same section).
        semantic_cutoff: least similarity of a sentence to the claim
            (report, 3.3.11: 0.7 with all-mpnet-base-v2).
        semantic_limit: most relevant sentences of a hop that are ranked so.
        verified_sentences: best sentences that the verifier reads, with those on their paths.
        verified_paths: paths that it reads too, at most, where none of those sentences settles
            the claim.
        verified_path_cutoff: least score of such a path, by the path reader.
        path_gain: by so much more than each of its sentences alone a path must decide, or else the
            sentence counts without it.
        selection_share: a sentence is selected if it has at least this share of the best
            one's relevance.
        selection_limit: most sentences that the verdict rests on.
        unproved_share: the same share for a sentence that no part of the proof rests on.
        utility_candidates: sentences that FER's selection chooses from (FER, 4.1: 25).
        lead_sentences: best sentences that the next hop goes on from, selected or not.
        expansion_limit: most documents that a hop after the first opens.
        generation_beams: beam of title generation (AdMIRaL, A.2: 25).
        dense_limit: nearest sentences whose documents dense retrieval proposes.
        path_leads: best sentences that the path reader reads others together with, and that dense
            retrieval goes on from.
        path_neighbours: sentences that are read together with each of them, at most so many of the
            documents that it led to and so many of the others.
        path_threshold: least product of a path's scores (M3, Algorithm 1: mth).
        path_weight: weight of paths in hybrid ranking (M3, Algorithm 1: gamma).
        independence_cutoff: least probability with which a span of the claim is open. Fitted to
            what rounds find (docs/experiments.md); the prover's card has another, of made sets.
        together_weight: weight of what the selected sentences say together; the rest is the most
            relevant one's alone (docs/experiments.md; fitted with ``esoteric train calibration``).
        firm_confidence: below it the rationale only says what the evidence seems to do.
        opposed_share: share of its confidence above a guess that a verdict keeps where the proof
            comes to the opposite. Fitted to 376 dev claims it would be 0.74 (docs/experiments.md).
        open_share: the same where the proof leaves the claim open. Fitted, this and the next would
            be 1.0 and 1.1: the verifier is less confident there by itself. So that a proof that
            does not agree raises no confidence, both are below 1.
        proved_share: the same of an undecided verdict where the proof decides.
        seconds: a fault guard: no further hop begins when so many have passed, and a notice
            says so. What a claim takes is limited by hops and sentences.
    """

    disambiguation_cutoff: float = 0.25
    disambiguation_limit: int = 5
    text_limit: int = 200
    word_limit: int = 4
    document_cutoff: float = 0.35
    document_limit: int = 6
    sentence_limit: int = 40
    expansion_sentence_limit: int = 24
    title_bonus: float = 0.1
    first_sentence_bonus: float = 0.1
    relevance_cutoff: float = 0.05
    semantic_cutoff: float = 0.1
    semantic_limit: int = 15
    verified_sentences: int = 7
    verified_paths: int = 8
    verified_path_cutoff: float = 0.3
    path_gain: float = 0.1
    selection_share: float = 0.4
    selection_limit: int = 5
    unproved_share: float = 0.6
    utility_candidates: int = 10
    lead_sentences: int = 5
    expansion_limit: int = 12
    generation_beams: int = 5
    dense_limit: int = 20
    path_leads: int = 3
    path_neighbours: int = 7
    path_threshold: float = 0.02
    path_weight: float = 1.0
    independence_cutoff: float = 0.25
    together_weight: float = 0.25
    firm_confidence: float = 0.6
    opposed_share: float = 0.75
    open_share: float = 0.9
    proved_share: float = 0.9
    seconds: float = 300.0


# The recipe ``report``: the values of the ESOTERIC report with its own models. There
# ``document_limit`` is of each question (3.3.8), ``document_cutoff`` is a scaled inner product
# (3.3.9), and a sentence is relevant if its label says so (3.3.10). The report reads every
# sentence of the documents; the limit only keeps books from being read whole. It names no values
# for disambiguated titles.
REPORT = RetrievalConfig(
    text_limit=1000,
    word_limit=0,
    document_cutoff=0.65,
    document_limit=10,
    sentence_limit=1000,
    relevance_cutoff=0.5,
    semantic_cutoff=0.7,
)
