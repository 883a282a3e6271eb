"""Claims in a warm process: their time, the wiring of stages, the stage ``comparison``."""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict

from research.benchmarks.row import Row, claims, everyday_claims, percentile, spread, vital_index
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models import runtime
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.shipped import evidence_model
from retrieval.pipeline.assembly import Retriever, pipeline_over, resources_over
from retrieval.quantities.halves import comparison
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES, RetrievalConfig
from retrieval.stages.decide.comparison import ComparisonReader
from retrieval.text.english import EnglishParser
from retrieval.types import Progress
from settings import Settings

WARM = 3
ROUNDS = 3
EVERYDAY = 85  # at equal distances: all kinds, with undecided ones


def times() -> list[Row]:
    """Check every easy claim three times and every everyday claim once, after a warm-up."""
    settings = Settings.from_environment()
    folders = settings.model_folders
    retriever = Retriever(vital_index(), settings.snapshots, settings.threads, folders)
    started = time.perf_counter()
    retriever.warm_up()
    loading = time.perf_counter() - started
    easy = claims()
    for text in easy[:WARM]:
        retriever.check(text, DEFAULT_RECIPE, _ignore)
    everyday = spread(everyday_claims(), EVERYDAY)
    return [
        *_checked(retriever, "easy claim", easy * ROUNDS, ("1.2 s", "3.0 s")),
        *_checked(
            retriever, "everyday claim", [claim["claim"] for claim in everyday], ("1.5 s", "3.5 s")
        ),
        Row("models and index loaded", f"{loading:.1f} s"),
    ]


def _checked(
    retriever: Retriever, kind: str, texts: list[str], targets: tuple[str, str]
) -> list[Row]:
    totals: list[float] = []
    stages: dict[str, float] = defaultdict(float)
    hops: list[int] = []
    for text in texts:
        report = retriever.check(text, DEFAULT_RECIPE, _ignore)
        seconds = dict(report.seconds)
        totals.append(seconds.pop("total"))
        hops.append(len(report.hops))
        for stage, spent in seconds.items():
            stages[stage] += spent
    slowest = sorted(stages, key=lambda stage: -stages[stage])[:5]
    shares = ", ".join(f"{stage} {stages[stage] / sum(totals):.0%}" for stage in slowest)
    return [
        Row(f"{kind}, p50", f"{percentile(totals, 50):.2f} s", targets[0]),
        Row(f"{kind}, p95", f"{percentile(totals, 95):.2f} s", targets[1]),
        Row(f"{kind}, share of the time by stage", shares),
        Row(f"{kind}, hops, mean", f"{sum(hops) / len(hops):.2f}"),
    ]


def _ignore(progress: Progress) -> None:
    pass


def wiring() -> list[Row]:
    """Check by one function and by the same stages as a Haystack pipeline, alternating.

    Their evidence is compared too.
    """
    # Haystack sends usage statistics unless this is set before it is imported.
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    from retrieval.pipeline.haystack_components import haystack_pipeline

    recipe, encoder = RECIPES[DEFAULT_RECIPE], MiniLMEncoder()
    store = EmbeddedIndex(vital_index()).open(encoder.name)
    resources = resources_over(store, encoder, Settings.from_environment().model_folders)
    checker, pipeline = pipeline_over(resources, recipe), haystack_pipeline(recipe, resources)
    checker.warm_up()
    pipeline.warm_up()

    function, piped = [], []
    for text in claims() * ROUNDS:
        started = time.perf_counter()
        ours = checker.check(text, _ignore)
        function.append(time.perf_counter() - started)
        started = time.perf_counter()
        theirs = pipeline.run({"claim": {"claim": text}})["hop end"]["over"]
        piped.append(time.perf_counter() - started)
        if (ours.evidence, ours.hops) != (theirs.evidence, theirs.hops):
            raise RuntimeError(f"The pipeline finds other evidence than the function for {text!r}.")
    ratio = percentile([p / f for p, f in zip(piped, function, strict=True)], 50)
    return [
        Row(
            "a claim, one function / Haystack pipeline, p50",
            f"{percentile(function, 50) * 1000:.0f} ms / {percentile(piped, 50) * 1000:.0f} ms",
        ),
        Row("Haystack pipeline time / one function time, median of pairs", f"{ratio:.2f}"),
    ]


_WORDS = re.compile(r"\b(?:than|before|after|already)\b", re.IGNORECASE)
_EVERY = 4


def comparisons() -> list[Row]:
    """Count the claims that the stage ``comparison`` decides, and rightly, if the pages are given.

    The claims are every fourth of those of ``research/datasets/everyday`` that have evidence and a
    word of comparison; the sentences are all those of the pages with their evidence.
    """
    settings = Settings.from_environment()
    runtime.use_threads(settings.threads)
    runtime.keep_in(settings.model_folders.networks)
    parser = EnglishParser()
    verifier = evidence_model(settings.model_folders, in_search=True)
    stage = ComparisonReader(parser, verifier, RetrievalConfig().compared_sentences)
    index = EmbeddedIndex(vital_index()).open(None)
    compared = [one for one in everyday_claims() if one["evidence"] and _WORDS.search(one["claim"])]
    compared = compared[::_EVERY]
    cut = decided = right = 0
    for one in compared:
        halves = comparison(parser.parse(one["claim"]))
        if halves is None:
            continue
        cut += 1
        pages = {page for sentences in one["evidence"] for page, _ in sentences}
        texts = [
            (document.title, sentence.text)
            for document in index.documents(sorted(pages))
            for sentence in document.sentences
        ]
        if (found := stage.compared(halves, texts)) is not None:
            decided += 1
            right += found[0].label == one["label"]
    return [
        Row("claims with a word of comparison", f"{len(compared):,}"),
        Row("of these, cut into halves", f"{cut}"),
        Row("of these, decided", f"{decided}"),
        Row("of these, decided rightly", f"{right}"),
    ]
