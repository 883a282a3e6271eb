"""What the tools of ``esoteric mcp`` answer: values for programs, and the same in lines of text.

The SDK makes schemas from the annotations, so these are values here, not strings.
"""

from collections.abc import Iterable, Sequence

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict

from retrieval.index.interface import IndexInfo
from retrieval.result import ClaimResult, Evidence
from retrieval.sources.address import SourceAddress
from retrieval.types import (
    DEFAULT_CORPUS,
    CorpusInfo,
    CorpusKind,
    Document,
    Label,
    SentenceMatch,
)
from retrieval.words import VITAL, Level, balance_words, counted
from worker.corpora.corpus_store import StoredCorpus

MOST_EVIDENCE = 10
_SENTENCES_IN_TEXT = 5


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True, use_attribute_docstrings=True)


class _Sourced(_Model):
    """A sentence and its source."""

    sentence: str
    """The sentence, verbatim."""
    document: str
    """Id of its document."""
    title: str
    """Title of its document."""
    url: str | None
    """Address of its document, null where it has none."""
    section: str | None
    """Headings above it in a long document."""
    page: int | None
    """Its page in a long document, from 1."""


class CheckedEvidence(_Sourced):
    """A sentence that was compared with the claim, and its source."""

    stance: Label
    """What it says about the claim."""
    stance_confidence: float
    """Probability of the stance."""
    selected: bool
    """Whether the verdict rests on it."""


class CheckedClaim(_Model):
    """A claim, the verdict on it, and the evidence."""

    id: str | None
    """Its id for `get_result`; null if no service has checked it."""
    claim: str
    """The claim as it was checked."""
    recipe: str
    """The recipe that checked it."""
    verdict: Label
    """The verdict."""
    level: Level
    """How sure the verdict is."""
    leans: Label | None
    """The likelier verdict where the level is `leans`, else null."""
    confidence: float
    """Calibrated probability of the verdict."""
    rationale: str
    """Why, with quotations of the evidence."""
    notices: tuple[str, ...]
    """What may make the answer worse."""
    corpus: CorpusInfo
    """What was searched."""
    evidence: tuple[CheckedEvidence, ...]
    """At most 10 sentences: those that the verdict rests on first, then the next best ones."""


class FoundSentence(_Sourced):
    """A sentence of the corpus that is near to the query, and its source."""

    similarity: float
    """How similar it is to the query, -1 to 1."""


class FoundSentences(_Model):
    """Sentences of the corpus, the nearest first."""

    sentences: tuple[FoundSentence, ...]


class KnownCorpus(_Model):
    """A corpus that claims can be checked against."""

    name: str
    """Its name, for `check_claim` and `search_evidence`."""
    title: str
    """What people call it."""
    documents: int
    """How many documents it has; 0 where that is not known."""
    text_date: str | None
    """Day of its newest text, null where that is not known."""
    default: bool
    """Whether it is searched where no corpus is named."""
    searchable: bool
    """Whether it can be searched now; one that was just uploaded is indexed first."""
    kind: CorpusKind
    """How it is searched: in an `index`, or where it is: `mediawiki`, a wiki that is asked over the
    network, or `zim-search`, a file. A wiki's name may have a day: `wikipedia@2024-05-01` reads it
    as it was before that day."""
    sent: str
    """What is sent to whom when it is searched, empty if nothing leaves the service."""


class KnownCorpora(_Model):
    """The corpora, the default one first."""

    corpora: tuple[KnownCorpus, ...]


def checked_claim(job_id: str | None, result: ClaimResult) -> CallToolResult:
    """Return the verdict on a claim with its evidence; ``job_id``: ``None`` if nothing keeps it."""
    verdict = result.verdict
    rest = (item for item in result.evidence if not item.selected)
    found = CheckedClaim(
        id=job_id,
        claim=result.claim,
        recipe=result.recipe,
        verdict=verdict.label,
        level=verdict.level,
        leans=verdict.leans,
        confidence=verdict.confidence,
        rationale=verdict.rationale,
        notices=result.notices,
        corpus=result.corpus,
        evidence=tuple(
            CheckedEvidence.model_validate(item)
            for item in (*result.selected, *rest)[:MOST_EVIDENCE]
        ),
    )
    return _answer(found, _verdict_lines(result))


def _verdict_lines(result: ClaimResult) -> list[str]:
    selected, corpus = result.selected, result.corpus
    sure = f" ({result.certainty})" if result.certainty else ""
    balance = [balance_words(result.balance)] if selected else []
    dated = (
        f"text of {corpus.text_date}" if corpus.text_date else "the date of this text is not known"
    )
    searched = f"{result.corpus_title}, {corpus.documents} documents, {dated}"
    return [
        f"{result.verdict.words}{sure}: {result.claim}",
        *(said.text for said in result.why_not_settled),
        *balance,
        *(_evidence_line(item) for item in selected[:_SENTENCES_IN_TEXT]),
        f"Searched: {searched}; recipe {result.recipe}.",
    ]


def _evidence_line(item: Evidence) -> str:
    return f"- [{item.stance}] {item.sentence} ({_source(item.reference, item.url)})"


def found_sentences(matches: list[tuple[SentenceMatch, Document]]) -> CallToolResult:
    """Return the sentences that are near to a query."""
    found = FoundSentences(
        sentences=tuple(
            FoundSentence(
                sentence=_sentence(match, document),
                similarity=round(match.similarity, 4),
                document=document.id,
                title=document.title,
                url=document.url,
                section=document.section,
                page=document.page,
            )
            for match, document in matches
        )
    )
    lines = [f"- {one.sentence} ({_source(one.title, one.url)})" for one in found.sentences]
    return _answer(found, lines or ["No sentence was found: the index has no vectors."])


def known_corpora(
    default: IndexInfo, own: Sequence[StoredCorpus], sources: Iterable[SourceAddress]
) -> CallToolResult:
    """Return the corpora that can be searched.

    ``own``: those beside the default one; ``sources``: those that are searched where they are.
    """
    title = VITAL if default.source == "vital" else default.name
    of_own = (
        (one.name, one.title, one.documents, one.text_date, False, one.searchable) for one in own
    )
    first = (DEFAULT_CORPUS, title, default.documents, default.date, True, True)
    indexed = (
        KnownCorpus(
            name=name,
            title=title,
            documents=documents,
            text_date=date or None,
            default=is_default,
            searchable=searchable,
            kind="index",
            sent="",
        )
        for name, title, documents, date, is_default, searchable in (first, *of_own)
    )
    elsewhere = (
        KnownCorpus(
            name=one.name,
            title=one.title,
            documents=0,
            text_date=None,
            default=False,
            searchable=True,
            kind=one.kind,
            sent=one.sent,
        )
        for one in sources
    )
    found = KnownCorpora(corpora=(*indexed, *elsewhere))
    return _answer(found, [f"- {one.name}: {one.title}, {_held(one)}" for one in found.corpora])


def _held(corpus: KnownCorpus) -> str:
    if corpus.kind != "index":
        return f"whole articles, searched where they are. {corpus.sent}".rstrip()
    indexed = "" if corpus.searchable else ", not indexed yet"
    return counted(corpus.documents, "document") + indexed


def _sentence(match: SentenceMatch, document: Document) -> str:
    number = match.key.sentence_id
    return next(one.text for one in document.sentences if one.sentence_id == number)


def _source(reference: str, url: str | None) -> str:
    return f"{reference}, {url}" if url else reference


def _answer(found: BaseModel, lines: list[str]) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text="\n".join(lines))],
        structured_content=found.model_dump(mode="json"),
    )
