"""Short ways to write documents and evidence down in a test."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from retrieval.types import (
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Document,
    Evidence,
    Label,
    RankedDocument,
    Sentence,
    SentenceKey,
)


def document(title: str, *sentences: str) -> Document:
    """A document whose text is its sentences, joined by spaces."""
    made, start = [], 0
    for number, text in enumerate(sentences):
        made.append(Sentence(title, number, text, start, start + len(text)))
        start += len(text) + 1
    return Document(title, title, None, " ".join(sentences), tuple(made))


def ranked(title: str, *sentences: str, score: float = 1.0) -> RankedDocument:
    """The same, as the ranking hands it on."""
    return RankedDocument(document(title, *sentences), score, ("title",), 1)


def evidence(
    title: str, text: str, score: float = 0.9, stance: Label = SUPPORTS, sentence_id: int = 0
) -> Evidence:
    """One sentence of one document; ``score`` is its relevance, all of it for the stance."""
    opinion = {
        SUPPORTS: (score, 0.0, 1 - score),
        REFUTES: (0.0, score, 1 - score),
        NOT_ENOUGH_INFO: (score / 2, score / 2, 1 - score),
    }[stance]
    sentence = Sentence(title, sentence_id, text, 0, len(text))
    return Evidence(sentence, title, None, opinion, 1)


def items(cases: Iterable[dict[str, Any]]) -> tuple[Evidence, ...]:
    """Evidence as cases have it: title, score, and what else it has.

    ``path``: the titles of the sentences that it was read together with, the first of each.
    """

    def item(case: dict[str, Any]) -> Evidence:
        said = case.get("text", "a pier")
        made = evidence(case["title"], said, case["score"], case.get("stance", SUPPORTS))
        path = tuple(SentenceKey(title, 0) for title in case.get("path", ()))
        opinion = tuple(case["opinion"]) if "opinion" in case else made.opinion
        return replace(made, opinion=opinion, path=path, selected=case.get("selected", False))

    return tuple(map(item, cases))


class Names:
    """Sentences by short names; "holm<pier" is Holm's, read after the one of the pier."""

    def __init__(self, **sentences: Evidence) -> None:
        self.all = sentences
        self._names = {item.key: name for name, item in sentences.items()}

    def items(self, names: Iterable[str]) -> tuple[Evidence, ...]:
        """The sentences, those on a path with their path."""
        made = []
        for name in names:
            last, *path = (self.all[one] for one in name.split("<"))
            made.append(replace(last, path=tuple(item.key for item in reversed(path))))
        return tuple(made)

    def text(self, name: str) -> str:
        """What a verifier reads: the sentence comes first, and after it what led to it."""
        read = (self.all[one] for one in name.split("<"))
        return " [SEP] ".join(f"{item.title} : {item.in_context}" for item in read)

    def of(self, found: Iterable[Evidence]) -> list[str]:
        """The short names of evidence."""
        return ["<".join(self._names[k] for k in (i.key, *reversed(i.path))) for i in found]
