"""Turns a claim document into the values of the result page."""

from __future__ import annotations

from collections.abc import Mapping

from app.contexts import Corpus, EvidenceItem, ResultPage, Timing
from app.credits import credit_item
from app.documents import document_items
from app.hops import hop_items
from app.links import is_wikipedia, safe_url
from app.opinions import opinions
from app.proof import proof_item
from app.sentences import CitedSentences
from app.statements import statement_items
from app.wording import STAGES, STANCES, confidence_in, day, moment, seconds, verdict_badge
from retrieval.result import Evidence
from retrieval.wording import OCR_NOTE, PROOF_DIFFERS, against_words
from worker.jobs import Job


def result_page(
    job: Job, permalink: str, most_characters: int, files: Mapping[str, str]
) -> ResultPage:
    """Return the page of a job that is done.

    ``files``: addresses for documents that have none, by their ids.
    """
    result = job.result
    finished = job.finished_at
    # A job that is done has both.
    assert result is not None
    assert finished is not None
    verdict = result.verdict
    sentences = CitedSentences(result)
    sources = {document.id: document.credit for document in result.documents}
    evidence = [
        _evidence(rank, item, sentences, files, sources.get(item.document, ""))
        for rank, item in enumerate(result.evidence, 1)
    ]
    documents = document_items(result, files)
    return ResultPage(
        id=job.id,
        claim=result.claim,
        as_written=result.claim_as_written or "",
        badge=verdict_badge(verdict.label, verdict.confidence, verdict.leans),
        confidence=confidence_in(verdict.label, verdict.confidence),
        rationale=verdict.rationale,
        against=against_words(len(verdict.disagreement)) if verdict.disagreement else "",
        disagreement=verdict.disagreement,
        statements=statement_items(result),
        judge=verdict.judge,
        recipe=result.recipe,
        finished=moment(finished),
        permalink=permalink,
        notices=result.notices,
        opinions=opinions(result),
        proof=proof_item(result),
        proof_differs=PROOF_DIFFERS if result.proof and not result.proof_agrees else "",
        ocr_note=OCR_NOTE if any(item.by_ocr for item in result.evidence) else "",
        lowered=result.lowered_by_proof,
        selected_evidence=tuple(item for item in evidence if item.selected),
        other_evidence=tuple(item for item in evidence if not item.selected),
        documents=tuple(item for item in documents if item.sentences),
        silent=tuple(item for item in documents if not item.sentences),
        questions=tuple(question.text for question in result.questions),
        hops=hop_items(result),
        corpus=Corpus(
            name=result.corpus.name,
            documents=result.corpus.documents,
            built=day(result.corpus.built_at),
            text_date=day(result.corpus.text_date) if result.corpus.text_date else None,
            attribution=any(map(is_wikipedia, sources.values())),
        ),
        total=seconds(result.seconds["total"]),
        timings=tuple(
            Timing(STAGES.get(stage, stage), seconds(value))
            for stage, value in result.seconds.items()
            if stage != "total"
        ),
        most_characters=most_characters,
    )


def _evidence(
    rank: int, item: Evidence, sentences: CitedSentences, files: Mapping[str, str], credit: str
) -> EvidenceItem:
    return EvidenceItem(
        rank=rank,
        title=(item.model_copy(update={"section": None}) if item.by_ocr else item).reference,
        url=safe_url(item.url) or files.get(item.document),
        credit=credit_item(credit),
        by_ocr=item.by_ocr,
        before=item.context_before,
        sentence=item.sentence,
        after=item.context_after,
        badge=STANCES[item.stance],
        confidence=confidence_in(item.stance, item.stance_confidence),
        hop=item.hop,
        selected=item.selected,
        read_with=tuple(sentences.cited(*key) for key in item.path),
        copies=item.copies,
    )
