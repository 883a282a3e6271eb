"""How a claim is checked, from its text to the verdict. Start reading here.

    claim ─ spans ─┬─ titles ─────────────────┐
                   ├─ texts ───────┐          │
                   ├─ questions ─ ranking ────┤
                   └─ dense ──────────────────┴─ sentences ─ relevance ─ paths ─ semantic ─ fusion
                                                   ▲                                          │
                                                   │                      comparison ─ verification
                     next: mentions, dense ────────┘              │
                       ▲                                     completion ─ selection
                       │                                                      │
                       └────── not sufficient ──── verdict ◄─ bridge ◄─ proof ◄┘
                                                           │
                                     explain, if there is a language model

A recipe (``recipes``) names the stages that check a claim, in order. Each is a class in
``stages``: it takes the state of the claim (``stages.stage``) and returns a new one.
``haystack_components`` has the same stages as components of a Haystack pipeline.

A claim of several statements (``claim_parser``) goes this way once for each of them; the verdict is
their ``conjunction``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

from retrieval.errors import UnknownRecipe
from retrieval.index.interface import DocumentStore
from retrieval.llm_judge.interface import Explains
from retrieval.pipeline.claim_parser import ClaimParser, ParsedStatement
from retrieval.pipeline.conjunction import Checked, conjunction
from retrieval.recipes.recipes import FIRST, HOP, NEXT, Form, Recipe, record_of, stage_of
from retrieval.stages.decide.verdict import disagreement
from retrieval.stages.ending import (
    contrary_texts,
    hop_ended,
    missing,
    nothing_new,
    older_texts,
    reason_to_stop,
    why_not_settled,
)
from retrieval.stages.find.next import ExpanderMakers, NextHop
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage
from retrieval.text.notices import NAMELESS, NO_STATEMENT, OPEN_QUESTION
from retrieval.types import (
    NOT_ENOUGH_INFO,
    UNREAD,
    Evidence,
    Findings,
    FoundDocument,
    FoundSentence,
    Judgement,
    Progress,
    ProgressListener,
    RankedDocument,
    Report,
    Stopped,
    Usage,
    Verdict,
)
from retrieval.words import read_in_part, statement_words


def _all(makers: str, of: Mapping[str, Form]) -> dict[str, Any]:
    """Return what makes the stages of these names: the mapping ``makers`` of each one's file."""
    modules = {name: import_module(record_of(name).module) for name in of}
    return {name: getattr(module, makers)[name] for name, module in modules.items()}


MAKERS: Makers = _all("MAKERS", {**FIRST, **HOP})
EXPANDERS: ExpanderMakers = _all("EXPANDERS", NEXT)


def stages_of(recipe: Recipe, resources: Resources) -> dict[str, Stage]:
    """Return the stages that a recipe names, and "next".

    Raises:
        UnknownRecipe: it names a stage that does not exist.
        ModelUnavailable: a model is missing or damaged.
    """
    unknown = [name for name in (*recipe.first, *recipe.hop) if name not in MAKERS]
    unknown += [name for name in recipe.next if name not in EXPANDERS]
    if unknown:
        raise UnknownRecipe(
            "unknown_stage",
            f"The recipe {recipe.name!r} names unknown stages: {', '.join(unknown)}.",
            "Add each to retrieval/recipes/stages.toml, or name one that is listed there.",
        )
    settings = recipe.settings
    resources = replace(resources, judge=recipe.verifier, computed=settings.computed)
    expanders = [EXPANDERS[name](resources, settings) for name in recipe.next]
    return {
        **{name: MAKERS[name](resources, settings) for name in (*recipe.first, *recipe.hop)},
        "next": NextHop(expanders, settings.expansion_limit),
    }


# The sentences that are shown before the verifier has read any.
_MOST_UNREAD = 10
_DIGITS = 4


def findings(stage: str, before: ClaimState, after: ClaimState) -> Findings | None:
    """Return what this stage has added to the state, ``None`` if nothing that people watch."""
    asked = after.questions is not before.questions
    found = Findings(
        hop=after.hop,
        spans=after.spans if after.spans is not before.spans else (),
        questions=tuple(question.text for question in after.questions) if asked else (),
        documents=_documents(after) if after.opened is not before.opened else (),
        sentences=_sentences(before, after),
        open=tuple(after.claim[i:j] for i, j in missing(after)) if stage == "next" else (),
    )
    return None if found == Findings(after.hop) else found


