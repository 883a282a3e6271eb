"""The recipes: which stages check a claim, in which order and with which settings.

Stages have the names of ``retrieval/recipes/stage_records.py``: that of the stage and, if it has
several implementations, that of one of them, as in ``selection:utility``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Literal, TypeAlias

from retrieval.errors import UnknownRecipe
from retrieval.recipes.config import REPORT, RetrievalConfig

Ending: TypeAlias = Literal["decided", "proved", "unchanged", "never"]
Vectors: TypeAlias = Literal["minilm", "dpr"]
_DIGITS = 12  # of a digest: enough to tell recipes apart, and short enough to be printed


@dataclass(frozen=True, slots=True)
class Recipe:
    """The stages that check a claim, with their settings.

    Attributes:
        name: the name that users choose it by.
        summary: one line for users, with the paper and its sections.
        first: stages that run once, in order; they find the documents of the first hop.
        hop: stages that run in every hop, in order; the last one gives a verdict.
        next: the expanders that find the documents of the next hop: mentions, generation, dense.
        ending: what ends the search before ``max_hops``: a verdict of SUPPORTS or REFUTES, a proof
            without an open part, the same best sentences twice, or nothing.
        max_hops: most hops.
        settings: thresholds and limits of the stages.
        vectors: which of the two kinds of vectors the index must have.
    """

    name: str
    summary: str
    first: tuple[str, ...]
    hop: tuple[str, ...]
    next: tuple[str, ...]
    ending: Ending
    max_hops: int
    settings: RetrievalConfig = field(default_factory=RetrievalConfig)
    vectors: Vectors = "minilm"

    @property
    def stages_first(self) -> tuple[str, ...]:
        """The names of the stages that run once, as progress reports them."""
        return tuple(dict.fromkeys(map(stage_of, self.first)))

    @property
    def stages_per_hop(self) -> tuple[str, ...]:
        """The same of those of each hop; the last hop has no ``next``."""
        following = ("next",) if self.max_hops > 1 else ()
        return tuple(dict.fromkeys((*map(stage_of, self.hop), *following)))

    @property
    def digest(self) -> str:
        """A digest of its stages and settings: with the same one, a recipe does the same.

        Its name and its summary are words only.
        """
        does = {key: one for key, one in asdict(self).items() if key not in ("name", "summary")}
        return sha256(json.dumps(does, sort_keys=True).encode()).hexdigest()[:_DIGITS]

    @property
    def can_go_on(self) -> bool:
        """Whether its search can go on after its last hop: it finds documents for a next one."""
        return bool(self.next)

    def going_on(self, hops: int) -> Recipe:
        """Return the recipe of a search that goes on for this many more hops.

        Its first hop is the same, so what that finds is found again. Each later one reads twice as
        much, and no verdict ends the search.
        """
        settings = self.settings
        return replace(
            self,
            name=f"{self.name}+{hops}",
            ending="never",
            max_hops=self.max_hops + hops,
            settings=replace(
                settings,
                expansion_limit=2 * settings.expansion_limit,
                expansion_sentence_limit=2 * settings.expansion_sentence_limit,
                seconds=2 * settings.seconds,
            ),
        )

    def without(self, *stages: str) -> Recipe:
        """Return the recipe without these stages."""
        return replace(
            self,
            first=tuple(stage for stage in self.first if stage not in stages),
            hop=tuple(stage for stage in self.hop if stage not in stages),
            next=tuple(stage for stage in self.next if stage not in stages),
        )


def stage_of(name: str) -> str:
    """Return the stage of an implementation: "selection" for "selection:utility"."""
    return name.partition(":")[0]


_QUESTIONS = ("spans", "titles", "texts", "questions", "ranking")

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "combined",
            "joins the next four: asks questions, looks for similar meanings, chooses the sentences"
            " that help most, and proves the claim part by part",
            first=(*_QUESTIONS, "dense"),
            hop=(
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "proof",
                "selection:proved",
                "bridge",
                "verdict",
            ),
            next=("mentions", "dense"),
            ending="decided",
            max_hops=2,
            # More pairs than in other recipes: more two-hop claims are decided, others as before.
            settings=RetrievalConfig(
                path_leads=4, path_neighbours=10, verified_paths=8, verified_path_cutoff=0.1
            ),
        ),
        Recipe(
            "esoteric",
            "asks questions about the claim, and reads documents that may answer them (ESOTERIC"
            " report, section 3.3)",
            first=_QUESTIONS,
            hop=(
                "sentences",
                "relevance",
                "semantic",
                "verification",
                "quantities",
                "comparison",
                "selection",
                "verdict",
            ),
            next=("mentions",),
            ending="decided",
            max_hops=2,
        ),
        Recipe(
            "admiral",
            "guesses from the evidence what to read next, and proves the claim part by part"
            " (AdMIRaL, sections 3.1 and 3.2)",
            first=_QUESTIONS,
            hop=(
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "proof",
                "verdict",
            ),
            next=("generation",),
            ending="proved",
            max_hops=3,
            settings=RetrievalConfig(generation_joint=True),
        ),
        Recipe(
            "m3",
            "looks for sentences of a similar meaning, hop after hop, and ranks them in one list"
            " (M3, sections 3.2 to 3.4)",
            first=("spans", "dense"),
            hop=(
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "verdict",
            ),
            next=("dense",),
            ending="unchanged",
            max_hops=3,
        ),
        Recipe(
            "fer",
            "chooses the sentences that help most to decide (FER, section 3)",
            first=_QUESTIONS,
            hop=(
                "sentences",
                "relevance",
                "semantic",
                "verification",
                "quantities",
                "comparison",
                "selection:utility",
                "verdict",
            ),
            next=(),
            ending="decided",
            max_hops=1,
        ),
        Recipe(
            "report",
            "the models and thresholds of the ESOTERIC report: WikiNEuRal, T5, DPR, DistilBERT and"
            " MPNet, from ESOTERIC_REPORT_MODELS (sections 3.3.6 to 3.3.11)",
            first=("spans:wikineural", "titles:spacy", "texts", "questions:t5", "ranking:dpr"),
            hop=(
                "sentences:dpr",
                "relevance:distilbert",
                "semantic:mpnet",
                "verification",
                "selection",
                "verdict",
            ),
            next=(),
            ending="decided",
            max_hops=1,
            settings=REPORT,
            vectors="dpr",
        ),
    )
}
DEFAULT_RECIPE = "combined"
# How many hops a search may go on for: first three, then again.
MORE_HOPS = (3, 6, 9)


def base_and_more_hops(name: str) -> tuple[str, int]:
    """Return the name of a recipe without its number of more hops, and that number, 0 if none."""
    base, plus, more = name.partition("+")
    return (base, int(more)) if plus and re.fullmatch("[1-9]", more) else (name, 0)


def names_of(recipes: Mapping[str, Recipe]) -> list[str]:
    """Return all names that ``recipe_named`` knows."""
    further = [
        f"{name}+{hops}"
        for name, recipe in recipes.items()
        if recipe.can_go_on
        for hops in MORE_HOPS
    ]
    return [*recipes, *further]


def recipe_named(name: str, recipes: Mapping[str, Recipe] = RECIPES) -> Recipe:
    """Return the recipe of this name; "combined+3" is ``combined`` with a search that goes on.

    Raises:
        UnknownRecipe: there is none.
    """
    base, more = base_and_more_hops(name)
    try:
        recipe = recipes[base]
        if not more:
            return recipe
        if recipe.can_go_on and more in MORE_HOPS:
            return recipe.going_on(more)
        raise KeyError(name)
    except KeyError:
        raise UnknownRecipe(
            "unknown_recipe",
            f"There is no recipe named {name!r}.",
            f"Use one of: {', '.join(recipes)}.",
        ) from None
