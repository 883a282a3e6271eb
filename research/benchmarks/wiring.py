"""Compares a check by one function with the same stages as a Haystack pipeline."""

from __future__ import annotations

import os
import time

from research.benchmarks.corpus import claims, vital_index
from research.benchmarks.row import Row, percentile
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.encoders import MiniLMEncoder
from retrieval.pipeline.assembly import pipeline_over, resources_over
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES
from retrieval.types import Progress
from settings import Settings

ROUNDS = 3


def measure() -> list[Row]:
    """Check each claim with both, alternating, and compare the evidence too."""
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


def _ignore(_: Progress) -> None:
    """Show no progress."""
