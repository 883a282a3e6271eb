"""The claim document: what a check returns, defined once.

``Evidence``, ``Document``, ``Verdict`` and ``Judgement`` are those of ``retrieval/types.py``, which
stages pass on, as people and programs get them. JSON, its schema, the OpenAPI document, the
exports, the pages and the text of the command line all come from these models;
``docs/data-model.md`` shows the same descriptions. Stored documents of older versions can be read
too: missing keys have defaults, and unknown keys are ignored. Numbers out of bounds are accepted,
so bounds are only in the schema.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from retrieval import types
from retrieval.types import (
    CorpusInfo,
    CorpusPart,
    FoundBy,
    Hop,
    Label,
    Mutation,
    NotSettled,
    Offsets,
    Question,
    Rounded,
    SentenceKey,
    Share,
    StanceOn,
    Usage,
    Whole,
)
from retrieval.words import (
    ABSENT,
    BY_OCR,
    NOT_SETTLED,
    NOTHING_SETTLES,
    VITAL,
    Level,
    Quoting,
    balance_of,
    certainty_words,
    is_about_age,
    is_about_reading,
    is_about_source,
    level_of,
    percent_of,
    verdict_words,
)

Decider: TypeAlias = Literal["verifier", "model", "both"]

_PASSAGE = re.compile(r"#(\d{1,9})\Z", re.ASCII)


def _reference(title: str, section: str | None, page: int | None) -> str:
    place = [] if page is None else [f"page {page}"]
    return ", ".join([title, *place, *([section] if section else [])])


class Cited(NamedTuple):
    """A sentence, named by its document; ``rank``: its number in the evidence, or ``None``."""

    title: str
    rank: int | None


class SaidOfStatement(NamedTuple):
    """What a sentence says about a statement of the claim; ``number`` counts these from 1.

    ``percent``: how sure that is, ``None`` where it settles nothing.
    """

    number: int
    stance: Label
    percent: int | None


class WholeDocument(NamedTuple):
    """What the passages of a long document have in common."""

    id: str
    title: str


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True, from_attributes=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


class Judgement(_Part):
    """What one judge says about the claim."""

    judge: str
    """Name of the model."""
    label: Label
    """Its verdict."""
    confidence: Share
    """Probability of the label. A language model at a server is not asked for one: it is computed
    from both labels."""
    rationale: str
    """Why, with quotations of the evidence."""
    cites: tuple[Whole, ...]
    """The evidence that it uses, as numbers of `evidence`, from 1."""
    missing: str = ""
    """What a language model would need to know; empty if nothing."""

    @property
    def percent(self) -> int | None:
        """How sure the label is; ``None`` for NOT ENOUGH INFO."""
        return percent_of(self.label, self.confidence)


class Verdict(_Part):
    """What the selected evidence, read together, says about the claim."""

    label: Label
    """The verdict."""
    confidence: Share
    """Calibrated probability of the label; of NOT ENOUGH INFO also where the verdict `leans`, so it
    does not say how sure the lean is. 1 where no evidence is selected."""
    judge: str
    """Name of the model that decided, or names of both where they decided together; "+ quantities"
    after the verifier's name where arithmetic had a part in it."""
    rationale: str
    """Why, with quotations of the evidence."""
    leans: Label | None = None
    """The likelier label of a verdict that is too uncertain to be given: the label is NOT ENOUGH
    INFO then. Otherwise null."""
    disagreement: tuple[Whole, ...] = ()
    """The selected evidence whose stance is the opposite of the label, or of `leans`, as numbers of
    `evidence`, from 1."""
    opinions: tuple[Judgement, ...] = ()
    """What each judge says, first the one that decided, or the language model where both decided
    together. Without a language model there is only the verifier's opinion."""

    @property
    def level(self) -> Level:
        """How sure it is."""
        return level_of(self.label, self.confidence, self.leans)

    @property
    def words(self) -> str:
        """The verdict in words that are as sure as it is."""
        return verdict_words(self.label, self.confidence, self.leans)

    @property
    def percent(self) -> int | None:
        """How sure the label is; ``None`` for NOT ENOUGH INFO."""
        return percent_of(self.label, self.confidence)


