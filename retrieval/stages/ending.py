"""What of a claim is open, why it is not settled, if its texts are older, when a search ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from datetime import date

from spacy.tokens import Doc, Token

from retrieval.index.interface import DocumentStore
from retrieval.quantities.reading import time_after
from retrieval.recipes.recipes import Ending, Recipe
from retrieval.stages.stage import ClaimState
from retrieval.text.subject import Subject
from retrieval.text.word_forms import folded, stem, stems_in
from retrieval.types import (
    NOT_ENOUGH_INFO,
    Evidence,
    Hop,
    NotSettled,
    Offsets,
    PhraseSearch,
    Span,
    Stopped,
    Verdict,
)
from retrieval.words import contrary_text, older_text

_WORD = re.compile(r"[^\W_]+")
_DAY_OF_A_FILE = ", as of "  # in what a document of a folder is credited to


def missing(state: ClaimState) -> tuple[tuple[int, int], ...]:
    """Return the parts of the claim that are still open, as offsets into the claim."""
    if state.proof is not None:
        return state.proof.open
    return tuple((s.start, s.end) for s in missing_spans(state.spans, state.selected))


def uncovered(state: ClaimState) -> tuple[tuple[int, int], ...]:
    """Return the open parts that say something which no selected sentence says, as offsets.

    Such a part has a noun, a number, a name or an adjective that occurs in none of the sentences or
    their titles; words are compared by their stems. Verbs are said in too many ways. Without
    selected sentences there is none.
    """
    if not state.selected:
        return ()
    spoken = _spoken(state.selected)
    return tuple(span for span in missing(state) if says_more(state.parsed, span, spoken))


def says_more(parsed: Doc, span: Offsets, spoken: Set[str]) -> bool:
    """Return whether a part of the claim has a content word that is not among these stems.

    Content words are nouns, numbers, names and adjectives.
    """
    start, end = span
    return any(
        token.pos_ in ("PROPN", "NUM") or (token.pos_ in ("NOUN", "ADJ") and not token.is_stop)
        for token in parsed
        if start <= token.idx < end and stem(token.text) not in spoken
    )


def missing_spans(spans: Sequence[Span], evidence: Sequence[Evidence]) -> list[Span]:
    """Return the spans without a word that occurs in one of the sentences or their titles.

    Words are compared by their stems. A span inside
    another missing span is left out. A span that is not returned is not proved: only a word of it
    was found.
    """
    spoken = _spoken(evidence)
    missing = [span for span in spans if (words := stems_in(span.text)) and not words & spoken]
    return [
        span
        for span in missing
        if not any(
            other is not span and other.start <= span.start and span.end <= other.end
            for other in missing
        )
    ]


def share_a_word(spans: Sequence[Span], evidence: Sequence[Evidence]) -> bool:
    """Return whether some sentence, or its title, contains a word of some span.

    Words are compared as in ``missing_spans``.
    """
    spoken = _spoken(evidence)
    return any(stems_in(span.text) & spoken for span in spans)


def _spoken(evidence: Sequence[Evidence]) -> set[str]:
    return {
        stem for item in evidence for stem in stems_in(item.heading) | stems_in(item.in_context)
    }


def decided(state: ClaimState) -> bool:
    """Return whether the verdict supports or refutes the claim."""
    return state.verdict is not None and state.verdict.label != NOT_ENOUGH_INFO


def proved(state: ClaimState) -> bool:
    """Return whether the proof leaves no part of the claim open (AdMIRaL, section 3.2).

    A proof of another label than the verdict's proves nothing: of the two it is wrong more often
    (docs/recipes.md).
    """
    if state.proof is None or state.verdict is None:
        return decided(state)
    return state.proof.sufficient and state.proof.label == state.verdict.label


def unchanged(state: ClaimState) -> bool:
    """Return whether this hop's best sentences are those of the hop before."""
    return bool(state.hops) and state.best == state.hops[-1].best


SUFFICIENT: dict[Ending, Callable[[ClaimState], bool]] = {
    "decided": decided,
    "proved": proved,
    "unchanged": unchanged,
    "never": proved,
}


def reason_to_stop(state: ClaimState, recipe: Recipe, seconds: float) -> Stopped | None:
    """Return why no other hop follows, None if one does; ``seconds`` have passed so far."""
    if recipe.ending != "never" and SUFFICIENT[recipe.ending](state):
        return recipe.ending
    same = state.selection == state.last_selection
    if same and recipe.ending in ("decided", "proved"):
        return "nothing new"  # the same sentences give the same proof and the same verdict
    if state.hop == recipe.max_hops:
        return "hops"
    return "time" if seconds > recipe.settings.seconds else None


