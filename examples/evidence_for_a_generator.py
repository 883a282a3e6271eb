"""Put ESOTERIC's evidence in front of a generator of Haystack.

Needs an index (``make run`` builds one) and a server with OpenAI's chat API, such as Ollama. From
the root of the checkout:

    export HAYSTACK_TELEMETRY_ENABLED=False
    .venv/bin/python examples/evidence_for_a_generator.py http://localhost:11434/v1 MODEL "CLAIM"

The generator explains a claim by the sentences that ESOTERIC selected. It sees these alone, and
what it writes is not checked; ``ESOTERIC_LLM`` makes a language model part of the verdict.
"""

from __future__ import annotations

import sys

from haystack import Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.core.errors import PipelineRuntimeError
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

from retrieval.errors import EsotericError
from retrieval.index.open import open_index
from retrieval.models import runtime
from retrieval.models.document_encoders import text_encoder
from retrieval.pipeline.assembly import pipeline_over, resources_over
from retrieval.pipeline.haystack_components import EvidenceRetriever
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES
from settings import Settings

PROMPT = """Explain in two sentences whether the evidence supports the claim. Use nothing else.
Claim: {{ claim }}
Evidence:
{% for document in documents %}- {{ document.content }} ({{ document.meta["title"] }})
{% endfor %}"""


def open_pipeline(url: str, model: str, settings: Settings) -> Pipeline:
    """Return a pipeline from a claim to an explanation of it."""
    runtime.use_threads(settings.threads)
    runtime.keep_in(settings.model_folders.networks)
    encoder = text_encoder(settings.model_folders)
    store = open_index(settings.store, settings.snapshots).open(encoder.name)
    resources = resources_over(store, encoder, settings.model_folders)
    pipeline = Pipeline()
    retriever = EvidenceRetriever(pipeline_over(resources, RECIPES[DEFAULT_RECIPE]))
    pipeline.add_component("evidence", retriever)
    template = [ChatMessage.from_user(PROMPT)]
    pipeline.add_component(
        "prompt", ChatPromptBuilder(template, required_variables=["claim", "documents"])
    )
    key = Secret.from_token("none")  # a server of one's own needs none, but the client wants one
    generator = OpenAIChatGenerator(api_key=key, model=model, api_base_url=url)
    pipeline.add_component("generator", generator)
    pipeline.connect("evidence.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "generator.messages")
    return pipeline


def main(url: str, model: str, claim: str) -> None:
    """Print the verdict and the generator's explanation."""
    pipeline = open_pipeline(url, model, Settings.from_environment())
    data = {"evidence": {"query": claim}, "prompt": {"claim": claim}}
    answers = pipeline.run(data, include_outputs_from={"evidence"})
    verdict = answers["evidence"]["verdict"]
    print(f"{verdict.label} ({verdict.confidence:.2f})")
    print(answers["generator"]["replies"][0].text)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} URL MODEL CLAIM")
    try:
        main(*sys.argv[1:])
    except EsotericError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    except PipelineRuntimeError as error:
        why = str(error).splitlines()[-1]
        sys.exit(
            f"{sys.argv[0]}: The generator gave no answer ({why}). Check that a server with"
            f" OpenAI's chat API runs at {sys.argv[1]} and has the model {sys.argv[2]}."
        )
