"""Checks side by side: what each recipe says about a claim, or about each claim of a list.

Recipes are compared over the same corpora: a claim that was checked against others is another row.
One value for the pages, the API and the files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import computed_field

from app.api.models import ListedVerdict
from app.comparisons.measured import Agreement, Judged, Measured, Part, agreement, measured
from app.filters import Badge, job_badge
from retrieval.errors import Problem
from retrieval.result import ClaimResult, Evidence
from retrieval.types import DEFAULT_CORPUS, LABELS, CorpusInfo, Label, Rounded, Share, Whole
from retrieval.words import WITH_QUANTITIES, counted, listed, percent_of
from worker.comparison_store import Gold, KeptComparison
from worker.jobs import Job, Links, Moment, State

MOST_RECIPES = 5

_PENDING = ("queued", "running")


class Found(Part):
    """A sentence as one recipe found it."""

    rank: Whole
    """Its number in the evidence of the recipe, from 1."""
    used: bool
    """Whether the verdict is based on it."""
    stance: Label
    """What it says about the claim."""
    stance_confidence: Share
    """Probability of the stance."""
    score: Share
    """Probability that it settles the claim."""
    hop: Whole
    """The hop that found it, from 1."""
    found_by: tuple[str, ...]
    """How its document was found."""


class ComparedSentence(Part):
    """A sentence that at least one recipe found."""

    document: str
    """Id of its document."""
    title: str
    """Title of its document, with page and section."""
    url: str | None
    """Address of its document, null where it has none."""
    sentence_id: Whole
    """Number of the sentence in its document."""
    sentence: str
    """The sentence."""
    found: dict[str, Found]
    """How it was found, by the names of the recipes that found it."""

    @property
    def stances(self) -> tuple[Label, ...]:
        """What recipes say about it: one stance, or several where some read it with others."""
        said = {found.stance for found in self.found.values()}
        return tuple(label for label in LABELS if label in said)


class ComparedCorpus(CorpusInfo):
    """The corpus that a check searched."""

    title: str
    """What people call it."""


class Run(Part):
    """The check of a claim by one recipe."""

    id: str
    """Id of the check."""
    recipe: str
    """Name of the recipe."""
    state: State
    """Its state; what follows is null unless it is done, but for the error of a failed one."""
    finished_at: Moment | None
    """When it ended, null before."""
    verdict: ListedVerdict | None
    """The verdict."""
    judge: str | None
    """Name of the model that gave the verdict."""
    hops: Whole | None
    """How many hops it took."""
    documents: Whole | None
    """How many documents it opened; passages of one document count once."""
    seconds: Rounded | None
    """How long it took."""
    corpus: ComparedCorpus | None
    """What was searched."""
    error: Problem | None
    """Why it failed."""
    language_model: str | None
    """The language model that was asked, null where none was."""
    recipe_digest: str | None
    """Digest of the recipe's stages and settings; empty in older results."""
    version: str | None
    """Version of ESOTERIC that checked the claim; empty in older results."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def links(self) -> Links:
        """Addresses of the check."""
        return Links.of(self.id)

    @property
    def label(self) -> Label | None:
        """The verdict's label."""
        return self.verdict.label if self.verdict else None

    @property
    def confidence(self) -> float | None:
        """The verdict's confidence."""
        return self.verdict.confidence if self.verdict else None

    @property
    def leans(self) -> Label | None:
        """What an uncertain verdict leans to."""
        return self.verdict.leans if self.verdict else None

    @property
    def pending(self) -> bool:
        """Whether it has not ended."""
        return self.state in _PENDING

    @property
    def badge(self) -> Badge:
        """Its verdict, or its state."""
        return job_badge(self)

    @property
    def percent(self) -> int | None:
        """How sure the verdict is; ``None`` where it settles nothing."""
        if self.label is None or self.confidence is None:
            return None
        return percent_of(self.label, self.confidence)