def nothing_new(state: ClaimState, recipe: Recipe) -> Stopped | None:
    """Return "nothing new" if there is nothing to read in the next hop."""
    # Paths are read from the second hop on, also over what is known already.
    first_paths = "paths" in recipe.hop and state.hop == 1 and state.evidence
    return None if state.candidates or first_paths else "nothing new"


def hop_ended(state: ClaimState, recipe: Recipe, stopped: Stopped | None) -> ClaimState:
    """Return the state at the beginning of the next hop, with the finished one in ``hops``."""
    assert state.verdict is not None, "every hop of a recipe ends in a verdict"
    hop = Hop(
        hop=state.hop,
        sufficient=SUFFICIENT[recipe.ending](state),
        missing=missing(state),
        documents=len(state.opened),
        sentences=len(state.relevant),
        label=state.verdict.label,
        best=state.best,
        stopped=stopped,
    )
    return replace(
        state, hop=state.hop + 1, hops=(*state.hops, hop), last_selection=state.selection
    )


def older_texts(state: ClaimState, verdict: Verdict) -> tuple[str, ...]:
    """Return the notice that the texts a verdict rests on are older than what the claim is about.

    Its words (``time_after``) are compared with the day of the newest of these texts; those without
    a day of their own do not count.
    """
    label = verdict.leans or verdict.label
    used = [item for item in state.selected if item.decides == label] or state.selected
    newest = max((item.date for item in used if item.date), default="")
    said = time_after(state.parsed, date.fromisoformat(newest)) if newest else ""
    return (older_text(newest, said, len({item.title for item in used})),) if said else ()


def contrary_texts(state: ClaimState) -> tuple[str, ...]:
    """Return the notice that selected sentences of files of different days contradict each other.

    It names the newest and the newest older one of the other side. The day of a wiki's revision is
    not that of its sentences, so wikis do not count.
    """
    read = (ranked.document for ranked in state.documents)
    files = {one.id for one in read if _DAY_OF_A_FILE in (one.source or "")}
    sides = [
        item
        for item in state.selected
        if item.date and item.decides != NOT_ENOUGH_INFO and item.key.document_id in files
    ]
    newest = max(sides, key=_day, default=None)
    if newest is None:
        return ()
    others = (one for one in sides if one.decides != newest.decides and _day(one) < _day(newest))
    older = max(others, key=_day, default=None)
    if older is None:
        return ()
    said = newest.title, newest.decides, _day(newest), older.title, _day(older)
    return (contrary_text(*said),)


def _day(item: Evidence) -> str:
    return item.date or ""


_SHORTEST = 3  # letters; shorter words are abbreviations that are written in several ways
# Texts have "Oct" or "10" for "October". The other months may be names of people.
_MONTHS = {"january", "february", "july", "september", "october", "november", "december"}


def why_not_settled(store: DocumentStore, state: ClaimState) -> NotSettled:
    """Return why the claim of ``state`` is not settled; ``store`` is asked about its names."""
    subject = state.subject
    start = state.claim.find(subject.text)
    words = (start, start + len(subject.text))
    # Nobody knows which words are in none of the texts of a whole wiki.
    absent = tuple(_absent(store, state, subject, range(*words))) if store.knows_its_words else ()
    about = tuple(
        ranked.document.id for ranked in state.documents if subject.is_titled(ranked.document.title)
    )
    # What has a document of its own is not missing.
    known = [*absent, *([words] if about else [])]
    missing = (
        (start, end)
        for start, end in uncovered(state)
        if not any(start < last and first < end for first, last in known)
    )
    return NotSettled(absent, tuple(missing), about)


def _absent(
    store: DocumentStore, state: ClaimState, subject: Subject, about: range
) -> Iterator[Offsets]:
    """Yield the names that no text contains, in the order of the claim.

    A name is absent if one of its words is. The name of the subject is so too if its words
    occur only apart, and no sentence that was read is about it. A name in the heading of a document
    that was read is not absent: the store searches texts and whole titles only.
    """
    headings = [_spaced(ranked.document.heading) for ranked in state.documents]
    words = [token for token in state.parsed if _may_be_absent(token, about)]
    in_corpus = dict(zip(words, _in_corpus(store, [[token] for token in words]), strict=True))
    elsewhere = not subject.is_of(state.evidence)
    for name in _names(words):
        apart = elsewhere and name[0].idx in about
        doubtful = apart or not all(in_corpus[token] for token in name)
        written = _spaced(" ".join(token.text for token in name))
        headed = any(written in heading for heading in headings)
        if doubtful and not headed and not any(_in_corpus(store, [name])):
            yield name[0].idx, name[-1].idx + len(name[-1])


def _spaced(text: str) -> str:
    """Return the words of a text, folded, with a space around each."""
    return f" {' '.join(_WORD.findall(folded(text)))} "


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
    if not token.is_alpha or len(token) < _SHORTEST or token.lower_ in _MONTHS:
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