def _documents(state: ClaimState) -> tuple[FoundDocument, ...]:
    headings = {ranked.document.id: ranked.document.heading for ranked in state.documents}

    def found(ranked: RankedDocument) -> FoundDocument:
        led_by = "" if ranked.led_by is None else headings.get(ranked.led_by.document_id, "")
        score = round(ranked.score, _DIGITS)
        return FoundDocument(ranked.document.heading, score, ranked.found_by, led_by)

    return tuple(map(found, state.opened))


def _sentences(before: ClaimState, after: ClaimState) -> tuple[FoundSentence, ...]:
    """Return the sentences that were labelled, or the most relevant ones before they are."""
    found: Sequence[Evidence] = ()
    labelled = after.readings is not before.readings or after.rulings != before.rulings
    if labelled:
        found = after.evidence
    elif after.relevant is not before.relevant:
        found = after.relevant[:_MOST_UNREAD]
    return tuple(
        FoundSentence(
            item.heading,
            item.sentence.text,
            round(item.score, _DIGITS),
            item.stance if labelled else None,
        )
        for item in found
    )


_SLOW = (
    "The search was ended early because it took very long on this machine; a faster machine, or"
    " fewer claims at once, may find more."
)

_NO_VECTORS = (
    "The index has no vectors yet, so documents were found only by titles and words, not by their"
    " meaning; esoteric index encode makes the vectors."
)

_NO_VERDICT = {
    OPEN_QUESTION: "A question that yes or no does not answer is neither true nor false.",
    NO_STATEMENT: "A text without a statement is neither true nor false.",
    NAMELESS: "A statement that does not say who or what it is about has no truth of its own.",
}


class Pipeline:
    """Checks claims by one recipe, one at a time; stores nothing about a finished claim."""

    def __init__(
        self,
        recipe: Recipe,
        stages: Mapping[str, Stage],
        parser: ClaimParser,
        store: DocumentStore,
        explainer: Explains | None = None,
    ) -> None:
        """``stages`` are those that the recipe names, and "next"; ``warm_up`` loads their models.

        ``store`` is what they search. ``explainer`` asks a language model after the last hop.
        """
        self._recipe = recipe
        self._stages = stages
        self._parser = parser
        self._store = store
        self._corpus = store.info()
        self._explainer = explainer

    def warm_up(self) -> None:
        """Load every model, so that the first claim is as fast as the next."""
        self._parser.warm_up()
        for stage in self._stages.values():
            stage.warm_up()
        if self._explainer is not None:
            self._explainer.warm_up()

    def check(self, text: str, on_progress: ProgressListener) -> Report:
        """Find evidence for the claim and decide it.

        Raises:
            InvalidClaim: the text cannot be checked.
            Cancelled: ``on_progress`` raised it.
        """
        clock = _Clock(on_progress, self._recipe, explains=self._explainer is not None)
        self._store.begin("")
        with clock.stage("spans"):
            claim = self._parser.parse(text)
        checked = []
        for number, one in enumerate(claim.statements, 1):
            clock.begin(one.statement.text, number, len(claim.statements))
            checked.append(Checked(one.statement, self._check(one, clock)))
        clock.finish()
        cutoff = self._recipe.settings.decided_cutoff
        report = conjunction(claim.read.text, checked, cutoff)
        for notice in claim.read.notices:
            if notice in _NO_VERDICT:
                undecided = Verdict(NOT_ENOUGH_INFO, 1.0, report.verdict.judge, _NO_VERDICT[notice])
                report = replace(report, verdict=undecided)
        if OPEN_QUESTION in claim.read.notices:
            # No sentence supports or refutes a question.
            bare = (replace(i, opinion=UNREAD, path=(), alone=None) for i in report.evidence)
            report = replace(report, evidence=tuple(bare))
        suggestion = claim.suggestion
        if not suggestion and report.verdict.label == NOT_ENOUGH_INFO:
            read = (found.document.title for found in report.documents)
            suggestion = self._parser.titled(claim, read)
        found_by_words = [] if self._corpus.encoder else [_NO_VECTORS]
        return replace(
            report,
            original=claim.read.rewritten,
            suggestion=suggestion or None,
            notices=(*claim.read.notices, *found_by_words, *report.notices),
            seconds=clock.seconds(),
        )

    def _check(self, one: ParsedStatement, clock: _Clock) -> Report:
        """Find evidence for one statement and decide it."""
        recipe = self._recipe
        self._store.begin(one.parsed.text)
        state = self._run(recipe.first, ClaimState(one.parsed.text, one.parsed), clock)
        stopped: Stopped | None = None
        while stopped is None:
            state = self._run(recipe.hop, state, clock)
            stopped = reason_to_stop(state, recipe, clock.spent())
            if stopped is None:
                state = self._run(("next",), state, clock)
                stopped = nothing_new(state, recipe)
            state = hop_ended(state, recipe, stopped)
        verdict, usage, explained = self._explain(state, clock)
        notices = (
            *older_texts(state, verdict),
            *contrary_texts(state),
            *([] if state.read_words is None else [read_in_part(state.read_words)]),
            *([_SLOW] if stopped == "time" else []),
            *self._store.notices(),
            *explained,
        )
        undecided = verdict.label == NOT_ENOUGH_INFO
        return Report(
            claim=one.statement.text,
            recipe=recipe.name,
            notices=notices,
            corpus=self._corpus.as_corpus(),
            verdict=verdict,
            evidence=state.evidence,
            documents=state.ranked_documents(),
            questions=state.questions,
            proof=state.proof,
            hops=state.hops,
            seconds=clock.seconds(),
            usage=usage,
            not_settled=why_not_settled(self._store, state) if undecided else None,
            retrieved=state.retrieved(),
            recipe_digest=recipe.digest,
        )

    def _run(self, names: Sequence[str], state: ClaimState, clock: _Clock) -> ClaimState:
        """Run stages one after the other; a listener may cancel between two of them."""
        for name in names:
            before = state
            with clock.stage(stage_of(name)):
                state, message = self._stages[name].run(before)
            clock.report(stage_of(name), message, findings(name, before, state))
        return state

    def _explain(
        self, state: ClaimState, clock: _Clock
    ) -> tuple[Verdict, Usage | None, Sequence[str]]:
        """Ask the language model, if there is one and evidence was selected."""
        assert state.verdict is not None, "every hop of a recipe ends in a verdict"
        verdict = state.verdict
        cites = tuple(number for number, item in enumerate(state.evidence, 1) if item.selected)
        own = Judgement(verdict.judge, verdict.label, verdict.confidence, verdict.rationale, cites)
        verdict = replace(verdict, opinions=(own,))
        explainer = self._explainer
        if explainer is None or not state.selected:
            return verdict, None, []
        waits = f"Waiting for {explainer.model}"
        clock.wait("explain", waits)
        with clock.stage("explain"):
            explained = explainer.explain(
                state.claim,
                state.evidence,
                verdict,
                lambda seconds: clock.wait("explain", f"{waits}, {seconds:.0f} s"),
            )
        answered = len(explained.verdict.opinions) > len(verdict.opinions)
        outcome = "answered" if answered else "no answer that can be used"
        clock.report("explain", f"{explainer.model}: {outcome}")
        verdict = replace(
            explained.verdict, disagreement=disagreement(explained.verdict, state.evidence)
        )
        return verdict, explained.usage, explained.notices


