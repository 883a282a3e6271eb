"""The names that a recipe may use, and which vectors each of them searches.

``retrieval/pipeline/registry.py`` makes what they name; here nothing heavy is imported, so that
the web process can read recipes too.
"""

from __future__ import annotations

from collections.abc import Mapping

from retrieval.recipes.recipes import Recipe, Vectors

# None: any vectors will do.
FIRST: Mapping[str, Vectors | None] = {
    "spans": None,
    "spans:wikineural": None,
    "titles": None,
    "titles:spacy": None,
    "texts": None,
    "questions": None,
    "questions:t5": None,
    "ranking": "minilm",
    "ranking:each": "minilm",
    "ranking:dpr": "dpr",
    "dense": "minilm",
}
HOP: Mapping[str, Vectors | None] = {
    "sentences": "minilm",
    "sentences:dense": "minilm",
    "sentences:dpr": "dpr",
    "relevance": None,
    "relevance:distilbert": None,
    "paths": "minilm",
    "semantic": None,
    "semantic:mpnet": None,
    "fusion": None,
    "fusion:hybrid": None,
    "verification": None,
    "quantities": None,
    "comparison": None,
    "completion": "minilm",
    "selection": None,
    "selection:proved": None,
    "selection:utility": None,
    "proof": None,
    "bridge": None,
    "verdict": None,
}
NEXT: Mapping[str, Vectors | None] = {"mentions": None, "generation": None, "dense": "minilm"}

# A stage that cannot run unless another one has run before it.
AFTER: Mapping[str, str] = {
    "ranking": "questions",
    "ranking:each": "questions",
    "ranking:dpr": "questions",
    "selection:proved": "proof",
    "bridge": "selection",
}

_MODELS_OF_REPORT = {"spans:wikineural", "questions:t5", "relevance:distilbert"}


def reads_report_models(recipe: Recipe) -> bool:
    """Return whether a recipe needs the models of the ESOTERIC report."""
    return recipe.vectors == "dpr" or not _MODELS_OF_REPORT.isdisjoint((*recipe.first, *recipe.hop))
