"""Everything that ``esoteric evaluate`` can measure.

The recipes, baselines to compare them with, ablations: the combined recipe
without one of its parts, and variants: a recipe that does as its paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from research.evaluation.baselines import (
    Bm25Ranker,
    MiniLMRanker,
    RankedBaseline,
    Ranker,
    TfidfRanker,
)
from research.evaluation.predictions import Answer, AnswerHop
from retrieval.errors import UnknownRecipe
from retrieval.index.interface import DocumentStore
from retrieval.index.open import IndexLocation, open_index
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.explainer import Explainer
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.papers.report_models import present_models
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import RECIPES, Recipe
from retrieval.recipes.stage_records import reads_report_models
from retrieval.system.optional import require_research
from retrieval.types import Progress, Report


class System(Protocol):
    """Answers claims, one at a time."""

    def warm_up(self) -> None:
        """Load everything that the first claim needs."""
        ...

    def answer(self, claim: str) -> Answer:
        """Return the system's answer.

        Raises:
            EsotericError: there is no answer.
        """
        ...

    def report(self, claim: str) -> Report:
        """Return the report; that of a baseline has no documents and no hops.

        Raises:
            EsotericError: there is no answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Bench:
    """What systems are made from, in each process: an index and the folders of the models.

    ``snapshots``: see ``open_index``. ``llm``: the language model that is asked at the end.
    ``own``: recipes from files, by their names.
    """

    index: IndexLocation
    snapshots: Path
    folders: ModelFolders
    llm: LanguageModelChoice | None = None
    own: Mapping[str, Recipe] = field(default_factory=dict)


class RecipeSystem:
    """A recipe, an ablation or a variant."""

    def __init__(self, retriever: Retriever, recipe: Recipe) -> None:
        """Wrap a retriever."""
        self._retriever = retriever
        self._recipe = recipe

    def warm_up(self) -> None:
        """Load the models."""
        self._retriever.warm_up(self._recipe)

    def answer(self, claim: str) -> Answer:
        """Check the claim; raises what ``Retriever.follow`` raises."""
        return _answer(self.report(claim))

    def report(self, claim: str) -> Report:
        """Check the claim; raises what ``Retriever.follow`` raises."""
        return self._retriever.follow(self._recipe, claim, _ignore)


def _bm25(store: DocumentStore) -> Ranker:
    require_research("The baseline bm25")
    return Bm25Ranker(store)


def _tfidf(store: DocumentStore) -> Ranker:
    require_research("The baseline tfidf")
    return TfidfRanker(store)


BASELINES: dict[str, Callable[[DocumentStore], Ranker]] = {
    "bm25": _bm25,
    "minilm": MiniLMRanker,
    "tfidf": _tfidf,
}


def _instead(recipe: Recipe, stage: str, other: str) -> Recipe:
    """Return the recipe with another implementation of a stage."""
    first, hop = (
        tuple(other if name == stage else name for name in names)
        for names in (recipe.first, recipe.hop)
    )
    return replace(recipe, first=first, hop=hop)


def _set(recipe: Recipe, **settings: Any) -> Recipe:
    """Return the recipe with other values of these settings."""
    return replace(recipe, settings=replace(recipe.settings, **settings))


_WHOLE = RECIPES["combined"]
ABLATIONS: dict[str, Recipe] = {
    f"{_WHOLE.name}-{name}": changed
    for name, changed in {
        "one-hop": replace(_WHOLE, max_hops=1),
        "always-three": replace(_WHOLE, ending="never"),
        "without-proof": _WHOLE.without("proof", "selection:proved"),
        "without-hybrid": _instead(_WHOLE, "fusion:hybrid", "fusion"),
        "without-bridge": _WHOLE.without("bridge"),
        "without-quantities": _WHOLE.without("quantities"),
        "without-comparison": _WHOLE.without("comparison"),
        "without-completion": _WHOLE.without("completion"),
        "without-subject": _set(_WHOLE, other_subject_share=1.0),
        "without-paths": _WHOLE.without("paths", "fusion:hybrid", "completion"),
        "without-questions": _WHOLE.without("titles", "texts", "questions", "ranking"),
        **{
            f"without-{name}": replace(_WHOLE, next=tuple(n for n in _WHOLE.next if n != name))
            for name in _WHOLE.next
        },
        # It found no more than the others did, so it was left out (docs/recipes.md).
        "with-generation": replace(_WHOLE, next=("mentions", "generation", "dense")),
    }.items()
}


