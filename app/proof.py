"""The proof in a claim document: the claim cut at its parts, and what is said of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from app.contexts import Excerpt, LegendEntry, Look, Part, ProofItem, Saying
from app.highlighting import Highlight, segments
from app.sentences import CitedSentences, words_at
from app.wording import LEGEND, OPERATORS, VERDICTS
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label

_OUTCOMES = {
    SUPPORTS: "the claim is supported",
    REFUTES: "the claim is refuted",
    NOT_ENOUGH_INFO: "the evidence is not sufficient",
}
_OUTCOMES_OF_PARTS = {
    SUPPORTS: "by its parts alone the claim would be supported",
    REFUTES: "by its parts alone the claim would be refuted",
    NOT_ENOUGH_INFO: "by its parts alone the claim would stay open",
}


def proof_item(result: dict[str, Any]) -> ProofItem | None:
    """Return the proof, or ``None`` where the recipe makes none."""
    claim = result["claim"]
    # A span that lies beyond the claim has no words to show.
    mutations = [m for m in result["proof"] if words_at(claim, *m["claim_span"])]
    if not mutations:
        return None
    spans: list[tuple[int, int]] = [tuple(m["claim_span"]) for m in mutations]
    looks = [OPERATORS[m["operator"]].look for m in mutations]
    label, verdict = result["proof_label"], result["verdict"]["label"]
    sentences = CitedSentences(result)
    counts = Counter(looks)
    return ProofItem(
        summary=_summary(claim, spans, looks, label, verdict),
        differs=""
        if label == verdict
        else f"The verdict, “{VERDICTS[verdict].word}”, differs: it follows what the sentences say"
        " when they are read together.",
        drawn=segments(
            claim,
            [
                Highlight(number, start, end, look)
                for number, ((start, end), look) in enumerate(zip(spans, looks, strict=True), 1)
            ],
        ),
        legend=tuple(
            LegendEntry(look, meaning, counts[look])
            for look, meaning in LEGEND.items()
            if counts[look]
        ),
        parts=tuple(_part(number, claim, m, sentences) for number, m in enumerate(mutations, 1)),
    )


def _part(number: int, claim: str, mutation: dict[str, Any], sentences: CitedSentences) -> Part:
    badge = OPERATORS[mutation["operator"]]
    evidence = mutation["evidence"]
    return Part(
        number=number,
        words=words_at(claim, *mutation["claim_span"]),
        badge=badge,
        excerpt=None if evidence is None else _excerpt(evidence, badge.look, sentences),
    )


def _excerpt(evidence: tuple[str, int, int, int], look: Look, sentences: CitedSentences) -> Excerpt:
    document, sentence_id, start, end = evidence
    source = sentences.cited(document, sentence_id)
    sentence = sentences.sentence(document, sentence_id)
    if sentence is None:
        words = sentences.words(document, start, end)
        return Excerpt(source, segments(words, [Highlight(1, 0, len(words), look)]))
    aligned = Highlight(1, start - sentence.start, end - sentence.start, look)
    return Excerpt(source, segments(sentence.text, [aligned]))


def _summary(
    claim: str,
    spans: Sequence[tuple[int, int]],
    looks: Sequence[Look],
    label: Label,
    verdict: Label,
) -> Saying:
    """Return the sentence from which the decision can be told beforehand."""
    if "unsettled" in looks:
        expected: Label = NOT_ENOUGH_INFO
        before, quoted = "Nothing was found about", _joined(claim, spans, looks, "unsettled")
        if set(looks) == {"unsettled"}:
            before, quoted = "Nothing was found about any part of the claim", ()
    elif "refuted" in looks:
        expected = REFUTES
        before = "Every part of the claim is covered by the evidence, which contradicts"
        quoted = _joined(claim, spans, looks, "refuted")
    else:
        expected = SUPPORTS
        before = "Every part of the claim is covered by the evidence, which says the same"
        quoted = ()
    outcome = (_OUTCOMES if label == verdict else _OUTCOMES_OF_PARTS)[label]
    # Two contradictions can cancel each other out.
    link = ", so" if label == expected else "; taken together,"
    return Saying(before, quoted, f"{link} {outcome}.")


def _joined(
    claim: str, spans: Sequence[tuple[int, int]], looks: Sequence[Look], look: Look
) -> tuple[str, ...]:
    """Return the words of the parts with this look; neighbours are quoted as one."""
    runs: list[tuple[int, int]] = []
    for (start, end), found in zip(spans, looks, strict=True):
        if found != look:
            continue
        if runs and not words_at(claim, runs[-1][1], start).strip():
            runs[-1] = (runs[-1][0], max(runs[-1][1], end))
        else:
            runs.append((start, end))
    return tuple(words_at(claim, start, end) for start, end in runs)
