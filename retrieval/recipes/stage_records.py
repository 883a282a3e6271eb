"""Every stage, in one table: what recipes, pages, documents and evaluations know of it.

A record has all but the code. That is in ``retrieval/stages``, mostly in a file of its name, whose
last mapping says how a recipe's settings make the stage (``retrieval/stages/stage.py``).
Nothing heavy is imported here, so that the web process can read recipes too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from retrieval.recipes.recipes import Recipe, Vectors, stage_of

Act: TypeAlias = Literal["find", "read", "decide"]
Part: TypeAlias = Literal["first", "hop", "next"]
"""A list of a recipe that names stages."""
Model: TypeAlias = Literal[
    "relevance", "path", "verifier", "prover", "selector", "dense", "titles", "report"
]
"""A folder of ``models/``, or the models of the ESOTERIC report, which are not shipped."""


@dataclass(frozen=True, slots=True)
class Form:
    """One implementation of a stage, which a recipe names by the stage, a colon and its ``name``.

    Attributes:
        name: "" for the usual one, which needs no colon.
        vectors: those that it searches; None: any will do.
        after: the stage that must have run before it, "" for none.
        models: those that it computes with.
    """

    name: str = ""
    vectors: Vectors | None = None
    after: str = ""
    models: tuple[Model, ...] = ()


@dataclass(frozen=True, slots=True)
class StageRecord:
    """A stage.

    Attributes:
        name: as recipes name it; also that of its file.
        act: whether it finds documents, reads their sentences, or decides what they say.
        words: what people see while it runs.
        reads, changes: fields of ``ClaimState``, for the documentation; after a semicolon: those
            that only some of its forms read.
        parts: the lists of a recipe that may name it; none: it runs without being named.
        forms: its implementations, the usual one first.
        file: where it is, in ``retrieval``, if not in the folder of its act.
    """

    name: str
    act: Act
    words: str
    reads: str
    changes: str
    parts: tuple[Part, ...] = ("hop",)
    forms: tuple[Form, ...] = (Form(),)
    file: str = ""

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


STAGES: Mapping[str, StageRecord] = {
    record.name: record
    for record in (
        StageRecord(
            "spans",
            "find",
            "Find names and phrases in the claim",
            reads="`parsed`",
            changes="`spans`",
            parts=("first",),
            forms=(Form(), Form("wikineural", models=("report",))),
        ),
        StageRecord(
            "titles",
            "find",
            "Look for documents with these titles",
            reads="`parsed`, `spans`",
            changes="`exact`, `disambiguated`",
            parts=("first",),
            forms=(Form(), Form("spacy")),
        ),
        StageRecord(
            "texts",
            "find",
            "Look for documents that mention these names",
            reads="`parsed`, `spans`",
            changes="`by_text`, `by_words`",
            parts=("first",),
            file="stages/find/titles.py",
        ),
        StageRecord(
            "questions",
            "find",
            "Turn the claim into questions",
            reads="`parsed`; `spans`",
            changes="`questions`",
            parts=("first",),
            forms=(Form(), Form("t5", models=("report",))),
        ),
        StageRecord(
            "ranking",
            "find",
            "Choose documents that may answer them",
            reads="`questions`, `exact`, `disambiguated`, `by_text`, `by_words`",
            changes="`candidates`",
            parts=("first",),
            forms=(
                Form(vectors="minilm", after="questions"),
                Form("each", vectors="minilm", after="questions"),
                Form("dpr", vectors="dpr", after="questions", models=("report",)),
            ),
        ),
        StageRecord(
            "dense",
            "find",
            "Look for sentences with a similar meaning",
            reads="`claim`, `candidates`; `evidence`, `read`",
            changes="`candidates`",
            parts=("first", "next"),
            forms=(Form(vectors="minilm", models=("dense",)),),
        ),
        StageRecord(
            "sentences",
            "read",
            "Open the documents",
            reads="`claim`, `candidates`, `documents`; `evidence`, `read`",
            changes="`opened`, `documents`, `chosen`",
            forms=(
                Form(vectors="minilm"),
                Form("dense", vectors="minilm", models=("dense",)),
                Form("dpr", vectors="dpr", models=("report",)),
            ),
        ),
        StageRecord(
            "relevance",
            "read",
            "Rate each sentence",
            reads="`claim`, `chosen`, `documents`, `read`",
            changes="`read`, `relevant`: of copies the most relevant one",
            forms=(Form(models=("relevance",)), Form("distilbert", models=("report",))),
        ),
        StageRecord(
            "paths",
            "read",
            "Read sentences together",
            reads="`claim`, `evidence`, `read`, `documents`, `paths`",
            changes="`paths`",
            forms=(Form(vectors="minilm", models=("path", "dense")),),
        ),
        StageRecord(
            "semantic",
            "read",
            "Pick the closest sentences",
            reads="`claim`, `relevant`, `ranked`, `passages`, `evidence`",
            changes="`ranked`, `passages`, `evidence`",
            forms=(Form(), Form("mpnet")),
        ),
        StageRecord(
            "fusion",
            "read",
            "Rank sentences and paths together",
            reads="`ranked`, `paths`, `passages`, `evidence`",
            changes="`passages`, `evidence`: sentences and paths in one ranking",
            forms=(Form(), Form("hybrid")),
        ),
        StageRecord(
            "verification",
            "decide",
            "Label the best sentences",
            reads="`claim`, `parsed`, `evidence`, `documents`, `readings`",
            changes="`evidence`: labelled (less where it is about another subject),"
            " the rest dropped; `readings`",
            forms=(Form(models=("verifier",)),),
        ),
        StageRecord(
            "quantities",
            "decide",
            "Compare numbers, units and dates",
            reads="`claim`, `parsed`, `evidence`, `read`",
            changes="`evidence`: labelled by arithmetic, these first; `rulings`",
            forms=(Form(models=("verifier",)),),
        ),
        StageRecord(
            "comparison",
            "decide",
            "Look up both sides of a comparison",
            reads="`parsed`, `evidence`, `read`, `rulings`",
            changes="`evidence`: the sentences that decide a comparison, first; `rulings`",
            forms=(Form(models=("verifier",)),),
        ),
        StageRecord(
            "completion",
            "decide",
            "Read sentences that may complete them",
            reads="`claim`, `parsed`, `evidence`, `read`, `documents`, `paths`, `readings`",
            changes="`paths`, `evidence`, `readings`",
            forms=(Form(vectors="minilm", models=("path", "verifier", "dense")),),
        ),
        StageRecord(
            "selection",
            "decide",
            "Select the evidence",
            reads="`evidence`, `spans`, `read`; `proof`; `claim`, `readings`",
            changes="`evidence`: which is selected, with the best sentence of the other side;"
            " `selection`",
            forms=(
                Form(),
                Form("proved", after="proof"),
                Form("utility", models=("selector",)),
            ),
        ),
        StageRecord(
            "proof",
            "decide",
            "Prove the claim part by part",
            reads="`parsed`, `evidence`",
            changes="`proof`",
            forms=(Form(models=("prover",)),),
        ),
        StageRecord(
            "bridge",
            "decide",
            "Look for what belongs to the best sentence",
            reads="`claim`, `spans`, `evidence`, `read`, `documents`",
            changes="`named`, `documents`, `read`; `evidence`: one more selected; `passages`,"
            " `readings`",
            forms=(Form(after="selection", models=("path", "verifier")),),
        ),
        StageRecord(
            "verdict",
            "decide",
            "Give the verdict",
            reads="`claim`, `parsed`, `evidence`, `rulings`",
            changes="`verdict`, `read_words`",
            forms=(Form(models=("verifier",)),),
        ),
        StageRecord(
            "explain",
            "decide",
            "Ask the language model",
            reads="`claim`, `evidence`, `verdict`",
            changes="`verdict`",
            parts=(),
            file="llm_judge/explainer.py",
        ),
        StageRecord(
            "next",
            "find",
            "Look for what is missing",
            reads="`claim`, `spans`, `evidence`, `proof`, `documents`, `by_sets`",
            changes="`candidates`, `by_sets`",
            parts=(),
        ),
        # Expanders: what the stage ``next`` asks. Progress names them in older results only.
        StageRecord(
            "mentions",
            "find",
            "Look for what the evidence mentions",
            reads="`spans`, `evidence`, `documents`",
            changes="`candidates`, through `next`",
            parts=("next",),
            file="stages/find/next.py",
        ),
        StageRecord(
            "generation",
            "find",
            "Look for titles that a model predicts",
            reads="`claim`, `evidence`, `documents`",
            changes="`candidates`, through `next`",
            parts=("next",),
            forms=(Form(models=("titles",)),),
        ),
    )
}


def _names_in(part: Part) -> dict[str, Form]:
    """Return the forms that a list of a recipe may name."""
    records = (record for record in STAGES.values() if part in record.parts)
    return {name: form for record in records for name, form in record.names.items()}


FIRST, HOP, NEXT = _names_in("first"), _names_in("hop"), _names_in("next")


def record_of(name: str) -> StageRecord:
    """Return the record of the stage that a recipe names."""
    return STAGES[stage_of(name)]


def models_of(recipe: Recipe) -> set[Model]:
    """Return the models that the stages of a recipe compute with."""
    named = (*recipe.first, *recipe.hop, *recipe.next)
    return {model for name in named for model in record_of(name).names[name].models}


def reads_report_models(recipe: Recipe) -> bool:
    """Return whether a recipe needs the models of the ESOTERIC report."""
    return recipe.vectors == "dpr" or "report" in models_of(recipe)