class Evidence(_Part):
    """A sentence and what the verifier says about it."""

    document: str
    """Id of the document that contains it."""
    title: str
    """Title of that document."""
    url: str | None
    """Address of that document, null where it has none."""
    sentence_id: Whole
    """Number of the sentence in its document."""
    sentence: str
    """The sentence: `text[start:end]` of its document."""
    start: Whole
    """Where it begins in the document's text, in characters."""
    end: Whole
    """Where it ends there."""
    score: Share
    """Calibrated probability that it settles the claim."""
    stance: Label
    """What it says about the claim by itself."""
    stance_confidence: Share
    """Probability of the stance."""
    stance_together: Label | None = None
    """What it says together with `path`, null where there is no path."""
    hop: Whole
    """The hop that found it, from 1."""
    selected: bool
    """Whether the verdict is based on it."""
    path: tuple[SentenceKey, ...] = ()
    """The sentences that it was read together with, each as document and sentence id."""
    section: str | None = None
    """Headings above it in a long document, the outermost first; "read by OCR" on a page that is a
    picture; null where there are none."""
    page: int | None = None
    """Its page in a long document, from 1; null where there are no pages."""
    context_before: str | None = None
    """Text of its document before it that it was read with, null where none was needed."""
    context_after: str | None = None
    """The same of the text after it."""
    copies: Whole = 1
    """How many of the documents that were read contain the same sentence, 1 or more; it is listed
    once."""
    date: str | None = None
    """Day of the text that it is quoted from, ISO 8601, such as the day of a mail, of minutes or of
    a wiki's revision; null where the text has no day of its own."""
    computed: tuple[str, ...] = ()
    """What arithmetic adds to it for the claim, each in brackets after the words that it follows
    from; the verifier reads it too. Empty where the sentence is not selected."""

    @property
    def reference(self) -> str:
        """The title of its document, with page and section."""
        return _reference(self.title, self.section, self.page)

    @property
    def by_ocr(self) -> bool:
        """Whether it was read from a picture."""
        return self.section == BY_OCR

    @property
    def reference_without_ocr(self) -> str:
        """The reference for a reader who is told in another way that OCR read it."""
        return _reference(self.title, None if self.by_ocr else self.section, self.page)

    @property
    def shown_stance(self) -> Label:
        """Its stance; that of the pair if it settles nothing by itself but does so with others."""
        return self.stance_together if self.of_the_pair and self.stance_together else self.stance

    @property
    def of_the_pair(self) -> bool:
        """Whether it settles nothing by itself, but does so with the sentences of ``path``."""
        undecided = types.NOT_ENOUGH_INFO
        return self.stance == undecided != (self.stance_together or undecided)

    @property
    def percent(self) -> int | None:
        """How sure the stance is; ``None`` where it settles nothing."""
        return percent_of(self.stance, self.stance_confidence)


class Document(_Part):
    """A document that was read."""

    id: str
    """Its id in the corpus."""
    title: str
    """Its title."""
    url: str | None
    """Its address, null where it has none."""
    score: Rounded
    """How similar it is to the claim, -1 to 1; not comparable between different values of
    `found_by`."""
    found_by: tuple[Annotated[str, Field(json_schema_extra={"enum": list(get_args(FoundBy))})], ...]
    """How it was found: `title`, `disambiguation`, `text`, `words`, `link`, `mention`,
    `generation` or `dense`, or several of them."""
    hop: Whole
    """The hop that found it, from 1."""
    led_by: SentenceKey | None = None
    """The sentence of an earlier hop that led to it, as document and sentence id."""
    text: str
    """Its whole text; of a long document, that of the passage."""
    section: str | None = None
    """Headings above the passage of a long document, the outermost first."""
    page: int | None = None
    """Page of the passage of a long document, from 1."""
    source: str = ""
    """What it is credited to: a file of a folder with its page and its own day, or that on which it
    was last modified, a wiki with the day of the revision, or else the site of its address, or else
    the corpus. Empty in older results."""
    date: str | None = None
    """Day of the text, ISO 8601; null where it has none of its own."""

    @property
    def reference(self) -> str:
        """Its title, with page and section."""
        return _reference(self.title, self.section, self.page)

    @property
    def site(self) -> str:
        """The host of its address, "" if it has none."""
        return _site_of(self.url)

    @property
    def credit(self) -> str:
        """What it is credited to; in older results that is known only where it has an address."""
        return self.source or self.site

    @property
    def whole(self) -> WholeDocument:
        """The long document that this passage belongs to; of any other document, itself.

        A document that is no passage may have an id that ends like that of a passage ("Album #1").
        Such documents differ in their titles.
        """
        return WholeDocument(_PASSAGE.sub("", self.id), self.title)