class ComparedClaim(Part):
    """A claim, checked by several recipes."""

    claim: str
    """The claim."""
    corpora: tuple[str, ...]
    """Names of the corpora that it was to be checked against; none for the default one."""
    corpus: str
    """What people call these corpora; empty for the default one before a check has ended."""
    runs: dict[str, Run]
    """Its checks, by the names of their recipes."""
    gold: Label | None
    """Its right label, null where that is not known."""
    kind: str
    """What kind of claim it is; empty where that is not known."""
    gold_evidence: tuple[tuple[str, int], ...]
    """The sentences that its right label rests on, each as the id of its document and its number;
    empty where they are not known."""
    sentences: tuple[ComparedSentence, ...]
    """The sentences that were found, first those that many recipes rank high: by the sum of
    1 / rank."""

    @property
    def done(self) -> tuple[str, ...]:
        """The recipes that have given a verdict."""
        return tuple(name for name, run in self.runs.items() if run.label)

    @property
    def shared(self) -> tuple[ComparedSentence, ...]:
        """What several recipes found, or all while there is only one."""
        return tuple(one for one in self.sentences if len(one.found) > 1 or len(self.done) < 2)

    @property
    def single(self) -> tuple[ComparedSentence, ...]:
        """What only one of several recipes found."""
        return tuple(one for one in self.sentences if len(one.found) == 1 and len(self.done) > 1)

    @property
    def used(self) -> tuple[ComparedSentence, ...]:
        """What at least one verdict is based on."""
        return tuple(one for one in self.sentences if any(f.used for f in one.found.values()))

    @property
    def used_by_all(self) -> int:
        """How many sentences the verdicts of all recipes that are done are based on."""
        uses = (sum(found.used for found in one.found.values()) for one in self.used)
        return sum(number == len(self.done) for number in uses)

    def found_alike(self, sentence: ComparedSentence) -> bool:
        """Return whether all recipes that are done found a sentence, and all use it or none."""
        uses = {found.used for found in sentence.found.values()}
        return 1 < len(self.done) == len(sentence.found) and len(uses) == 1

    @property
    def alike(self) -> tuple[ComparedSentence, ...]:
        """What all recipes found and used alike."""
        return tuple(filter(self.found_alike, self.sentences))

    @property
    def verdicts(self) -> dict[Label, int]:
        """How many recipes give each verdict, first that of most."""
        counts = Counter(run.label for run in self.runs.values() if run.label)
        return dict(sorted(counts.items(), key=lambda one: (-one[1], LABELS.index(one[0]))))

    @property
    def agreed(self) -> bool:
        """Whether all recipes have ended, and several give a verdict, always the same."""
        pending = any(run.pending for run in self.runs.values())
        return len(self.done) > 1 and len(self.verdicts) == 1 and not pending