_ESOTERIC, _ADMIRAL, _M3, _FER = (RECIPES[name] for name in ("esoteric", "admiral", "m3", "fer"))
_M3_RANKING = _M3.without("verification", "quantities", "comparison", "completion")
# Each does as the paper does where its recipe departs from it; docs/recipes.md has the figures.
VARIANTS: dict[str, Recipe] = {
    name: replace(changed, name=name, summary=summary)
    for name, summary, changed in (
        (
            "esoteric-ten-a-question",
            "ten documents for each question, and all exact titles (report, 3.3.8)",
            _set(_instead(_ESOTERIC, "ranking", "ranking:each"), document_limit=10),
        ),
        (
            "esoteric-all-titles",
            "all exact titles are read, however many there are (report, 3.3.9)",
            _set(_ESOTERIC, keep_exact_titles=True),
        ),
        (
            "esoteric-thousand-texts",
            "text match passes on 1000 documents (report, 3.3.7)",
            _set(_ESOTERIC, text_limit=1000),
        ),
        (
            "esoteric-without-words",
            "no documents by the claim's words (report, 3.3.7)",
            _set(_ESOTERIC, word_limit=0),
        ),
        (
            "esoteric-every-sentence",
            "of the opened documents every sentence is read (report, 3.3.10)",
            _set(_ESOTERIC, sentence_limit=1000, expansion_sentence_limit=1000),
        ),
        (
            "esoteric-by-similarity",
            "of sentences more probably relevant than not the most similar first (report, 3.3.11)",
            _set(_instead(_ESOTERIC, "semantic", "semantic:mpnet"), relevance_cutoff=0.5),
        ),
        (
            "esoteric-one-hop",
            "one hop (report, 3.3)",
            replace(_ESOTERIC, max_hops=1),
        ),
        (
            "admiral-most-probable",
            "a part of the claim is open if that is its most probable operator (AdMIRaL, 3.2)",
            _set(_ADMIRAL, independence_cutoff=None),
        ),
        (
            "admiral-25-beams",
            "titles are generated with 25 beams (AdMIRaL, A.2)",
            _set(_ADMIRAL, generation_beams=25),
        ),
        (
            "admiral-top-1",
            "titles are generated from the best sentence alone (AdMIRaL, table 3: Top-1)",
            _set(_ADMIRAL, generation_sentences=1),
        ),
        (
            "admiral-not-joint",
            "documents are scored alone, and no set ranks them (AdMIRaL, table 3: Not-joint)",
            _set(_ADMIRAL, generation_joint=False),
        ),
        (
            "admiral-without-named",
            "titles that the sentences name get no search of their own (AdMIRaL, 3.1)",
            _set(_ADMIRAL, generation_named_beams=0),
        ),
        (
            "admiral-hyperlinks",
            "title generation reads links after their sentences, if there are any (AdMIRaL, 6)",
            _set(_ADMIRAL, generation_links=True),
        ),
        (
            "admiral-without-paths",
            "sentences are read alone (AdMIRaL, 3.1)",
            _ADMIRAL.without("paths", "fusion", "completion"),
        ),
        (
            "m3-sentences",
            "each hop hands on and reranks the 200 nearest sentences, not documents (M3, 4)",
            _set(
                _instead(_M3, "sentences", "sentences:dense"),
                dense_limit=200,
                expansion_limit=600,
                sentence_limit=200,
                expansion_sentence_limit=200,
            ),
        ),
        (
            "m3-hybrid",
            "paths and sentences ranked by Algorithm 1, not by the verifier (M3, 6.3)",
            _M3_RANKING,
        ),
        (
            "m3-threshold",
            "likewise, by score: paths above a threshold, and sentences (M3, 6.3)",
            _instead(_M3_RANKING, "fusion:hybrid", "fusion"),
        ),
        (
            "m3-scale",
            "likewise, by score: all paths, scaled by .9, and sentences (M3, 6.3)",
            _set(
                _instead(_M3_RANKING, "fusion:hybrid", "fusion"),
                path_threshold=0.0,
                path_scale=0.9,
            ),
        ),
        (
            "m3-without-completion",
            "no more paths are read if no sentence settles the claim (M3, 3.3)",
            _M3.without("completion"),
        ),
        (
            "fer-25",
            "25 candidates, however little relevant (FER, 4.1)",
            _set(
                _FER,
                utility_candidates=25,
                verified_sentences=25,
                semantic_limit=25,
                relevance_cutoff=0.0,
                semantic_cutoff=-1.0,
            ),
        ),
        (
            "fer-10",
            "10 candidates (FER, 4.4)",
            _set(_FER, utility_candidates=10, verified_sentences=10),
        ),
        (
            "fer-retriever-alone",
            "sentences are selected before the verifier reads them (FER, 3.2)",
            replace(
                _FER,
                hop=(
                    "sentences",
                    "relevance",
                    "semantic",
                    "selection:utility",
                    "verification",
                    "quantities",
                    "comparison",
                    "verdict",
                ),
            ),
        ),
        (
            "combined-fer",
            "the default recipe with FER's selection (FER, 3.2)",
            _instead(_WHOLE, "selection", "selection:utility"),
        ),
    )
}