class Statement(_Part):
    """A statement of a claim that makes several."""

    text: str
    """The statement as it was checked."""
    span: Offsets
    """Where the part that makes it begins and ends in the claim, in characters."""
    verdict: Verdict
    """The verdict on it; `cites` are numbers of the claim's `evidence`."""
    evidence: tuple[StanceOn, ...] = ()
    """What the sentences that were selected for it say about it, best first. Empty in older
    results."""


class ClaimResult(_Part):
    """The claim document. Offsets count characters."""

    claim: str
    """The claim as it was checked."""
    claim_as_written: str | None = None
    """The claim as it was written, null where that is the same."""
    recipe: str
    """Name of the recipe that checked it."""
    notices: tuple[str, ...] = ()
    """What may make the answer worse, as sentences for the user."""
    corpus: CorpusInfo
    """The corpus that the claim was checked against."""
    verdict: Verdict
    """What the evidence says about the claim."""
    evidence: tuple[Evidence, ...]
    """Sentences with their stance, best first."""
    documents: tuple[Document, ...]
    """Documents that were opened: those of the selected sentences first, then those that these led
    to, then those of other sentences, then the rest in the order of the hops. In `admiral`, those
    of the best sets of documents come before them."""
    questions: tuple[Question, ...] = ()
    """Questions that were made from the claim."""
    proof: tuple[Mutation, ...] = ()
    """One step for each part of the claim, in its order; empty in recipes that make no proof."""
    proof_label: Label | None = None
    """The label that the steps result in, null where there is no proof."""
    hops: tuple[Hop, ...]
    """The hops, in order."""
    seconds: dict[str, Rounded]
    """Time by stage and in `total`; `explain` where a language model was asked."""
    usage: Usage | None = None
    """Calls and tokens of a language model, null where none was asked."""
    statements: tuple[Statement, ...] = ()
    """The statements of a claim that makes several, each checked alone; empty for one statement."""
    not_settled: NotSettled | None = None
    """Why the verdict is NOT ENOUGH INFO; null where it is another one, and in older results."""
    recipe_digest: str = ""
    """Digest of the stages and settings of the recipe: two checks with the same one did the
    same. Empty in older results."""
    version: str = ""
    """Version of ESOTERIC that checked the claim. Empty in older results."""
    did_you_mean: str | None = None
    """The claim with other words where it may be misspelt: a word of it is in no text of the
    corpus, and one letter away from one that many have, or that makes a title; or the claim is not
    settled, and a name in it is one letter away from a title; else null."""

    @cached_property
    def credits(self) -> dict[str, str]:
        """What each document is credited to, by its id."""
        return {document.id: document.credit for document in self.documents}

    @cached_property
    def ranked(self) -> dict[SentenceKey, tuple[int, Evidence]]:
        """The evidence with its numbers, from 1, by the keys of the sentences."""
        return {
            SentenceKey(item.document, item.sentence_id): (rank, item)
            for rank, item in enumerate(self.evidence, 1)
        }

    @cached_property
    def _references(self) -> dict[str, str]:
        return {document.id: document.reference for document in self.documents}

    def cited(self, key: SentenceKey) -> Cited:
        """Return title and rank of a sentence; a document that was not read has its id as title."""
        title = self._references.get(key.document_id, key.document_id)
        rank, _ = self.ranked.get(key, (None, None))
        return Cited(title, rank)

    def words_at(self, span: Offsets) -> str:
        """Return words of the claim; offsets before it count as 0."""
        start, end = span
        return self.claim[max(0, start) : max(0, end)]

    @property
    def selected(self) -> tuple[Evidence, ...]:
        """The selected evidence."""
        return tuple(item for item in self.evidence if item.selected)

    @property
    def corpus_title(self) -> str:
        """What people call the corpus, or the corpora."""
        return " and ".join(one.title for one in self.corpora)

    @property
    def corpora(self) -> tuple[CorpusPart, ...]:
        """The corpora that the claim was checked against: the default one, or those named."""
        corpus = self.corpus
        if corpus.parts:
            return corpus.parts
        # A folder may be called ``vital`` too.
        credited = any(document.credit == "en.wikipedia.org" for document in self.documents)
        default = CorpusPart(
            name=corpus.name,
            title=VITAL if corpus.name == "vital" and credited else corpus.name,
            documents=corpus.documents,
            built_at=corpus.built_at,
            text_date=corpus.text_date,
        )
        return (default,)

    @property
    def missing(self) -> tuple[str, ...]:
        """The words of an undecided claim that no search for it found settled, each once."""
        if self.verdict.label != types.NOT_ENOUGH_INFO:
            return ()
        if self.not_settled is not None:
            return tuple(dict.fromkeys(map(self.words_at, self.not_settled.open)))
        ends = [hop for hop in self.hops if hop.stopped or hop is self.hops[-1]]
        spans = [span for hop in ends if not hop.sufficient for span in hop.missing]
        return tuple(dict.fromkeys(words for span in spans if (words := self.words_at(span))))

    @property
    def absent(self) -> tuple[str, ...]:
        """The names in an undecided claim that no text contains, each once."""
        absent = self.not_settled.absent if self.not_settled else ()
        return tuple(dict.fromkeys(map(self.words_at, absent)))

    @property
    def why_not_settled(self) -> tuple[Quoting, ...]:
        """The sentences that say why the claim is undecided, none for one that is decided."""
        if self.verdict.label != types.NOT_ENOUGH_INFO:
            return ()
        said = Quoting(NOT_SETTLED, (), "")
        if names := self.absent:
            return Quoting("", names, f" {'occur' if names[1:] else 'occurs'} {ABSENT}."), said
        return (said, Quoting(NOTHING_SETTLES, self.missing)) if self.missing else (said,)

    @property
    def about(self) -> tuple[str, ...]:
        """Ids of the documents that a claim is about; only where it is not settled."""
        if self.verdict.level != "unsettled" or self.not_settled is None:
            return ()
        return self.not_settled.about

    @property
    def closest(self) -> tuple[Evidence, ...]:
        """The selected sentences; if the claim is not settled, after those of the documents that it
        is about."""
        own = [item for item in self.evidence if item.document in self.about]
        return (*own, *(item for item in self.selected if item.document not in self.about))

    @property
    def silent(self) -> tuple[Document, ...]:
        """The documents that a claim which is not settled is about, without a sentence like it."""
        useful = {item.document for item in self.evidence}
        return tuple(one for one in self.documents if one.id in self.about and one.id not in useful)

    @property
    def notices_on_reading(self) -> tuple[str, ...]:
        """The notices that say how much of the sentences was read."""
        return tuple(filter(is_about_reading, self.notices))

    @property
    def notices_on_claim(self) -> tuple[str, ...]:
        """All other notices."""
        return tuple(notice for notice in self.notices if not is_about_reading(notice))

    @property
    def notices_on_sources(self) -> tuple[str, ...]:
        """Those of the other notices that say which source did not answer."""
        return tuple(filter(is_about_source, self.notices))

    @property
    def notices_on_verdict(self) -> tuple[str, ...]:
        """Those of the other notices that stand beside the verdict: on old texts, on sources."""
        return (*filter(is_about_age, self.notices), *self.notices_on_sources)

    def said_of_statements(self, rank: int) -> tuple[SaidOfStatement, ...]:
        """Return what a piece of evidence says about the statements that it was selected for.

        ``rank``: its number.
        """
        return tuple(
            SaidOfStatement(number, one.stance, percent_of(one.stance, one.stance_confidence))
            for number, statement in enumerate(self.statements, 1)
            for one in statement.evidence
            if one.evidence == rank
        )

    @property
    def balance(self) -> dict[Label, int]:
        """How many selected sentences have each stance, those with the verdict's first."""
        verdict = self.verdict
        shown = (item.shown_stance for item in self.selected)
        return balance_of(verdict.leans or verdict.label, shown)

    @property
    def divided(self) -> bool:
        """Whether selected sentences support the claim and others refute it."""
        return {types.SUPPORTS, types.REFUTES} <= self.balance.keys()

    @property
    def decider(self) -> Decider:
        """Which judge gave the verdict."""
        judge, opinions = self.verdict.judge, self.verdict.opinions
        if len(opinions) < 2:
            return "verifier"
        if self.by_model(judge):
            return "model"
        return "verifier" if judge == opinions[0].judge else "both"

    @property
    def judges(self) -> tuple[Judgement, ...]:
        """The opinions of both judges; none where only the verifier was asked."""
        opinions = self.verdict.opinions
        return opinions if len(opinions) > 1 else ()

    @property
    def agree(self) -> bool:
        """Whether all judges have the same label."""
        return len({opinion.label for opinion in self.verdict.opinions}) < 2

    @property
    def calibrated(self) -> bool:
        """Whether the confidence was fitted to verdicts such as this one.

        That of a language model and of several statements together was not.
        """
        fitted = self._is_fitted(self.verdict.judge)
        return fitted and self.decider == "verifier" and not self.statements

    @property
    def certainty(self) -> str:
        """How sure the verdict is, "" where it is not decided.

        It is empty for a language model too, which is not asked for a probability.
        """
        return self._certainty(short=False)

    @property
    def certainty_in_short(self) -> str:
        """The same in fewer words, for one of many."""
        return self._certainty(short=True)

    def _certainty(self, *, short: bool) -> str:
        percent = self.verdict.percent
        if percent is None or self.decider == "model":
            return ""
        return certainty_words(percent, calibrated=self.calibrated, short=short)

    def certainty_of(self, said: Verdict | Judgement) -> str:
        """How sure the verdict on a statement or an opinion is, "" as for the whole claim."""
        if said.percent is None or self.by_model(said.judge):
            return ""
        return certainty_words(said.percent, calibrated=self._is_fitted(said.judge), short=True)

    def _is_fitted(self, judge: str) -> bool:
        """Return whether the confidences of this judge are fitted, and no language model's."""
        model = self.usage is not None and self.usage.model in judge
        return not model and any(word in judge for word in ("MPNet verifier", ", calibrated"))

    @property
    def proof_agrees(self) -> bool:
        """Whether there is a proof and it has the label of the verdict."""
        return bool(self.proof) and self.proof_label == self.verdict.label

    def by_model(self, judge: str) -> bool:
        """Return whether this judge is the language model."""
        return self.usage is not None and self.usage.model == judge

    def document(self) -> dict[str, Any]:
        """Return the claim document as JSON values; keys that an older one lacks stay left out."""
        return self.model_dump(mode="json", exclude_unset=True)