class Comparison(Part):
    """Checks side by side."""

    id: str
    """Its id; empty where only its checks are named."""
    name: str
    """Its name; empty where it has none."""
    recipes: tuple[str, ...]
    """The names of the recipes."""
    claims: tuple[ComparedClaim, ...]
    """The claims, in the order of the ids."""
    agreement: Agreement
    """How often the recipes give the same verdict."""
    measured: tuple[Measured, ...]
    """How often they give the right one: of all claims with a right label, then by kind."""
    notes: tuple[str, ...]
    """What makes the checks less comparable, as sentences for the user."""
    left_out: tuple[str, ...]
    """Ids of checks that were repeated later: of the same claim and recipe the newest counts."""
    unknown: tuple[str, ...]
    """Ids of no check: deleted ones, or mistakes."""

    @property
    def address(self) -> dict[str, str]:
        """What names it in addresses."""
        return {"id": self.id} if self.id else {"claims": ",".join(run.id for run in self.runs)}

    @property
    def judged_alike(self) -> bool:
        """Whether one model gave all verdicts."""
        return len({run.judge for run in self.runs if run.judge}) < 2

    @property
    def runs(self) -> tuple[Run, ...]:
        """All checks."""
        return tuple(run for claim in self.claims for run in claim.runs.values())

    @property
    def only(self) -> ComparedClaim | None:
        """The claim, where there is only one."""
        return self.claims[0] if len(self.claims) == 1 else None

    @property
    def texts(self) -> int:
        """How many claims there are; one that was checked against several corpora is one."""
        return len({claim.claim for claim in self.claims})

    @property
    def corpora(self) -> int:
        """How many different corpora, or sets of them, were searched."""
        own = {claim.corpora for claim in self.claims if claim.corpora}
        default = [claim.corpus for claim in self.claims if not claim.corpora]
        # Before a check has ended, the title of the default one is not known.
        return len(own) + max(len({*filter(None, default)}), bool(default))

    @property
    def text(self) -> str:
        """The claims, one a line, as the form takes them."""
        return "\n".join(dict.fromkeys(claim.claim for claim in self.claims))

    @property
    def pending(self) -> int:
        """How many checks have not ended."""
        return sum(run.pending for run in self.runs)

    @property
    def stopped(self) -> int:
        """How many checks were not made, because somebody stopped them."""
        return sum(run.state == "cancelled" for run in self.runs)

    @property
    def with_evidence(self) -> int:
        """How many claims have right evidence that is known."""
        return sum(bool(claim.gold_evidence) for claim in self.claims)

    def counts(self, recipe: str) -> Counter[Label | None]:
        """Return how often a recipe gives each verdict; ``None``: claims without one."""
        runs = [claim.runs.get(recipe) for claim in self.claims]
        return Counter(run.label if run else None for run in runs)


def compared(kept: KeptComparison, jobs: Iterable[Job], order: Iterable[str]) -> Comparison:
    """Return the comparison of these jobs.

    ``kept``: the checks that were asked for. ``order``: names of recipes, in the order of pages.
    """
    jobs = list(jobs)
    claims: dict[tuple[str, tuple[str, ...]], dict[str, Job]] = {}
    known, left_out = set(), []
    default = _default_name(jobs)
    for job in jobs:
        known.add(job.id)
        runs = claims.setdefault((job.claim, _searched(job, default)), {})
        other = runs.get(job.recipe)
        if other is not None:
            older, job = sorted((other, job), key=lambda one: one.created_at)
            left_out.append(older.id)
        runs[job.recipe] = job
    checked = {recipe for runs in claims.values() for recipe in runs}
    recipes = tuple(name for name in dict.fromkeys((*order, *sorted(checked))) if name in checked)
    found = tuple(_claim(claim, runs, recipes, kept.checks) for (claim, _), runs in claims.items())
    judged = [
        Judged({name: run.label for name, run in one.runs.items() if run.label}, one.gold, one.kind)
        for one in found
    ]
    return Comparison(
        id=kept.id,
        name=kept.name,
        recipes=recipes,
        claims=found,
        agreement=agreement(recipes, judged),
        measured=measured(recipes, judged),
        notes=_notes([[job.result for job in runs.values()] for runs in claims.values()]),
        left_out=tuple(left_out),
        unknown=tuple(one for one in kept.checks if one not in known),
    )


def _searched(job: Job, default: str) -> tuple[str, ...]:
    """Return the names of the corpora that a job is checked against."""
    if job.result is not None:
        return tuple(part.name for part in job.result.corpora)
    named = job.corpora or (DEFAULT_CORPUS,)
    return tuple(default if name == DEFAULT_CORPUS else name for name in named)


def _default_name(jobs: Iterable[Job]) -> str:
    """Return what the default corpus was called by the last job that has searched it."""
    names = [
        job.result.corpora[0].name
        for job in sorted(jobs, key=lambda job: job.created_at)
        if job.result is not None and (job.corpora or (DEFAULT_CORPUS,))[0] == DEFAULT_CORPUS
    ]
    return names[-1] if names else DEFAULT_CORPUS


