"""The recipes: each published system as a choice of the stages that all of them share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from retrieval.errors import UnknownRecipe

FirstHop: TypeAlias = Literal["questions", "dense"]
Ranking: TypeAlias = Literal["alone", "surest", "hybrid"]
Expansion: TypeAlias = Literal["mentions", "generation", "dense"]
Selection: TypeAlias = Literal["relative", "proved", "utility"]
Ending: TypeAlias = Literal["decided", "proved", "unchanged", "never"]
Models: TypeAlias = Literal["shipped", "report"]

_FIRST_STAGES: dict[FirstHop, tuple[str, ...]] = {
    "questions": ("titles", "texts", "questions", "ranking"),
    "dense": ("dense",),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named way through the stages.

    Attributes:
        name: what users ask for.
        summary: one line for people, with the paper and its sections.
        first: where the first hop's documents come from.
        expansions: what leads to the documents of the next hop.
        ranking: whether sentences are read alone or also beside others: from the second hop on
            those that led to them (M3, section 3.3), and wherever no sentence settles the claim.
            These are ranked by the surer of both readings or by Algorithm 1 (section 3.4).
        proof: whether a proof of sufficiency is made (AdMIRaL, section 3.2).
        selection: how the sentences are chosen that the verdict rests on: by relevance, by
            that and the proof, which must be made then, or by their use (FER, section 3.2).
        ending: what ends the search before the limit of hops: a verdict, a proof
            without an open span, the same best sentences twice, or nothing.
        max_hops: rounds of retrieval at most.
        models: whether the shipped models find and rank the evidence or those that the ESOTERIC
            report names, with its thresholds (``config.REPORT``).
    """

    name: str
    summary: str
    first: tuple[FirstHop, ...]
    expansions: tuple[Expansion, ...]
    ranking: Ranking
    proof: bool
    selection: Selection
    ending: Ending
    max_hops: int
    models: Models = "shipped"

    @property
    def stages_first(self) -> tuple[str, ...]:
        """What is done once, in order."""
        return ("spans", *(stage for hop in self.first for stage in _FIRST_STAGES[hop]))

    @property
    def stages_per_hop(self) -> tuple[str, ...]:
        """What is done in each round, in order; ``paths`` is reported from the second on."""
        paths = () if self.ranking == "alone" else ("paths",)
        proof = ("proof",) if self.proof else ()
        following = ("next",) if self.max_hops > 1 else ()
        reading = ("sentences", "relevance", *paths, "semantic", "verification")
        return (*reading, *proof, "verdict", *following)


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "combined",
            "all four: every way to documents and onward, paths read as one, hybrid ranking, a"
            " proof, ended by the verdict",
            first=("questions", "dense"),
            expansions=("mentions", "generation", "dense"),
            ranking="hybrid",
            proof=True,
            selection="proved",
            ending="decided",
            max_hops=3,
        ),
        Recipe(
            "esoteric",
            "spans, title and text match, questions, dense ranking, relevance, verdict"
            " (ESOTERIC report, section 3.3)",
            first=("questions",),
            expansions=("mentions",),
            ranking="alone",
            proof=False,
            selection="relative",
            ending="decided",
            max_hops=2,
        ),
        Recipe(
            "admiral",
            "titles generated from the evidence, ended by a natural-logic proof"
            " (AdMIRaL, sections 3.1 and 3.2)",
            first=("questions",),
            expansions=("generation",),
            ranking="surest",
            proof=True,
            selection="relative",
            ending="proved",
            max_hops=3,
        ),
        Recipe(
            "m3",
            "dense sentence retrieval, hop after hop, reranked and ranked in one list"
            " (M3, sections 3.2 to 3.4)",
            first=("dense",),
            expansions=("dense",),
            ranking="hybrid",
            proof=False,
            selection="relative",
            ending="unchanged",
            max_hops=3,
        ),
        Recipe(
            "fer",
            "evidence selected by what it is worth to the verdict (FER, section 3)",
            first=("questions",),
            expansions=(),
            ranking="alone",
            proof=False,
            selection="utility",
            ending="decided",
            max_hops=1,
        ),
        Recipe(
            "report",
            "the models and thresholds of the ESOTERIC report: WikiNEuRal, T5, DPR, DistilBERT and"
            " MPNet, from ESOTERIC_REPORT_MODELS (sections 3.3.6 to 3.3.11)",
            first=("questions",),
            expansions=(),
            ranking="alone",
            proof=False,
            selection="relative",
            ending="decided",
            max_hops=1,
            models="report",
        ),
    )
}
DEFAULT_RECIPE = "combined"


def recipe_named(name: str) -> Recipe:
    """Return the recipe of this name.

    Raises:
        UnknownRecipe: there is none.
    """
    try:
        return RECIPES[name]
    except KeyError:
        raise UnknownRecipe(
            "unknown_recipe",
            f"There is no recipe named {name!r}.",
            f"Use one of: {', '.join(RECIPES)}.",
        ) from None
