"""The thresholds, weights and limits of the search that may be tuned, and what language models get.

Numbers that belong to one trained model are in the ``config.json`` of its folder. Where the report
has other values, they are given: its encoders have another scale. The cutoffs are low. They drop
only what is clearly about something else; the ranking chooses from the rest.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """The settings of a recipe. Similarities are cosines, unless otherwise stated.

    Attributes:
        title_limit: most titles that match, exact ones first, in the stage ``titles:spacy``.
        disambiguation_cutoff: least similarity of a disambiguated title to the claim; in
            ``titles:spacy`` it must be above this.
        disambiguation_limit: most disambiguated titles kept.
        text_limit: most documents taken from text match (report, 3.3.7: 1000).
        word_limit: documents found by the claim's words; they are read without being ranked.
        document_cutoff: least similarity of a document to its best question
            (report, 3.3.9: 0.65 with DPR).
        document_limit: most documents that the ranking hands to the sentence stages.
        keep_exact_titles: whether all exact title matches are handed on, however many there are
            (report, 3.3.9: yes).
        sentence_limit: most sentences read alone in the first hop.
        expansion_sentence_limit: the same in later hops.
        relevance_cutoff: least probability that a sentence is relevant to the claim.
        title_bonus: added to the similarity of a document whose title, without words in
            parentheses, is in the claim, and of the sentences of a document that was found by its
            title (research/notebook.md, "The page of a name among many that begin with it").
        first_sentence_bonus: added to the similarity of a document's first sentence, which names
            the subject that the others refer to (research/notebook.md, same section).
        semantic_cutoff: least similarity of a sentence to the claim (report, 3.3.11: 0.7 with
            all-mpnet-base-v2, which its program does not apply).
        semantic_limit: the most relevant sentences of a hop that are ranked by similarity too.
        verified_sentences: best sentences that the verifier reads, with those on their paths.
        verified_paths: most paths that the verifier reads as well if none of those sentences
            settles the claim.
        verified_path_cutoff: least score of such a path, by the path model.
        compared_sentences: most sentences that the verifier reads for each half of a comparison.
        path_gain: a sentence keeps its path only if the score of the path, 1 - P(NOT ENOUGH INFO),
            is by this much higher than that of each of its sentences alone.
        selection_share: a sentence is selected if it has at least this share of the best
            one's relevance; by FER's selection, of the best one's odds of being useful.
        selection_limit: most selected sentences.
        unproved_share: the same share for a sentence that no part of the proof uses.
        utility_candidates: sentences that FER's selection chooses from (FER, 4.1: 25). A whole set
            of evidence is among the first 5 for 95 % of the claims, among 25 for 96 %.
        bridge_documents: most documents that are opened once more because the best sentence names
            them.
        bridge_cutoff: least score by the path model of the best sentence and one of another
            document together, for that one to be selected too.
        lead_sentences: best sentences that the next hop starts from, selected or not.
        expansion_limit: most documents that a hop after the first opens.
        generation_beams: beam of title generation (AdMIRaL, A.2: 25).
        generation_sentences: best sentences that title generation reads (AdMIRaL, 4: 5).
        generation_joint: whether a document is scored together with those that lead to it, and all
            documents are ranked by these sets (AdMIRaL, equation 1), or alone.
        generation_named_beams: beam of the search over the titles that the sentences link to or
            name; 0: no such search, as in the paper.
        generation_links: whether title generation reads the links of a sentence after it (AdMIRaL,
            6).
        dense_limit: nearest sentences whose documents dense retrieval proposes.
        path_leads: best sentences that the path model reads together with others, and that dense
            retrieval starts from.
        path_neighbours: most sentences that are read after each of them: this many from the
            documents that it led to, and this many from the others.
        path_threshold: least product of a path's scores (M3, Algorithm 1: mth).
        path_weight: weight of paths in hybrid ranking (M3, Algorithm 1: gamma).
        path_scale: factor of the scores of paths where they are ranked without it (M3, 6.3).
        independence_cutoff: least probability of "independent" at which a span of the claim is
            open. Fitted to the sentences that hops find (research/notebook.md); the prover's card
            has another value, for composed sets of sentences. None: a span is open if that is its
            most probable operator (AdMIRaL, 3.2).
        other_subject_share: a reading that is not about the claim's subject keeps this share of
            its probabilities of SUPPORTS and REFUTES.
        decided_cutoff: least confidence of SUPPORTS and REFUTES; below it the verdict is NOT ENOUGH
            INFO and only leans towards them. A half: more probable than not.
        seconds: after this time no further hop begins, and a notice says so. It is a guard against
            faults: the normal limits are those of hops and sentences.
    """

    title_limit: int = 10
    disambiguation_cutoff: float = 0.25
    disambiguation_limit: int = 5
    text_limit: int = 200
    word_limit: int = 4
    document_cutoff: float = 0.35
    document_limit: int = 6
    keep_exact_titles: bool = False
    sentence_limit: int = 40
    expansion_sentence_limit: int = 24
    title_bonus: float = 0.1
    first_sentence_bonus: float = 0.1
    relevance_cutoff: float = 0.05
    semantic_cutoff: float = 0.1
    semantic_limit: int = 15
    verified_sentences: int = 7
    verified_paths: int = 4
    verified_path_cutoff: float = 0.3
    compared_sentences: int = 4
    path_gain: float = 0.1
    selection_share: float = 0.4
    selection_limit: int = 5
    unproved_share: float = 0.6
    utility_candidates: int = 5
    bridge_documents: int = 8
    bridge_cutoff: float = 0.5
    lead_sentences: int = 5
    expansion_limit: int = 12
    generation_beams: int = 5
    generation_sentences: int = 5
    generation_joint: bool = False
    generation_named_beams: int = 25
    generation_links: bool = False
    dense_limit: int = 20
    path_leads: int = 3
    path_neighbours: int = 7
    path_threshold: float = 0.02
    path_weight: float = 1.0
    path_scale: float = 1.0
    independence_cutoff: float | None = 0.25
    other_subject_share: float = 0.1
    decided_cutoff: float = 0.5
    seconds: float = 300.0


# The recipe ``report``: the values of the ESOTERIC report with its own models. Here
# ``document_limit`` is for each question (3.3.8), ``document_cutoff`` is a scaled inner product
# (3.3.9), and a sentence is relevant if its label is "relevant" (3.3.10). The report reads every
# sentence of the documents; the limit only prevents that whole books are read. The values for
# titles are those of its program. No sentence is cut off by similarity: the report names 0.7
# (3.3.11), but its program only sorts, and its result page has passages of 0.38 (appendix E).
REPORT = RetrievalConfig(
    title_limit=10,
    disambiguation_cutoff=0.0,
    disambiguation_limit=20,
    text_limit=1000,
    word_limit=0,
    document_cutoff=0.65,
    document_limit=10,
    sentence_limit=1000,
    relevance_cutoff=0.5,
    semantic_cutoff=-1.0,
)


@dataclass(frozen=True, slots=True)
class LanguageModelConfig:
    """How a language model is combined with the verifier (``retrieval/llm_judge``).

    Attributes:
        reliability: assumed probability that the label of a language model on a server is right;
            its errors are spread equally over the other labels. ``esoteric evaluate --llm`` prints
            the label accuracy of one model, which is this probability.
        independence: assumed. Both judges read the same sentences and make the same errors, so the
            verifier counts for half of what an independent judge would (a power of its
            probabilities). ``esoteric evaluate --llm`` prints how often both give the same label.
    """

    reliability: float = 2 / 3
    independence: float = 0.5


LANGUAGE_MODEL = LanguageModelConfig()
