"""Why a claim is not settled: what of it occurs in no text, and what nothing was found about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spacy.tokens import Token

from retrieval.index.interface import DocumentStore
from retrieval.stages.ending import uncovered
from retrieval.state import ClaimState
from retrieval.text.subject import Subject, subject_of
from retrieval.types import NotSettled, Offsets, PhraseSearch

_SHORTEST = 3  # letters; shorter words are abbreviations that are written in several ways


def why_not_settled(store: DocumentStore, state: ClaimState) -> NotSettled:
    """Return why the claim of ``state`` is not settled; ``store`` is asked about its names."""
    subject = subject_of(state.parsed)
    start = state.claim.find(subject.text)
    words = (start, start + len(subject.text))
    # Nobody knows which words are in none of the texts of a whole wiki.
    absent = tuple(_absent(store, state, subject, range(*words))) if store.knows_its_words else ()
    about = tuple(
        ranked.document.id for ranked in state.documents if subject.is_titled(ranked.document.title)
    )
    # What has a document of its own is not missing.
    known = [*absent, *([words] if about else [])]
    missing = (part for part in uncovered(state) if not any(_meet(part, one) for one in known))
    return NotSettled(absent, tuple(missing), about)


def _absent(
    store: DocumentStore, state: ClaimState, subject: Subject, about: range
) -> Iterator[Offsets]:
    """Yield the names that no text contains, in the order of the claim.

    A name is absent if one of its words is. The name of the subject is so too if its words
    occur only apart, and no sentence that was read is about it.
    """
    words = [token for token in state.parsed if _may_be_absent(token, about)]
    in_corpus = dict(zip(words, _in_corpus(store, [[token] for token in words]), strict=True))
    elsewhere = not subject.is_in([item.as_read for item in state.evidence])
    for name in _names(words):
        apart = elsewhere and name[0].idx in about
        doubtful = apart or not all(in_corpus[token] for token in name)
        if doubtful and not any(_in_corpus(store, [name])):
            yield name[0].idx, name[-1].idx + len(name[-1])


def _in_corpus(store: DocumentStore, names: Sequence[Sequence[Token]]) -> list[bool]:
    """Return for each name whether a text has it, or it is a title."""
    forms = [_forms(name) for name in names]
    found = store.phrase_matches([PhraseSearch(one, 1) for one in forms])
    return [
        bool(matches) or bool(store.title_matches(form))
        for form, matches in zip(forms, found, strict=True)
    ]


def _may_be_absent(token: Token, about: range) -> bool:
    """Return whether a word is a name, or a noun of the subject."""
    if not token.is_alpha or len(token) < _SHORTEST:
        return False
    return token.pos_ == "PROPN" or (token.pos_ in ("NOUN", "X") and token.idx in about)


def _names(words: Sequence[Token]) -> list[list[Token]]:
    """Return these words, those of a name together."""
    names: list[list[Token]] = []
    for token in words:
        before = names[-1][-1] if names else None
        if before and (before.pos_, before.i, token.pos_) == ("PROPN", token.i - 1, "PROPN"):
            names[-1].append(token)
        else:
            names.append([token])
    return names


def _forms(name: Sequence[Token]) -> tuple[str, ...]:
    """Return a name as it is written, with and without the ending of a plural."""
    before, last = " ".join(token.text for token in name[:-1]), name[-1]
    lasts = (last.text, last.lemma_, last.text.removesuffix("s"), f"{last.text}s")
    return tuple(dict.fromkeys(f"{before} {one}".strip() for one in lasts))


def _meet(part: Offsets, other: Offsets) -> bool:
    return part[0] < other[1] and other[0] < part[1]