class _Clock:
    """Times the stages of one claim and reports its progress to the listener."""

    def __init__(self, on_progress: ProgressListener, recipe: Recipe, explains: bool) -> None:
        self._on_progress = on_progress
        between = recipe.max_hops - 1  # after the last hop no documents are searched
        hops = len(recipe.hop) * recipe.max_hops
        self._steps = len(recipe.first) + hops + between + int(explains)  # of one statement
        self._of = self._steps
        self._done = 0
        self._seconds: dict[str, float] = {}
        self._started = time.perf_counter()
        on_progress(Progress("start", "Reading the claim", 0, self._of))

    def begin(self, statement: str, number: int, of: int) -> None:
        """Begin with a statement of the claim; the steps that the one before left out are done."""
        self._done, self._of = self._steps * (number - 1), self._steps * of
        if of > 1:
            self.wait("start", statement_words(number, of, statement))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        spent = time.perf_counter() - started
        self._seconds[name] = self._seconds.get(name, 0.0) + spent

    def report(self, stage: str, message: str, found: Findings | None = None) -> None:
        """Report that a stage has finished; an empty message means that it had nothing to do."""
        self._done += 1
        if message:
            self._on_progress(Progress(stage, message, self._done, self._of, found))

    def wait(self, stage: str, message: str) -> None:
        """Report that a stage is still at work; a listener may end it."""
        self._on_progress(Progress(stage, message, self._done, self._of))

    def finish(self) -> None:
        self._on_progress(Progress("done", "Finished", self._of, self._of))

    def spent(self) -> float:
        return time.perf_counter() - self._started

    def seconds(self) -> dict[str, float]:
        return {"total": self.spent(), **self._seconds}