@cache
def esoteric_version() -> str:
    """Return the version of the installed package, "" where the code runs from a folder alone."""
    try:
        return version("esoteric")
    except PackageNotFoundError:
        return ""


def claim_result(report: types.Report) -> ClaimResult:
    """Return the claim document of a report."""
    proof = report.proof
    return ClaimResult(
        claim=report.claim,
        claim_as_written=report.original,
        recipe=report.recipe,
        notices=report.notices,
        corpus=report.corpus,
        verdict=Verdict.model_validate(report.verdict),
        evidence=tuple(_evidence(item) for item in report.evidence),
        documents=tuple(_document(ranked, report.corpus) for ranked in report.documents),
        questions=report.questions,
        proof=proof.mutations if proof else (),
        proof_label=proof.label if proof else None,
        hops=report.hops,
        seconds=report.seconds,
        usage=report.usage,
        statements=tuple(
            Statement(
                text=one.text,
                span=(one.start, one.end),
                verdict=Verdict.model_validate(one.verdict),
                evidence=one.evidence,
            )
            for one in report.statements
        ),
        not_settled=report.not_settled,
        recipe_digest=report.recipe_digest,
        version=esoteric_version(),
        did_you_mean=report.suggestion,
    )


def _evidence(item: types.Evidence) -> Evidence:
    return Evidence(
        document=item.sentence.document_id,
        title=item.title,
        url=item.url,
        sentence_id=item.sentence.sentence_id,
        sentence=item.sentence.text,
        start=item.sentence.start,
        end=item.sentence.end,
        score=item.score,
        stance=item.stance,
        stance_confidence=item.stance_confidence,
        stance_together=item.decides if item.path else None,
        hop=item.hop,
        selected=item.selected,
        path=item.path,
        section=item.section,
        page=item.page,
        context_before=item.context_before,
        context_after=item.context_after,
        copies=item.copies,
        date=item.date,
        computed=item.computed,
    )


def _document(ranked: types.RankedDocument, corpus: types.CorpusInfo) -> Document:
    document = ranked.document
    return Document(
        id=document.id,
        title=document.title,
        url=document.url,
        score=ranked.score,
        found_by=ranked.found_by,
        hop=ranked.hop,
        led_by=ranked.led_by,
        text=document.text,
        section=document.section,
        page=document.page,
        source=document.source or _site_of(document.url) or corpus.name,
        date=document.date,
    )


def _site_of(url: str | None) -> str:
    """Return the host of an address, "" if it has none."""
    try:
        return urlsplit(url or "").hostname or ""
    except ValueError:
        return ""