# The recipe ``report`` needs other vectors, with which no other system can be measured.
_SHIPPED = [name for name, recipe in RECIPES.items() if recipe.vectors == "minilm"]
_SEVERAL = {"all": [*_SHIPPED, *BASELINES], "ablations": [*ABLATIONS], "variants": [*VARIANTS]}
_CHANGED = ABLATIONS | VARIANTS
_NONE: Mapping[str, Recipe] = {}


def system_names() -> list[str]:
    """Return every name that ``open_system`` knows, recipes first, variants last."""
    return [*RECIPES, *BASELINES, *_CHANGED]


def checked_names(names: str) -> list[str]:
    """Return the names of a comma-separated list, without repetitions.

    ``all`` is every baseline and every recipe of the shipped models, ``ablations`` every ablation,
    ``variants`` every variant.

    Raises:
        UnknownRecipe: a name is not one of ``system_names``.
    """
    chosen: list[str] = []
    for name in (name.strip() for name in names.split(",")):
        if name not in _SEVERAL and name not in system_names():
            raise UnknownRecipe(
                "unknown_recipe",
                f"There is no recipe or baseline named {name!r}.",
                f"Use some of: {', '.join(system_names())}, or all, ablations or variants.",
            )
        chosen += _SEVERAL.get(name, [name])
    return list(dict.fromkeys(chosen))


def recipe_of(name: str, own: Mapping[str, Recipe] = _NONE) -> Recipe:
    """Return the recipe, the ablation or the variant of this name; ``own`` are those from files."""
    return (RECIPES | _CHANGED | dict(own))[name]


def searches_dpr(name: str, own: Mapping[str, Recipe]) -> bool:
    """Return whether a system needs an index with vectors of DPR."""
    return name not in BASELINES and recipe_of(name, own).vectors == "dpr"


def any_reads_report_models(names: Sequence[str], own: Mapping[str, Recipe] = _NONE) -> bool:
    """Return whether one of these systems reads the models of the report."""
    return any(
        name not in BASELINES and reads_report_models(recipe_of(name, own)) for name in names
    )


def folders_used(
    names: Sequence[str], folders: ModelFolders, own: Mapping[str, Recipe] = _NONE
) -> ModelFolders:
    """Return the folders of the models that systems of these names use.

    Raises:
        ModelUnavailable: a system needs models of the report, and some are missing.
    """
    if any_reads_report_models(names, own):
        present_models(folders.report)
        return folders
    return replace(folders, report=None)


def open_system(name: str, bench: Bench) -> System:
    """Return the system of this name, as from ``checked_names``; it uses one thread.

    Raises:
        IndexUnavailable: there is no index.
    """
    if name in BASELINES:
        vectors = MiniLMEncoder.name if name == "minilm" else None
        store = open_index(bench.index, bench.snapshots).open(vectors)
        return RankedBaseline(name, BASELINES[name](store), store, bench.folders)
    # Answers of the model are not stored: the evaluation stores predictions and measures calls.
    explains = Explainer(bench.llm, kept=None) if bench.llm else None
    retriever = Retriever(bench.index, bench.snapshots, 1, bench.folders, explains)
    return RecipeSystem(retriever, recipe_of(name, bench.own))


def _answer(report: Report) -> Answer:
    return Answer(
        label=report.verdict.label,
        confidence=report.verdict.confidence,
        evidence=tuple(item.key for item in report.evidence if item.selected),
        ranked=tuple((item.key, item.score) for item in report.evidence),
        pages=tuple(ranked.document.id for ranked in report.documents),
        hops=tuple(AnswerHop(hop.sufficient, hop.label, hop.best) for hop in report.hops),
        retrieved=report.retrieved,
        seconds=report.seconds,
    )


def _ignore(progress: Progress) -> None:
    pass
