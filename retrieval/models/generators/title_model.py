"""What a model that generates titles must do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from retrieval.models.generators.decoding import Markup, Reading
from retrieval.models.generators.title_trie import TitleTrie


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

    def trie(self, titles: Iterable[tuple[str, str]]) -> TitleTrie:
        """Return the trie of these titles, from (document id, title) pairs."""
        ...

    def read(self, claim: str, sentences: Sequence[tuple[str, str]]) -> Reading:
        """Read a claim and sentences, each with its document's title before it.

        The end of a text that does not fit the model's window is cut.
        """
        ...
