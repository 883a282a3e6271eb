"""Everything that ``esoteric evaluate`` can measure: the recipes, and baselines to hold them to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evaluation.baselines.ranked import RankedBaseline
from evaluation.predictions import Answer
from retrieval.assembly import Retriever, open_retriever
from retrieval.corpora.corpus import Corpus
from retrieval.errors import UnknownRecipe
from retrieval.recipes import RECIPES
from retrieval.types import Progress, Report


class System(Protocol):
    """Answers claims, one at a time."""

    def warm_up(self) -> None:
        """Load whatever the first claim would wait for."""
        ...

    def answer(self, claim: str) -> Answer:
        """Return the system's answer.

        Raises:
            EsotericError: it has none.
        """
        ...


@dataclass(frozen=True, slots=True)
class Bench:
    """What systems are made from: an index, the corpus it was built of, threads for models.

    ``verifier_base`` is as in ``retrieval.assembly.open_retriever``.
    """

    index: Path
    corpus: Corpus
    threads: int
    verifier_base: Path | None


class RecipeSystem:
    """A recipe of the product."""

    def __init__(self, retriever: Retriever, recipe: str) -> None:
        """Wrap a retriever."""
        self._retriever = retriever
        self._recipe = recipe

    def warm_up(self) -> None:
        """Load the models."""
        self._retriever.warm_up()

    def answer(self, claim: str) -> Answer:
        """Check the claim; raises what ``Retriever.check`` raises."""
        return _answer(self._retriever.check(claim, self._recipe, _ignore))


def _bm25(bench: Bench) -> System:
    from evaluation.baselines.bm25 import Bm25Ranker

    return RankedBaseline(Bm25Ranker(bench.corpus), bench.threads, bench.verifier_base)


def _minilm(bench: Bench) -> System:
    from evaluation.baselines.minilm import MiniLMRanker

    ranker = MiniLMRanker(bench.corpus, bench.index)
    return RankedBaseline(ranker, bench.threads, bench.verifier_base)


def _tfidf(bench: Bench) -> System:
    from evaluation.baselines.tfidf import TfidfRanker

    return RankedBaseline(TfidfRanker(bench.corpus), bench.threads, bench.verifier_base)


BASELINES: dict[str, Callable[[Bench], System]] = {
    "bm25": _bm25,
    "minilm": _minilm,
    "tfidf": _tfidf,
}


def system_names() -> list[str]:
    """Return every name that ``open_system`` knows, recipes first."""
    return [*RECIPES, *BASELINES]


def checked_names(names: str) -> list[str]:
    """Return the names of a comma-separated list, without repetitions; ``all`` is every recipe.

    Raises:
        UnknownRecipe: a name is none of ``system_names``.
    """
    chosen: list[str] = []
    for name in (name.strip() for name in names.split(",")):
        if name != "all" and name not in system_names():
            raise UnknownRecipe(
                "unknown_recipe",
                f"There is no recipe or baseline named {name!r}.",
                f"Use some of: {', '.join(system_names())}, or all.",
            )
        chosen += system_names() if name == "all" else [name]
    return list(dict.fromkeys(chosen))


def open_system(name: str, bench: Bench) -> System:
    """Return the system of this name; ``checked_names`` has let it pass."""
    if name in BASELINES:
        return BASELINES[name](bench)
    return RecipeSystem(open_retriever(bench.index, bench.threads, bench.verifier_base), name)


def _answer(report: Report) -> Answer:
    return Answer(
        label=report.verdict.label,
        confidence=report.verdict.confidence,
        evidence=tuple(
            (item.sentence.document_id, item.sentence.sentence_id)
            for item in report.evidence
            if item.selected
        ),
        ranked=tuple(
            ((item.sentence.document_id, item.sentence.sentence_id), item.score)
            for item in report.evidence
        ),
        pages=tuple(ranked.document.id for ranked in report.documents),
        seconds=report.seconds,
    )


def _ignore(progress: Progress) -> None:
    pass
