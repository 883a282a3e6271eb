"""Everything that ``esoteric evaluate`` can measure.

The recipes, baselines to compare them with, ablations: the combined recipe
without one of its parts, and variants: a recipe that does as its paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from research.evaluation.baselines import (
    Bm25Ranker,
    MiniLMRanker,
    RankedBaseline,
    Ranker,
    TfidfRanker,
)
from research.evaluation.provenance import PAIRS
from research.evaluation.run import Answer, System
from retrieval.errors import BadRecipe, UnknownRecipe
from retrieval.index.interface import DocumentStore
from retrieval.index.open import IndexLocation, open_index
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.explainer import Explainer
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.papers.report_models import present_models
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipe_files import is_recipe_file, keep_recipe, read_recipe
from retrieval.recipes.recipes import RECIPES, Recipe
from retrieval.system.packages import require_research
from retrieval.types import Report


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
        report = self.report(claim)
        ranked = [(item.key, item.score) for item in report.evidence]
        return Answer.of(report, ranked, [one.document.id for one in report.documents])

    def report(self, claim: str) -> Report:
        """Check the claim; raises what ``Retriever.follow`` raises."""
        return self._retriever.follow(self._recipe, claim, lambda progress: None)


BASELINES: dict[str, Callable[[DocumentStore], Ranker]] = {
    "bm25": Bm25Ranker,
    "minilm": MiniLMRanker,
    "tfidf": TfidfRanker,
}


def _changed_recipe(name: str, change: Mapping[str, Any]) -> Recipe:
    """Return the recipe that ``name`` begins with, changed (``changed_recipes.yaml``)."""
    recipe = RECIPES[name.partition("-")[0]].without(*change.get("without", ()))
    instead = change.get("instead", {})
    changed: dict[str, Any] = {
        part: tuple(instead.get(stage, stage) for stage in change.get(part, getattr(recipe, part)))
        for part in ("first", "hop", "next")
    }
    changed |= {key: change[key] for key in ("ending", "max_hops") if key in change}
    settings = replace(recipe.settings, **change.get("settings", {}))
    return replace(recipe, **changed, settings=settings)


_CHANGES = yaml.safe_load(Path(__file__).with_name("changed_recipes.yaml").read_text("utf-8"))
ABLATIONS: dict[str, Recipe] = {
    name: _changed_recipe(name, change) for name, change in _CHANGES["ablations"].items()
}
VARIANTS: dict[str, Recipe] = {
    name: replace(_changed_recipe(name, change), name=name, summary=change["summary"])
    for name, change in _CHANGES["variants"].items()
}


# ``report`` and ``card`` need other vectors, with which no other system can be measured.
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
    return any(name not in BASELINES and recipe_of(name, own).reads_report_models for name in names)


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
        if name != "minilm":
            require_research(f"The baseline {name}")
        vectors = MiniLMEncoder.name if name == "minilm" else None
        store = open_index(bench.index, bench.snapshots).open(vectors)
        return RankedBaseline(name, BASELINES[name](store), store, bench.folders)
    # Answers of the model are not stored: the evaluation stores predictions and measures calls.
    explains = Explainer(bench.llm, kept=None) if bench.llm else None
    retriever = Retriever(bench.index, bench.snapshots, 1, bench.folders, explains)
    return RecipeSystem(retriever, recipe_of(name, bench.own))


_KEPT = "recipe.yaml"


def named_systems(names: str) -> tuple[list[str], dict[str, Recipe]]:
    """Return the names in a comma-separated list of names and files, and the files' recipes.

    Raises:
        UnknownRecipe: a name is not known.
        BadRecipe: a file cannot be used, or its recipe has the name of another system.
    """
    own: dict[str, Recipe] = {}
    systems: list[str] = []
    for given in (name.strip() for name in names.split(",")):
        if not is_recipe_file(given):
            systems += checked_names(given)
            continue
        recipe = read_recipe(Path(given))
        taken = own.get(recipe.name, RECIPES.get(recipe.name))
        reserved = recipe.name in (*system_names(), PAIRS) and taken is None
        if reserved or taken not in (None, recipe):
            raise BadRecipe(
                "recipe_twice",
                f"{given}: {recipe.name} is the name of another recipe or baseline.",
                "Choose another name in the file.",
            )
        own[recipe.name] = recipe
        systems.append(recipe.name)
    return list(dict.fromkeys(systems)), own


def with_kept(out: Path, own: Mapping[str, Recipe], systems: Sequence[str]) -> dict[str, Recipe]:
    """Keep these recipes below ``out``, and return them with those that are there from before.

    Raises:
        BadSource: results of another recipe with the same name are there.
        BadRecipe: a kept file cannot be used.
    """
    for name, recipe in own.items():
        (out / name).mkdir(parents=True, exist_ok=True)
        keep_recipe(out / name / _KEPT, recipe)
    files = (path for path in sorted(out.glob(f"*/{_KEPT}")) if path.parent.name not in systems)
    return {**own, **{recipe.name: recipe for recipe in map(read_recipe, files)}}
