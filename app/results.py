"""Turns a claim document into the values of the result page."""

from __future__ import annotations

from collections.abc import Mapping

from app.contexts import Corpus, EvidenceItem, ResultPage, Saying, Timing
from app.credits import credit_item
from app.documents import document_items
from app.hops import hop_items
from app.links import is_wikipedia, safe_url
from app.opinions import opinions
from app.proof import proof_item
from app.sentences import CitedSentences
from app.statements import statement_items
from app.wording import (
    STAGES,
    STANCES,
    confidence_in,
    day,
    moment,
    seconds,
    verdict_badge,
)
from retrieval.result import ClaimResult, Evidence
from retrieval.types import NOT_ENOUGH_INFO
from retrieval.wording import NOTHING_SETTLES, OCR_NOTE, balance_words
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
        certainty=result.certainty,
        calibrated=result.calibrated,
        missing=_missing(result),
        rationale="" if _only_quotes(result) else verdict.rationale,
        balance=balance_words(result.balance),
        scale=tuple(
            STANCES[stance].look for stance, number in result.balance.items() for _ in range(number)
        ),
        against=evidence[verdict.disagreement[0] - 1] if verdict.disagreement else None,
        statements=statement_items(result),
        judge=verdict.judge,
        recipe=result.recipe,
        finished=moment(finished),
        permalink=permalink,
        notices=result.notices,
        opinions=opinions(result),
        proof=proof_item(result),
        proof_differs=result.proof_differs,
        ocr_note=OCR_NOTE if any(item.by_ocr for item in result.evidence) else "",
        selected_evidence=tuple(item for item in evidence if item.selected),
        other_evidence=tuple(item for item in evidence if not item.selected),
        documents=tuple(item for item in documents if item.sentences),
        silent=tuple(item for item in documents if not item.sentences),
        questions=tuple(question.text for question in result.questions),
        hops=hop_items(result),
        corpus=Corpus(
            title=result.corpus_title,
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


def _missing(result: ClaimResult) -> Saying | None:
    """Return what is missing, where that is why the claim is not decided."""
    if result.verdict.label != NOT_ENOUGH_INFO or not result.missing:
        return None
    return Saying(NOTHING_SETTLES, result.missing, ".")


def _only_quotes(result: ClaimResult) -> bool:
    """Return whether the rationale only quotes a sentence that settles nothing."""
    verdict = result.verdict
    undecided = verdict.label == NOT_ENOUGH_INFO and verdict.leans is None
    return undecided and result.decider == "verifier" and bool(result.selected)


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