def _claim(
    claim: str, jobs: Mapping[str, Job], order: Sequence[str], known: Mapping[str, Gold]
) -> ComparedClaim:
    ordered = [jobs[name] for name in order if name in jobs]
    corpora = ordered[0].corpora or ()
    title = next((job.result.corpus_title for job in ordered if job.result), "")
    gold = known[ordered[0].id]
    return ComparedClaim(
        claim=claim,
        gold=gold.label,
        kind=gold.kind,
        gold_evidence=gold.evidence,
        corpora=corpora,
        corpus=title or " and ".join(corpora),
        runs={job.recipe: _run(job) for job in ordered},
        sentences=_sentences({job.recipe: job.result for job in ordered if job.result}),
    )


def _run(job: Job) -> Run:
    outcome: dict[str, Any] = dict.fromkeys(Run.model_fields)
    if job.result is not None:
        result, verdict = job.result, job.result.verdict
        outcome = {
            "verdict": ListedVerdict.of(verdict),
            "judge": verdict.judge,
            "hops": len(result.hops),
            "documents": len({document.whole for document in result.documents}),
            "seconds": result.seconds["total"],
            "corpus": ComparedCorpus(**dict(result.corpus), title=result.corpus_title),
            "language_model": result.usage and result.usage.model,
            "recipe_digest": result.recipe_digest,
            "version": result.version,
        }
    same = ("id", "recipe", "state", "finished_at", "error")
    return Run(**outcome | {name: getattr(job, name) for name in same})


def _sentences(results: Mapping[str, ClaimResult]) -> tuple[ComparedSentence, ...]:
    items: dict[tuple[str, int], Evidence] = {}
    found: dict[tuple[str, int], dict[str, Found]] = {}
    for recipe, result in results.items():
        ways = {document.id: document.found_by for document in result.documents}
        for rank, item in enumerate(result.evidence, 1):
            key = item.document, item.sentence_id
            items.setdefault(key, item)
            found.setdefault(key, {})[recipe] = Found(
                rank=rank,
                used=item.selected,
                stance=item.stance,
                stance_confidence=item.stance_confidence,
                score=item.score,
                hop=item.hop,
                found_by=ways.get(item.document, ()),
            )
    best_first = sorted(found, key=lambda key: -sum(1 / one.rank for one in found[key].values()))
    return tuple(
        ComparedSentence(
            document=item.document,
            title=item.reference,
            url=item.url,
            sentence_id=item.sentence_id,
            sentence=item.sentence,
            found=found[key],
        )
        for key in best_first
        for item in [items[key]]
    )


def _notes(compared: Iterable[Iterable[ClaimResult | None]]) -> tuple[str, ...]:
    """``compared``: the results that are compared with each other."""
    done = [[result for result in results if result is not None] for results in compared]
    judges = {
        one.verdict.judge.removesuffix(WITH_QUANTITIES) for results in done for one in results
    }
    notes = []
    of_each = [{(one.corpus, one.corpus_title) for one in results} for results in done]
    corpora = {one for indexes in of_each if len(indexes) > 1 for one in indexes}
    if corpora:
        named = [
            f"{title}, {counted(corpus.documents, 'document')}"
            + (f", indexed {corpus.built_at[:10]}" if corpus.built_at else "")
            for corpus, title in sorted(corpora, key=lambda one: (one[0].built_at, one[1]))
        ]
        notes.append(f"The checks searched different indexes: {'; '.join(named)}.")
    if len(judges) > 1:
        notes.append(f"Different models gave the verdicts: {'; '.join(sorted(judges))}.")
    changed = _changed_recipes(one for results in done for one in results)
    if changed:
        notes.append(f"Between these checks, recipes were changed: {listed(changed)}.")
    versions = {one.version for results in done for one in results if one.version}
    if len(versions) > 1:
        notes.append(f"Different versions of ESOTERIC made the checks: {listed(sorted(versions))}.")
    return tuple(notes)


def _changed_recipes(results: Iterable[ClaimResult]) -> list[str]:
    """Return the names of recipes whose stages or settings were not always the same."""
    digests: dict[str, set[str]] = {}
    for one in results:
        if one.recipe_digest:
            digests.setdefault(one.recipe, set()).add(one.recipe_digest)
    return sorted(name for name, found in digests.items() if len(found) > 1)
