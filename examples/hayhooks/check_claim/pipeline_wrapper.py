"""ESOTERIC as a REST endpoint of Hayhooks, which serves pipelines of Haystack.

Needs an index (``make run`` builds one) and Hayhooks, which ESOTERIC does not install. From the
root of the checkout:

    .venv/bin/pip install hayhooks==2.1.0
    export HAYSTACK_TELEMETRY_ENABLED=False
    PYTHONPATH=. .venv/bin/hayhooks run --pipelines-dir examples/hayhooks
    curl -s localhost:1416/check_claim/run -H 'Content-Type: application/json' \\
         -d '{"claim": "Frankenstein was written by Mary Shelley."}'

Put other components of Haystack into the pipeline, before the evidence or after it.
"""

from __future__ import annotations

from typing import Any

from hayhooks import BasePipelineWrapper
from haystack import Pipeline

from retrieval.index.open import open_index
from retrieval.models import runtime
from retrieval.models.document_encoders import text_encoder
from retrieval.pipeline.assembly import pipeline_over, resources_over
from retrieval.pipeline.haystack_components import EvidenceRetriever
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES
from settings import Settings


class PipelineWrapper(BasePipelineWrapper):
    """A pipeline from a claim to its evidence and its verdict."""

    def setup(self) -> None:
        """Make the pipeline; Hayhooks calls this once."""
        settings = Settings.from_environment()
        folders = settings.model_folders
        runtime.use_threads(settings.threads)
        runtime.keep_in(folders.networks)
        encoder = text_encoder(folders)
        store = open_index(settings.store, settings.snapshots).open(encoder.name)
        checker = pipeline_over(resources_over(store, encoder, folders), RECIPES[DEFAULT_RECIPE])
        self.pipeline = Pipeline()
        self.pipeline.add_component("evidence", EvidenceRetriever(checker))

    def run_api(self, claim: str) -> dict[str, Any]:
        """Check a claim; this is what the endpoint calls."""
        found = self.pipeline.run({"evidence": {"query": claim}})["evidence"]
        return {
            "verdict": found["verdict"].label,
            "confidence": found["verdict"].confidence,
            "evidence": [{"text": one.content, **one.meta} for one in found["documents"]],
        }
