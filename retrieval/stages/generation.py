"""Of the stage ``next``: documents whose titles a model generates (AdMIRaL, section 3.1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from retrieval.generation.decoding import Markup, Reading, generate
from retrieval.stages.next import Expander
from retrieval.state import ClaimState
from retrieval.titles.title_trie import TitleTrie
from retrieval.types import Candidate, Evidence

SENTENCES = 5  # that are read with the claim


class TitleModel(Protocol):
    """A model that generates titles, token by token, in the tokens of a trie."""

    @property
    def markup(self) -> Markup:
        """The tokens between which it writes a title."""
        ...

    def warm_up(self) -> None:
        """Load the weights; cheap when they are loaded already.

        Raises:
            ModelUnavailable: they are missing or damaged.
        """
        ...

    def read(self, claim: str, sentences: Sequence[tuple[str, str]]) -> Reading:
        """Read a claim and sentences, each with its document's title before it.

        The end of a text that does not fit the model's window is cut.
        """
        ...


class TitleGenerator(Expander):
    """Generates the sentences that lead to other documents, and the titles of these documents.

    It needs neither hyperlinks nor vectors, and it can find which of the names in the evidence are
    important for the claim.
    """

    def __init__(self, model: TitleModel, titles: TitleTrie, beams: int, limit: int) -> None:
        """``titles``: all titles, in the model's tokens; ``limit``: most documents returned.

        ``beams``: sequences that the search follows at a time (AdMIRaL, A.2: 25).
        """
        self._model = model
        self._titles = titles
        self._beams = beams
        self._limit = limit

    def warm_up(self) -> None:
        """Load the model."""
        self._model.warm_up()

    def expand(self, state: ClaimState) -> list[Candidate]:
        """See ``Expander.expand``."""
        return self.generate(state.claim, state.evidence, state.seen, state.hop + 1)

    def generate(
        self, claim: str, evidence: Sequence[Evidence], seen: Collection[str], hop: int
    ) -> list[Candidate]:
        """Return documents not ``seen`` yet, most probable first; the score is the probability.

        The first five sentences of ``evidence`` are read. Without evidence there are none.
        """
        leads = evidence[:SENTENCES]
        if not leads:
            return []
        reading = self._model.read(claim, [(item.heading, item.sentence.text) for item in leads])
        found = generate(reading, self._model.markup, self._titles, self._beams, seen)
        return [
            Candidate(
                document.document_id,
                ("generation",),
                document.probability,
                hop,
                leads[document.sentences[0]].key if document.sentences else None,
            )
            for document in found[: self._limit]
        ]
