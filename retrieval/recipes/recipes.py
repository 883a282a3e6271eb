"""The recipes: which stages check a claim, in which order and with which settings.

Stages have the names of ``stages.toml``: that of the stage and, if it has several implementations,
that of one of them, as in ``selection:proved``. Nothing heavy is imported here, so that the web
process can read recipes too.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeAlias

from retrieval.errors import UnknownRecipe


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """The thresholds, weights and limits of a recipe. Similarities are cosines, unless stated.

    Numbers that belong to one trained model are in the ``config.json`` of its folder. Where the
    report has other values, they are given: its encoders have another scale. The cutoffs are low.
    They drop only what is clearly about something else; the ranking chooses from the rest.
    """

    # Most titles that match, exact ones first, in the stage ``titles:spacy``.
    title_limit: int = 10
    # Least similarity of a disambiguated title to the claim; in ``titles:spacy`` it must be above.
    disambiguation_cutoff: float = 0.25
    disambiguation_limit: int = 5  # disambiguated titles that are kept
    text_limit: int = 200  # documents taken from text match (report, 3.3.7: 1000)
    word_limit: int = 4  # documents found by the claim's words; they are read without being ranked
    # Least similarity of a document to its best question (report, 3.3.9: 0.65 with DPR).
    document_cutoff: float = 0.35
    document_limit: int = 6  # documents that the ranking hands to the sentence stages
    keep_exact_titles: bool = False  # hand on all exact title matches (report, 3.3.9: yes)
    sentence_limit: int = 40  # sentences read alone in the first hop
    expansion_sentence_limit: int = 24  # the same in later hops
    # Added to the similarity of a document whose title, without words in parentheses, is in the
    # claim, and of the sentences of a document that was found by its title
    # (research/notebook.md, "The page of a name among many that begin with it").
    title_bonus: float = 0.1
    # Added to the similarity of a document's first sentence, which names the subject that the
    # others refer to (research/notebook.md, same section).
    first_sentence_bonus: float = 0.1
    relevance_cutoff: float = 0.05  # least probability that a sentence is relevant to the claim
    # Least similarity of a sentence to the claim (report, 3.3.11: 0.7 with all-mpnet-base-v2, which
    # its program does not apply).
    semantic_cutoff: float = 0.1
    semantic_limit: int = 15  # most relevant sentences of a hop that are ranked by similarity too
    verified_sentences: int = 7  # best sentences that the verifier reads, with those on their paths
    verified_paths: int = 4  # paths that it reads as well if none of these settles the claim
    verified_path_cutoff: float = 0.3  # least score of such a path, by the path model
    # Whether the shipped verifier reads what follows from the numbers of a text for the claim
    # (``retrieval/quantities/computed.py``).
    computed: bool = True
    compared_sentences: int = 4  # sentences that it reads for each half of a comparison
    # A sentence keeps its path only if the score of the path, 1 - P(NOT ENOUGH INFO), is by this
    # much higher than that of each of its sentences alone.
    path_gain: float = 0.1
    # A sentence is selected if it has at least this share of the best one's relevance.
    selection_share: float = 0.4
    selection_limit: int = 5  # selected sentences
    unproved_share: float = 0.6  # the same share for a sentence that no part of the proof uses
    bridge_documents: int = 8  # opened once more because the best sentence names them
    # Least score by the path model of the best sentence and one of another document together, for
    # that one to be selected too.
    bridge_cutoff: float = 0.5
    lead_sentences: int = 5  # best sentences that the next hop starts from, selected or not
    expansion_limit: int = 12  # documents that a hop after the first opens
    generation_beams: int = 5  # of title generation (AdMIRaL, A.2: 25)
    generation_sentences: int = 5  # best sentences that title generation reads (AdMIRaL, 4: 5)
    # Whether a document is scored together with those that lead to it, and all documents are ranked
    # by these sets (AdMIRaL, equation 1), or alone.
    generation_joint: bool = False
    # Beam of the search over the titles that the sentences link to or name; 0: no such search, as
    # in the paper.
    generation_named_beams: int = 25
    generation_links: bool = False  # reads the links of a sentence after it (AdMIRaL, 6)
    dense_limit: int = 20  # nearest sentences whose documents dense retrieval proposes
    # Best sentences that the path model reads together with others, and that dense retrieval starts
    # from.
    path_leads: int = 3
    # Most sentences that are read after each of them: this many from the documents that it led to,
    # and this many from the others.
    path_neighbours: int = 7
    path_threshold: float = 0.02  # least product of a path's scores (M3, Algorithm 1: mth)
    path_weight: float = 1.0  # weight of paths in hybrid ranking (M3, Algorithm 1: gamma)
    path_scale: float = 1.0  # factor of the scores of paths that are ranked without it (M3, 6.3)
    # Least probability of "independent" at which a span of the claim is open. Fitted to the
    # sentences that hops find (research/notebook.md); the prover's card has another value, for
    # composed sets of sentences. None: a span is open if that is its most probable operator
    # (AdMIRaL, 3.2).
    independence_cutoff: float | None = 0.25
    # Share of its probabilities of SUPPORTS and REFUTES that a reading keeps which is not about the
    # claim's subject.
    other_subject_share: float = 0.1
    # Least confidence of SUPPORTS and REFUTES; below it the verdict is NOT ENOUGH INFO and only
    # leans towards them. A half: more probable than not.
    decided_cutoff: float = 0.5
    # After this time no further hop begins, and a notice says so. It is a guard against faults: the
    # normal limits are those of hops and sentences.
    seconds: float = 300.0


# The recipe ``report``: the values of the ESOTERIC report with its own models. Here
# ``document_limit`` is for each question (3.3.8), ``document_cutoff`` is a scaled inner product
# (3.3.9), and a sentence is relevant if its label is "relevant" (3.3.10). The report reads every
# sentence of the documents; the limit only prevents that whole books are read. The values for
# titles are those of its program. No sentence is cut off by similarity: the report names 0.7
# (3.3.11), but its program only sorts, and its result page has passages of 0.38 (appendix E).
REPORT = RetrievalConfig(
    title_limit=10,
    disambiguation_cutoff=0.0,
    disambiguation_limit=20,
    text_limit=1000,
    word_limit=0,
    document_cutoff=0.65,
    document_limit=10,
    sentence_limit=1000,
    relevance_cutoff=0.5,
    semantic_cutoff=-1.0,
)


@dataclass(frozen=True, slots=True)
class LanguageModelConfig:
    """How a language model is combined with the verifier (``retrieval/llm_judge``).

    ``esoteric evaluate --llm`` prints the label accuracy of one model, and how often both judges
    give the same label.
    """

    # Assumed probability that the label of a language model on a server is right; its errors are
    # spread equally over the other labels.
    reliability: float = 2 / 3
    # Assumed. Both judges read the same sentences and make the same errors, so the verifier counts
    # for half of what an independent judge would (a power of its probabilities).
    independence: float = 0.5


LANGUAGE_MODEL = LanguageModelConfig()

Ending: TypeAlias = Literal["decided", "proved", "unchanged", "never"]
Vectors: TypeAlias = Literal["minilm", "dpr"]
Model: TypeAlias = Literal["relevance", "path", "verifier", "prover", "dense", "titles", "report"]
"""A folder of ``models/``, or the models of the ESOTERIC report, which are not shipped."""
SHIPPED, NO_MODEL = "shipped", "none"
_DIGITS = 12  # of a digest: enough to tell recipes apart, and short enough to be printed


@dataclass(frozen=True, slots=True)
class Form:
    """One implementation of a stage, which a recipe names by stage, colon and its ``name``."""

    name: str = ""  # "" for the usual one, which needs no colon
    vectors: Vectors | None = None  # that it searches; None: any will do
    after: str = ""  # the stage that must have run before it, "" for none
    models: tuple[Model, ...] = ()  # that it computes with


@dataclass(frozen=True, slots=True)
class StageRecord:
    """What recipes, pages, documents and evaluations know of a stage: a table of ``stages.toml``.

    Its code is in a file of ``retrieval/stages``, whose last mapping says how a recipe's settings
    make it (``retrieval/stages/stage.py``).
    """

    name: str  # as recipes name it
    act: Literal["find", "read", "decide"]  # documents, their sentences, or what these say
    words: str  # what people see while it runs
    # Fields of ``ClaimState``, for the documentation; after a semicolon: those that only some of
    # its forms read.
    reads: str
    changes: str
    # The lists of a recipe that may name it; none: it runs without being named.
    parts: tuple[Literal["first", "hop", "next"], ...] = ("hop",)
    forms: tuple[Form, ...] = (Form(),)  # the usual one first
    file: str = ""  # where it is, in ``retrieval``, if not in a file of its name

    @property
    def path(self) -> str:
        """Its file, in ``retrieval``."""
        return self.file or f"stages/{self.act}/{self.name}.py"

    @property
    def module(self) -> str:
        """Its module."""
        return f"retrieval.{self.path.removesuffix('.py').replace('/', '.')}"

    @property
    def names(self) -> dict[str, Form]:
        """Its forms by the names that recipes use."""
        return {f"{self.name}:{one.name}" if one.name else self.name: one for one in self.forms}


def _record(name: str, keys: dict[str, Any]) -> StageRecord:
    lists = {key: tuple(keys[key]) for key in ("parts",) if key in keys}
    forms = [Form(**{**one, "models": tuple(one.get("models", ()))}) for one in keys["forms"]]
    return StageRecord(name, **{**keys, **lists, "forms": tuple(forms)})


STAGES: Mapping[str, StageRecord] = {
    name: _record(name, {"forms": [{}], **keys})
    for name, keys in tomllib.loads(
        Path(__file__).with_name("stages.toml").read_text(encoding="utf-8")
    ).items()
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """The stages that check a claim, with their settings."""

    name: str  # that users choose it by
    summary: str  # one line for users, with the paper and its sections
    first: tuple[str, ...]  # stages that run once, in order; they find the first hop's documents
    hop: tuple[str, ...]  # stages that run in every hop, in order; the last one gives a verdict
    next: tuple[str, ...]  # expanders that find the next hop's documents: mentions, generation, …
    # What ends the search before ``max_hops``: a verdict of SUPPORTS or REFUTES, a proof without an
    # open part, the same best sentences twice, or nothing.
    ending: Ending
    max_hops: int
    settings: RetrievalConfig = field(default_factory=RetrievalConfig)
    vectors: Vectors = "minilm"  # which of the two kinds of vectors the index must have
    # Whose verdict it is, where that differs from the settings, so that judges can be compared: the
    # folder of a verifier, or ``SHIPPED``; a model at the server of ESOTERIC_LLM, or ``NO_MODEL``.
    verifier: str | None = None
    language_model: str | None = None

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
    def models(self) -> set[Model]:
        """The models that its stages compute with."""
        named = (*self.first, *self.hop, *self.next)
        return {model for name in named for model in record_of(name).names[name].models}

    @property
    def reads_report_models(self) -> bool:
        """Whether it needs the models of the ESOTERIC report."""
        return self.vectors == "dpr" or "report" in self.models

    @property
    def digest(self) -> str:
        """A digest of its stages and settings: with the same one, a recipe does the same.

        Its name and its summary are words only. A judge that it does not name changes nothing.
        """
        does = {
            key: one
            for key, one in asdict(self).items()
            if key not in ("name", "summary") and one is not None
        }
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

        def left(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in names if name not in stages)

        return replace(self, first=left(self.first), hop=left(self.hop), next=left(self.next))


def stage_of(name: str) -> str:
    """Return the stage of an implementation: "selection" for "selection:proved"."""
    return name.partition(":")[0]


def record_of(name: str) -> StageRecord:
    """Return the record of the stage that a recipe names."""
    return STAGES[stage_of(name)]


def _names_in(part: str) -> dict[str, Form]:
    """Return the forms that a list of a recipe may name."""
    records = (record for record in STAGES.values() if part in record.parts)
    return {name: form for record in records for name, form in record.names.items()}


FIRST, HOP, NEXT = _names_in("first"), _names_in("hop"), _names_in("next")
_REPORT_FIRST = ("spans:wikineural", "titles:spacy", "texts", "questions:t5", "ranking:dpr")
_REPORT_HOP = (
    *("sentences:dpr", "relevance:distilbert", "semantic:mpnet", "verification"),
    *("selection", "verdict"),
)
_QUESTIONS = ("spans", "titles", "texts", "questions", "ranking")

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "combined",
            "joins the next three: asks questions, looks for similar meanings, and proves the claim"
            " part by part",
            first=(*_QUESTIONS, "dense"),
            hop=(
                *("sentences", "relevance", "paths", "semantic", "fusion:hybrid", "verification"),
                *("comparison", "completion", "selection", "proof", "selection:proved", "bridge"),
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
                *("sentences", "relevance", "semantic", "verification"),
                *("comparison", "selection", "verdict"),
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
                *("sentences", "relevance", "paths", "semantic", "fusion", "verification"),
                *("comparison", "completion", "selection", "proof", "verdict"),
            ),
            next=("generation",),
            ending="proved",
            max_hops=3,
            settings=RetrievalConfig(generation_joint=True),
        ),
        Recipe(
            "m3",
            "looks for sentences of a similar meaning, round after round, and ranks them in one"
            " list (M3, sections 3.2 to 3.4)",
            first=("spans", "dense"),
            hop=(
                *("sentences", "relevance", "paths", "semantic", "fusion:hybrid", "verification"),
                *("comparison", "completion", "selection", "verdict"),
            ),
            next=("dense",),
            ending="unchanged",
            max_hops=3,
        ),
        Recipe(
            "fer",
            "one round of esoteric; FER's trained selection (section 3) did not help here",
            first=_QUESTIONS,
            hop=(
                *("sentences", "relevance", "semantic", "verification"),
                *("comparison", "selection", "verdict"),
            ),
            next=(),
            ending="decided",
            max_hops=1,
        ),
        Recipe(
            "report",
            "the models and thresholds of the ESOTERIC report: WikiNEuRal, T5, DPR, DistilBERT and"
            " MPNet, from ESOTERIC_REPORT_MODELS (sections 3.3.6 to 3.3.11)",
            first=_REPORT_FIRST,
            hop=_REPORT_HOP,
            next=(),
            ending="decided",
            max_hops=1,
            settings=REPORT,
            vectors="dpr",
        ),
        Recipe(
            "card",
            "the whole chain: report, and up to two more hops to the documents that the evidence"
            " mentions, until it suffices; a language model gives the verdict where one is set",
            first=_REPORT_FIRST,
            hop=_REPORT_HOP,
            next=("mentions",),
            ending="decided",
            max_hops=3,
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
    going_on = [name for name, recipe in recipes.items() if recipe.can_go_on]
    return [*recipes, *(f"{name}+{hops}" for name in going_on for hops in MORE_HOPS)]


def recipe_named(name: str, recipes: Mapping[str, Recipe] = RECIPES) -> Recipe:
    """Return the recipe of this name; "combined+3" is ``combined`` with a search that goes on.

    Raises:
        UnknownRecipe: there is none.
    """
    base, more = base_and_more_hops(name)
    recipe = recipes.get(base)
    if recipe is None or (more and not (recipe.can_go_on and more in MORE_HOPS)):
        raise UnknownRecipe(
            "unknown_recipe",
            f"There is no recipe named {name!r}.",
            f"Use one of: {', '.join(recipes)}.",
        )
    return recipe.going_on(more) if more else recipe
