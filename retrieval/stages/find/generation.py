"""Of the stage ``next``: documents whose titles a model generates (AdMIRaL, section 3.1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from retrieval.models.papers.decoding import (
    DocumentSet,
    Generated,
    Reading,
    TitleModel,
    documents_alone,
    generate,
    joined,
    joint_sets,
)
from retrieval.models.title_trie import TitleTrie
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.find.next import Expander, ExpanderMakers, mention_expander
from retrieval.state import ClaimState
from retrieval.types import Candidate, Evidence

SENTENCES = 5  # that are read with the claim in training


class Names(Protocol):
    """Finds the titles that sentences link to or name."""

    def titled(self, evidence: Sequence[Evidence]) -> list[tuple[str, str]]:
        """Return ids and titles of the documents."""
        ...


class TitleGenerator(Expander):
    """Generates the sentences that lead to other documents, and the titles of these documents.

    It needs neither hyperlinks nor vectors, and it can find which of the names in the evidence are
    important for the claim.
    """

    def __init__(
        self, model: TitleModel, titles: TitleTrie, names: Names, settings: RetrievalConfig
    ) -> None:
        """``titles``: all titles, in the model's tokens.

        A narrow search over all titles loses many of those that the sentences name (``names``)
        early, so these get a search of their own.
        """
        self._model = model
        self._titles = titles
        self._names = names
        self._settings = settings

    def expand(self, state: ClaimState) -> list[Candidate]:
        """Return documents, most probable first; the score is the probability.

        If sets are scored jointly (AdMIRaL, equation 1), these are the documents of the sets, those
        of the best set first, also seen ones. Otherwise they are those not seen yet, each scored
        alone. The first sentences of the evidence are read; without any there is nothing.
        """
        leads = state.evidence[: self._settings.generation_sentences]
        if not leads:
            return []
        texts = [(item.heading, self._text(item)) for item in leads]
        candidates: dict[str, Candidate] = {}
        for one in self._sets(self._model.read(state.claim, texts), leads, state.seen):
            led_by = leads[one.sentences[0]].key if one.sentences else None
            for document in one.documents:
                found = Candidate(document, ("generation",), one.probability, state.hop + 1, led_by)
                candidates.setdefault(document, found)
        return list(candidates.values())

    def _sets(
        self, reading: Reading, leads: Sequence[Evidence], seen: Collection[str]
    ) -> list[DocumentSet]:
        joint = self._settings.generation_joint
        sources = [item.sentence.document_id for item in leads]

        def found(titles: TitleTrie, beams: int) -> list[Generated]:
            unwanted = () if joint else seen
            return generate(reading, self._model.markup, titles, beams, sources, unwanted)

        ways = found(self._titles, self._settings.generation_beams)
        if self._settings.generation_named_beams:
            named = self._model.trie(self._names.titled(leads))
            ways = joined(ways, found(named, self._settings.generation_named_beams))
        return joint_sets(ways) if joint else documents_alone(ways)

    def _text(self, item: Evidence) -> str:
        """Return the sentence, with the titles that it links to after it if these are read."""
        links = item.sentence.links if self._settings.generation_links else ()
        return " ".join((item.sentence.text, *links))


EXPANDERS: ExpanderMakers = {
    "generation": lambda r, c: TitleGenerator(r.models.titles, r.titles, mention_expander(r, c), c)
}
