"""The whole way of a claim, in order. Start reading here.

    claim ─ spans ─┬─ titles ─────────────────┐
                   ├─ texts ───────┐          │
                   ├─ questions ─ ranking ────┤
                   └─ dense ──────────────────┴─ sentences ─ relevance ─ paths ─ semantic
                                                   ▲                                 │
                     next: mentions, generation,   │                           verification
                     dense ────────────────────────┘                                 │
                       ▲                                                             │
                       └─────────── not sufficient ──── verdict ◄──── proof ◄────────┘
                                                           │
                                     explain, where there is a language model

A recipe (``recipes``) says which of these a claim meets. ``sentences`` opens the
documents and chooses what is read of them (``preranking``).

Each stage is a Haystack component in a folder of its own and can be taken into
a Haystack pipeline; ``docs/decisions/0002-one-function.md`` tells why they are
called one after the other here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from spacy.tokens import Doc

from retrieval.claim import read_claim
from retrieval.config import RetrievalConfig
from retrieval.explanation.explainer import Explainer
from retrieval.hops.merging import interleaved
from retrieval.hops.missing_spans import missing_spans, share_a_word
from retrieval.index.store import DocumentStore
from retrieval.paths.surest_paths import surest_paths
from retrieval.recipes import Recipe
from retrieval.stages import Stages
from retrieval.sufficiency.agreement import agreed
from retrieval.types import (
    NOT_ENOUGH_INFO,
    Candidate,
    CorpusInfo,
    Evidence,
    Hop,
    Judgement,
    Opinion,
    Progress,
    ProgressListener,
    Proof,
    Question,
    RankedDocument,
    Reading,
    Report,
    SentenceKey,
    Span,
    Stopped,
    Usage,
    Verdict,
)

_LONG = (
    "The selected sentences are longer than the models read at once, so the last of them may have"
    " had no part in the verdict."
)

_SLOW = (
    "The search was ended early because it took very long on this machine; a faster machine, or"
    " fewer claims at once, may find more."
)

_NO_VECTORS = (
    "The index has no vectors yet, so nothing was searched by its meaning, only by titles and"
    " words; esoteric index encode makes them."
)


@dataclass
class _Found:
    """What a claim's hops have brought together so far.

    ``read``: every sentence, read alone. ``relevant``: those that bear on the
    claim. ``paths``: sentences read behind others. ``evidence``: what the verifier
    read, best first. ``readings``: what it said of them.
    """

    documents: list[RankedDocument] = field(default_factory=list)
    read: list[Evidence] = field(default_factory=list)
    relevant: list[Evidence] = field(default_factory=list)
    paths: list[Evidence] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    readings: dict[Reading, Opinion] = field(default_factory=dict)

    @property
    def selected(self) -> list[Evidence]:
        return [item for item in self.evidence if item.selected]

    @property
    def seen(self) -> set[str]:
        return {ranked.document.id for ranked in self.documents}

    def best(self, count: int) -> tuple[SentenceKey, ...]:
        return tuple(item.key for item in self.evidence[:count])

    def best_documents(self) -> list[RankedDocument]:
        """Those of the best sentences first, then the others as the hops brought them."""
        rank: dict[str, int] = {}
        for item in self.evidence:
            rank.setdefault(item.sentence.document_id, len(rank))
        return sorted(self.documents, key=lambda ranked: rank.get(ranked.document.id, len(rank)))


class Pipeline:
    """Checks claims, one at a time; keeps nothing of a claim when it is done."""

    def __init__(
        self,
        stages: Stages,
        store: DocumentStore,
        config: RetrievalConfig,
        explainer: Explainer | None = None,
    ) -> None:
        """Wire the stages; call ``warm_up`` before the first claim.

        ``explainer``: asks a language model after the last hop.
        """
        self._stages = stages
        self._store = store
        self._config = config
        self._explainer = explainer

    def warm_up(self, way: Recipe) -> None:
        """Load every model of a recipe, so that its first claim is as fast as the next."""
        self._stages.warm_up(way)
        if self._explainer is not None:
            self._explainer.warm_up()

    def check(self, text: str, way: Recipe, on_progress: ProgressListener) -> Report:
        """Find evidence for the claim and decide it.

        Raises:
            InvalidClaim: the text is not something that can be checked.
            Cancelled: ``on_progress`` raised it.
        """
        claim = read_claim(text)
        info = self._store.info()
        stages = self._stages
        clock = _Clock(on_progress, way, explains=self._explainer is not None)

        with clock.stage("spans"):
            doc = stages.parser.parse(claim.text)
            spans: list[Span] = stages.spans.run(doc)["spans"]
        clock.report("spans", f"Looking for: {'; '.join(span.text for span in spans)}")
        questions, candidates = self._first(doc, spans, way, clock)

        found, hops = _Found(), list[Hop]()
        before: tuple[SentenceKey, ...] | None = None
        selected_before: set[SentenceKey] | None = None
        while True:
            hop = len(hops) + 1
            opened, relevant = self._read(claim.text, candidates, found, way, clock)
            if not share_a_word(spans, found.read):
                # Sentences are ranked whatever the claim is, also where it is no sentence at all.
                found.evidence = [replace(item, selected=False) for item in found.evidence]
            selected = {item.key for item in found.selected}
            proof = self._prove(doc, found, way, clock) if way.proof else None
            verdict = self._decide(doc, found, proof, way, clock)
            sufficient, missing = self._sufficient(way, spans, found, verdict, proof, before)
            before = found.best(self._config.selection_limit)
            stopped: Stopped | None = None
            if sufficient and way.ending != "never":
                stopped = way.ending
            elif way.ending in ("proved", "decided") and selected == selected_before:
                stopped = "nothing new"  # the same sentences give the same proof and verdict
            elif hop == way.max_hops:
                stopped = "hops"
            elif clock.spent() > self._config.seconds:
                stopped = "time"
            else:
                candidates = self._next(claim.text, spans, missing, found, hop + 1, way, clock)
                # Behind the first hop's best sentences even those that are known say more.
                again = way.ranking != "alone" and hop == 1 and found.evidence
                if not candidates and not again:
                    stopped = "nothing new"
            selected_before = selected
            hops.append(
                Hop(hop, sufficient, missing, opened, relevant, verdict.label, before, stopped)
            )
            if stopped is not None:
                break
        verdict = replace(verdict, opinions=(_opinion(verdict, found.evidence),))
        verdict, usage, explained = self._explain(claim.text, found, verdict, clock)
        clock.finish()
        return Report(
            claim=claim.text,
            recipe=way.name,
            notices=(
                *claim.notices,
                *([] if info.encoder else [_NO_VECTORS]),
                *self._cut(claim.text, found.selected),
                *([_SLOW] if stopped == "time" else []),
                *explained,
            ),
            corpus=CorpusInfo(info.name, info.documents, info.built_at),
            verdict=verdict,
            evidence=tuple(found.evidence),
            documents=tuple(found.best_documents()),
            questions=tuple(questions),
            proof=proof,
            hops=tuple(hops),
            seconds=clock.seconds(),
            usage=usage,
        )

    def _cut(self, claim: str, selected: list[Evidence]) -> list[str]:
        """Return a notice where the evidence is longer than what a model reads at once."""
        if not selected or self._stages.judge.reads_whole(claim, selected):
            return []
        return [_LONG]

    def _first(
        self, doc: Doc, spans: list[Span], way: Recipe, clock: _Clock
    ) -> tuple[list[Question], list[Candidate]]:
        """Find the documents of the first hop."""
        stages = self._stages
        questions: list[Question] = []
        ways: list[list[Candidate]] = []
        if "questions" in way.first:
            with clock.stage("titles"):
                by_title = stages.titles.run(doc, spans)
            exact, disambiguated = by_title["exact"], by_title["disambiguated"]
            clock.report(
                "titles",
                f"{_count(len(exact), 'exact title')}, {len(disambiguated)} more with words in"
                " parentheses",
            )
            with clock.stage("texts"):
                matched = stages.texts.run(doc, spans)
            by_text, by_words = matched["by_text"], matched["by_words"]
            clock.report(
                "texts", f"Something of the claim stands in {_count(len(by_text), 'document')}"
            )
            with clock.stage("questions"):
                questions = stages.questions.run(doc, spans)["questions"]
            clock.report(
                "questions", f"Asking: {' '.join(question.text for question in questions)}"
            )
            with clock.stage("ranking"):
                ranked: list[Candidate] = stages.ranking.run(
                    questions, exact, [*disambiguated, *by_text], by_words
                )["candidates"]
            clock.report("ranking", f"{_count(len(ranked), 'document')} that may hold an answer")
            ways.append(ranked)
        if "dense" in way.first:
            with clock.stage("dense"):
                near = stages.dense.run(doc.text, [], set(), 1)["candidates"]
            clock.report("dense", f"{_count(len(near), 'document')} with a sentence close to it")
            ways.append(near)
        return questions, interleaved(ways, sum(len(way) for way in ways))

    def _read(
        self,
        claim: str,
        candidates: Sequence[Candidate],
        found: _Found,
        way: Recipe,
        clock: _Clock,
    ) -> tuple[int, int]:
        """Read what the candidates say and rank all that was read.

        Returns how many documents were opened and how many of their sentences
        bear on the claim.
        """
        stages = self._stages
        with clock.stage("sentences"):
            opened = self._open(candidates)
            limit = (
                self._config.expansion_sentence_limit
                if found.documents
                else self._config.sentence_limit
            )
            found.documents += opened
            chosen = stages.preranking.run(claim, opened, limit)["sentences"]
        clock.report(
            "sentences",
            f"Reading {_count(len(chosen), 'sentence')} of {_count(len(opened), 'document')}",
        )
        with clock.stage("relevance"):
            read = stages.relevance.run(claim, chosen)
            found.read += read["read"]
            relevant: list[Evidence] = read["evidence"]
        clock.report("relevance", f"{_count(len(relevant), 'sentence')} that may bear on the claim")
        if way.ranking != "alone" and found.evidence:
            with clock.stage("paths"):
                paths = stages.paths.run(
                    claim, found.evidence, found.read, found.documents, found.paths
                )["paths"]
                found.paths += paths
            clock.report("paths", f"{_count(len(paths), 'sentence')} read beside what led to them")
        with clock.stage("semantic"):
            found.relevant = stages.semantic.run(claim, relevant, found.relevant)["evidence"]
            ranked = found.relevant
            if found.paths:
                ranked = stages.path_ranking.run(
                    found.relevant, found.paths, way.ranking == "hybrid"
                )["evidence"]
            # What was read stays, also what no path leads to any more.
            still = {item.key for item in ranked}
            found.evidence = [*ranked, *(i for i in found.evidence if i.key not in still)]
        clock.report("semantic", f"{_count(len(found.evidence), 'sentence')} to choose from")
        if way.selection == "utility":  # taught on the relevance model's scores, not the verifier's
            with clock.stage("selection"):
                found.evidence = stages.utility.run(claim, found.evidence)["evidence"]
        self._verify(claim, found, way, clock)
        if way.selection != "utility":
            with clock.stage("selection"):
                found.evidence = stages.relative.run(found.evidence)["evidence"]
        clock.report(
            "verification",
            f"{_count(len(found.evidence), 'sentence')} labelled,"
            f" {len(found.selected)} of them selected as evidence",
        )
        return len(opened), len(relevant)

    def _verify(self, claim: str, found: _Found, way: Recipe, clock: _Clock) -> None:
        """Label the best sentences. If none settles the claim, read what may complete them too.

        What completes a sentence often says nothing of the claim alone, so the path reader looks
        for it among all that was read.
        """
        stages, config = self._stages, self._config
        with clock.stage("verification"):
            verified = stages.verification.run(claim, found.evidence, found.readings)
        found.evidence, found.readings = verified["evidence"], verified["readings"]
        if way.ranking == "alone" or any(i.stance != NOT_ENOUGH_INFO for i in found.evidence):
            return
        with clock.stage("paths"):
            found.paths += stages.paths.run(
                claim, found.evidence, found.read, found.documents, found.paths
            )["paths"]
        with clock.stage("verification"):
            paths = surest_paths(
                found.evidence,
                found.paths,
                found.readings,
                config.verified_paths,
                config.verified_path_cutoff,
            )
            verified = stages.verification.run(claim, found.evidence, found.readings, paths)
        found.evidence, found.readings = verified["evidence"], verified["readings"]

    def _prove(self, doc: Doc, found: _Found, way: Recipe, clock: _Clock) -> Proof:
        """Prove what the selected sentences say of each part of the claim."""
        with clock.stage("proof"):
            proof: Proof = self._stages.prover.run(doc, found.selected)["proof"]
            if way.selection == "proved":
                found.evidence = self._stages.proved.run(found.evidence, proof)["evidence"]
        still_open = [f"“{doc.text[start:end]}”" for start, end in proof.open]
        clock.report(
            "proof",
            f"Nothing found yet about {', '.join(still_open)}"
            if still_open
            else "Every part of the claim is covered",
        )
        return proof

    def _decide(
        self, doc: Doc, found: _Found, proof: Proof | None, way: Recipe, clock: _Clock
    ) -> Verdict:
        """Read the selected sentences together."""
        with clock.stage("verdict"):
            verdict: Verdict = self._stages.judge.run(doc.text, found.selected)["verdict"]
        read = _count(len(found.selected), "sentence")
        clock.report("verdict", f"{read} read together: {verdict.label.lower()}")
        return verdict if proof is None else agreed(doc.text, verdict, proof)

    def _explain(
        self, claim: str, found: _Found, verdict: Verdict, clock: _Clock
    ) -> tuple[Verdict, Usage | None, list[str]]:
        """Ask the language model, if there is one and anything that it could read."""
        explainer = self._explainer
        if explainer is None or not found.selected:
            return verdict, None, []
        waits = f"Waiting for {explainer.model}"
        clock.wait("explain", waits)
        with clock.stage("explain"):
            explained = explainer.run(
                claim,
                found.evidence,
                verdict,
                lambda seconds: clock.wait("explain", f"{waits}, {seconds:.0f} s"),
            )
        answered = len(explained["verdict"].opinions) > len(verdict.opinions)
        said = "answered" if answered else "no answer that can be used"
        clock.report("explain", f"{explainer.model}: {said}")
        return explained["verdict"], explained["usage"], explained["notices"]

    def _sufficient(
        self,
        way: Recipe,
        spans: Sequence[Span],
        found: _Found,
        verdict: Verdict,
        proof: Proof | None,
        before: tuple[SentenceKey, ...] | None,
    ) -> tuple[bool, tuple[tuple[int, int], ...]]:
        """Return whether the search may end, and what of the claim is still open."""
        if proof is not None:
            missing = proof.open
        else:
            missing = tuple((s.start, s.end) for s in missing_spans(spans, found.selected))
        if way.ending == "unchanged":
            return found.best(self._config.selection_limit) == before, missing
        if proof is None or way.ending == "decided":
            return verdict.label != NOT_ENOUGH_INFO, missing
        return proof.sufficient, missing

    def _next(
        self,
        claim: str,
        spans: list[Span],
        missing: Sequence[tuple[int, int]],
        found: _Found,
        hop: int,
        way: Recipe,
        clock: _Clock,
    ) -> list[Candidate]:
        """Find documents that were not read yet, from the claim and the best sentences so far."""
        stages, seen = self._stages, found.seen
        leads = found.evidence[: self._config.lead_sentences]
        ways: list[list[Candidate]] = []
        with clock.stage("next"):
            if "mentions" in way.expansions:
                ways.append(stages.mentions.run(spans, leads, seen, hop)["candidates"])
            if "generation" in way.expansions:
                ways.append(stages.generation.run(claim, leads, seen, hop)["candidates"])
            if "dense" in way.expansions:
                paths = [self._path(lead, found) for lead in leads[: self._config.path_leads]]
                ways.append(stages.dense.run(claim, paths, seen, hop)["candidates"])
            candidates = interleaved(ways, self._config.expansion_limit)
        words = ", ".join(f"“{claim[start:end]}”" for start, end in missing)
        clock.report(
            "next",
            f"{'Still missing: ' + words if words else 'Not sufficient'};"
            f" {_count(len(candidates), 'document')} to go on with",
        )
        return candidates

    def _path(self, lead: Evidence, found: _Found) -> list[Evidence]:
        known = {item.key: item for item in found.read}
        return [*(known[key] for key in lead.path), lead]

    def _open(self, candidates: Sequence[Candidate]) -> list[RankedDocument]:
        documents = self._store.documents([candidate.document_id for candidate in candidates])
        return [
            RankedDocument(
                document, candidate.score, candidate.found_by, candidate.hop, candidate.led_by
            )
            for document, candidate in zip(documents, candidates, strict=True)
        ]


class _Clock:
    """Times the stages of one claim and tells the listener how far it is."""

    def __init__(self, on_progress: ProgressListener, way: Recipe, explains: bool) -> None:
        self._on_progress = on_progress
        # Behind the last hop nothing is looked for.
        after_last = 1 if way.max_hops > 1 else 0
        hops = len(way.stages_per_hop) * way.max_hops - after_last
        self._of = len(way.stages_first) + hops + int(explains)
        self._done = 0
        self._seconds: dict[str, float] = {}
        self._started = time.perf_counter()
        on_progress(Progress("start", "Reading the claim", 0, self._of))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        spent = time.perf_counter() - started
        self._seconds[name] = self._seconds.get(name, 0.0) + spent

    def report(self, stage: str, message: str) -> None:
        self._done += 1
        self._on_progress(Progress(stage, message, self._done, self._of))

    def wait(self, stage: str, message: str) -> None:
        """Say that a stage is still at work; a listener may end it."""
        self._on_progress(Progress(stage, message, self._done, self._of))

    def finish(self) -> None:
        self._on_progress(Progress("done", "Finished", self._of, self._of))

    def spent(self) -> float:
        return time.perf_counter() - self._started

    def seconds(self) -> dict[str, float]:
        return {"total": self.spent(), **self._seconds}


def _opinion(verdict: Verdict, evidence: Sequence[Evidence]) -> Judgement:
    """Return the verifier's verdict as one opinion, which rests on all selected evidence."""
    cites = tuple(number for number, item in enumerate(evidence, 1) if item.selected)
    return Judgement(verdict.judge, verdict.label, verdict.confidence, verdict.rationale, cites)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
