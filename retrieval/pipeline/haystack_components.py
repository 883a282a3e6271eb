"""The stages of a recipe as components of a Haystack pipeline.

    from haystack import Pipeline            # your own pipeline
    pipeline.add_component("evidence", EvidenceRetriever(checker))

``EvidenceRetriever`` is ESOTERIC as one retriever. ``haystack_pipeline`` returns a pipeline with
one component for each stage, which can be replaced or inspected. The components pass the
``ClaimState`` on. Haystack copies every input of a component; a state never changes, so it is its
own copy.
"""

from __future__ import annotations

from typing import Any

from retrieval.system.fixes import install_extra_command

try:
    from haystack import Document, Pipeline, component
    from haystack.components.joiners import BranchJoiner
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error}: Haystack is not installed. Run: {install_extra_command('haystack')}"
    ) from error

from retrieval.claim import read_claim
from retrieval.pipeline.check import Pipeline as ClaimChecker
from retrieval.pipeline.check import stages_of
from retrieval.recipes.recipes import Recipe
from retrieval.stages.ending import hop_ended, nothing_new, reason_to_stop
from retrieval.stages.stage import ClaimState, Resources, Stage
from retrieval.text.english import EnglishParser
from retrieval.types import Evidence, Progress, Verdict


@component
class EvidenceRetriever:
    """Checks a claim and returns the selected evidence, best first, as Haystack documents."""

    def __init__(self, checker: ClaimChecker) -> None:
        """``checker`` comes from ``retrieval.pipeline.assembly.pipeline_over``."""
        self._checker = checker

    def warm_up(self) -> None:
        """Load the models."""
        self._checker.warm_up()

    @component.output_types(documents=list[Document], verdict=Verdict)
    def run(self, query: str) -> dict[str, Any]:
        """Return one document for each selected sentence, and the verdict.

        ``meta`` has the title, the url, the id of the sentence's document, its stance and context.

        Raises:
            InvalidClaim: the query cannot be checked.
        """
        report = self._checker.check(query, _ignore)
        documents = [_document(item) for item in report.evidence if item.selected]
        return {"documents": documents, "verdict": report.verdict}


@component
class ClaimReader:
    """Reads and parses the claim."""

    def __init__(self, parser: EnglishParser) -> None:
        """``parser`` finds words, their kinds and their relations."""
        self._parser = parser

    def warm_up(self) -> None:
        """Load the parser."""
        self._parser.warm_up()

    @component.output_types(state=ClaimState)
    def run(self, claim: str) -> dict[str, ClaimState]:
        """Return the state that the first stage begins with.

        Raises:
            InvalidClaim: the text cannot be checked.
        """
        text = read_claim(claim, anyway=True).text
        return {"state": ClaimState(text, self._parser.parse(text))}


@component
class StageComponent:
    """A stage as a component, without its message."""

    def __init__(self, stage: Stage) -> None:
        """Run ``stage``."""
        self._stage = stage

    def warm_up(self) -> None:
        """Load the models of the stage."""
        self._stage.warm_up()

    @component.output_types(state=ClaimState)
    def run(self, state: ClaimState) -> dict[str, ClaimState]:
        """Return the state after the stage."""
        return {"state": self._stage.run(state).state}


@component
class HopEnd:
    """Ends a hop: another one follows, or the search ends."""

    def __init__(self, recipe: Recipe, next_hop: Stage) -> None:
        """``next_hop`` finds the documents of another hop."""
        self._recipe = recipe
        self._next = next_hop

    def warm_up(self) -> None:
        """Load the models of the expanders."""
        self._next.warm_up()

    @component.output_types(another=ClaimState, over=ClaimState)
    def run(self, state: ClaimState) -> dict[str, ClaimState]:
        """Return the state as ``another`` or as ``over``."""
        stopped = reason_to_stop(state, self._recipe, seconds=0)
        if stopped is None:
            state = self._next.run(state).state
            stopped = nothing_new(state, self._recipe)
        ended = hop_ended(state, self._recipe, stopped)
        return {"another": ended} if stopped is None else {"over": ended}


def haystack_pipeline(recipe: Recipe, resources: Resources) -> Pipeline:
    """Return the stages of a recipe as a Haystack pipeline.

    ``run({"claim": {"claim": "…"}})["hop end"]["over"]`` is the state with evidence and verdict.
    A component has the name of its stage in the recipe. The names of the stages in ``first`` begin
    with "first hop", so that a stage can be in both parts. The search has no time limit here.
    """
    stages = stages_of(recipe, resources)
    pipeline = Pipeline(max_runs_per_component=recipe.max_hops + 1)
    pipeline.add_component("claim", ClaimReader(resources.models.parser))
    before = "claim.state"
    for name in recipe.first:
        pipeline.add_component(f"first hop {name}", StageComponent(stages[name]))
        pipeline.connect(before, f"first hop {name}.state")
        before = f"first hop {name}.state"
    pipeline.add_component("hop", BranchJoiner(ClaimState))
    pipeline.connect(before, "hop.value")
    before = "hop.value"
    for name in recipe.hop:
        pipeline.add_component(name, StageComponent(stages[name]))
        pipeline.connect(before, f"{name}.state")
        before = f"{name}.state"
    pipeline.add_component("hop end", HopEnd(recipe, stages["next"]))
    pipeline.connect(before, "hop end.state")
    pipeline.connect("hop end.another", "hop.value")
    return pipeline


def _document(item: Evidence) -> Document:
    sentence = item.sentence
    meta = {
        "title": item.title,
        "url": item.url,
        "document": sentence.document_id,
        "stance": item.stance,
        "context_before": item.context_before,
        "context_after": item.context_after,
    }
    id_ = f"{sentence.document_id}#{sentence.sentence_id}"
    return Document(id=id_, content=sentence.text, score=item.score, meta=meta)


def _ignore(_: Progress) -> None:
    """Show no progress."""
