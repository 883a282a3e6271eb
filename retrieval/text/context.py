"""What models read of a document: a sentence with its title, its neighbours, or other sentences."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from retrieval.text.word_forms import FUNCTION_WORDS
from retrieval.types import Document, Sentence, SentenceKey

SEPARATOR = " [SEP] "
_MARK, _AS_TEXT = "[SEP]", "(SEP)"  # of one length, so that offsets into a text stay


def evidence_text(title: str, sentence: str) -> str:
    """Return a sentence with its document's title, which says who "he" or "it" is.

    A separator that occurs in the document itself is replaced.
    """
    return f"{title} : {sentence}".replace(_MARK, _AS_TEXT)


def evidence_set_text(sentences: Sequence[tuple[str, str]]) -> str:
    """Return several (title, sentence) pairs as one text, best first."""
    return SEPARATOR.join(evidence_text(title, sentence) for title, sentence in sentences)


def path_text(candidate: tuple[str, str], path: Sequence[tuple[str, str]]) -> str:
    """Return a candidate and the path that led to it as one text, each a (title, sentence).

    The candidate comes first, then the path in reverse order, so that a text that does not fit a
    model's window loses its least important part.
    """
    return evidence_set_text([candidate, *reversed(path)])


LONGEST = 300  # characters of a neighbour, or of the neighbours of one side, that are read
_NEIGHBOURS = 2  # sentences before and after, in a passage
_MOST_AFTER = 2  # sentences: a question or a claim, who made it, and the rating

_QUESTION = re.compile(r"\?[\"'”’)\]]*$")  # noqa: RUF001 - curly quotes are meant
_ENDED = re.compile(r"[.!?…][\"'”’)\]]*$")  # noqa: RUF001
_BLANK_LINE = re.compile(r"\n\s*\n")

_FALSEHOOD = r"""
    (?:true|false|untrue|wrong|incorrect|inaccurate|misleading|mistaken|fake|faked|fabricated|forged
    |doctored|misattributed|made\ up|unfounded|baseless|unproven|debunked|disproved|satire
    |not\ the\ case|a\ (?:hoax|myth|lie|forgery|fabrication|fiction))
"""
# "Claim: …", "What was claimed: …", "Claimed by: …"
_CLAIM_LABEL = re.compile(
    r"""(?:the\ )?(?:viral\ )?
    (?:claims?|claimed\ by|statement|allegation|myth|rumou?r|question
    |what\ (?:was|is|they|people)\ (?:claimed|said|say))\ ?:\s""",
    re.I | re.X,
)
# "Rating: False", "Our verdict: …", "Fact: …"
_VERDICT_LABEL = re.compile(
    r"(?:(?:our|the) )?(?:rating|verdict|ruling|answer|truth|reality|facts?|fact[- ]check) ?:\s",
    re.I,
)
# "No.", "False!", "Mostly true", "Yes, it was", but not "No. 5", "No. IV" or "Yes, Minister".
_ANSWER = re.compile(
    rf"""(?:yes|no|correct|(?:(?:mostly|partly|half|not)[ ])?{_FALSEHOOD})
    (?: [.!]*$ | [.!]+\s+(?!\d|[IVXLC]+\b) | ,\s+(?-i:[a-z]) )""",
    re.I | re.X,
)
# "This is not true.", "The claim was wrong.", "That never happened."
_JUDGEMENT = re.compile(
    rf"""(?:this|that|it|these|those|they|the\ (?:claim|statement|story|report|rumou?r|post|picture
    |photo|image|video|quote|quotation|letter|allegation|accusation|figure)s?)\ (?:
    (?:is|was|are|were|has\ been|have\ been|proved|turned\ out)\ (?:\w+\ ){{0,3}}?
    {_FALSEHOOD}(?=\W*$|[,;:]|\ (?:and|but|because)\b)
    |(?:never|did\ not)\ (?:happened|happen|occur|take\ place)\b)""",
    re.I | re.X,
)
_CORRECTION = re.compile(r"(?:in (?:fact|reality|truth)|actually|on the contrary)\b", re.I)
# "But …", "She later admitted …": they take something back if the sentence before reports it.
_TURN = re.compile(
    r"""(?:but|however|yet|instead|nevertheless)\b
    |(?:he|she|they|it|the\ \w+)\ (?:\w+\ ){0,2}
    (?:admitted|apologi[sz]ed|conceded|corrected|denied|recanted|retracted|withdrew)\b""",
    re.I | re.X,
)
_REPORTED = re.compile(
    r"""\b(?:claim(?:s|ed)|said|says|stated|alleged(?:ly)?|reported(?:ly)?|rumou?red|supposed(?:ly)?
    |according\ to|asserted|asserts|insisted|insists|announced)\b""",
    re.I | re.X,
)
_PRONOUN = re.compile(r"(?:he|she|it|they|his|her|its|their)\b", re.I)
_DEMONSTRATIVE = re.compile(r"(?:this|that|these|those|the (?:former|latter))\b", re.I)
_WORD = re.compile(r"\w+")
_IS = re.compile(r"\b(?:is|was|are|were)\b")


class Context(NamedTuple):
    """The text before and after a sentence that it is read with; ``None`` where none is needed."""

    before: str | None = None
    after: str | None = None


def context_of(document: Document, sentence: Sentence) -> Context:
    """Return the context of a sentence of a document, as slices of the document's text.

    One sentence before it and up to two after it, each side at most ``LONGEST`` characters.
    """
    text, sentences = document.text, document.sentences
    at = sentences.index(sentence)
    before = after = None
    if at and _needs_previous(document, sentences[at - 1], sentence):
        before = _end_of(text[sentences[at - 1].start : sentences[at - 1].end])
    last = at
    while (
        last + 1 < len(sentences)
        and last - at < _MOST_AFTER
        and (last == at or _opens(sentences[last]))
        # It says something else without the one after it.
        and (_opens(sentences[last]) or _is_judged(document, sentences[last], sentences[last + 1]))
    ):
        last += 1
    if last > at:
        after = _beginning_of(text[sentences[at + 1].start : sentences[last].end])
    return Context(before, after)


def passage_of(document: Document, key: SentenceKey) -> str:
    """Return a sentence of a document between two sentences before it and two after it.

    Each side has at most ``LONGEST`` characters.
    """
    texts = [sentence.text for sentence in document.sentences]
    at = [sentence.key for sentence in document.sentences].index(key)
    before = " ".join(texts[max(0, at - _NEIGHBOURS) : at])
    after = " ".join(texts[at + 1 : at + 1 + _NEIGHBOURS])
    return " ".join(filter(None, (_end_of(before), texts[at], _beginning_of(after))))


def _needs_previous(document: Document, previous: Sentence, sentence: Sentence) -> bool:
    """Return whether the sentence says something else, or nothing, without the one before it."""
    return (
        bool(_QUESTION.search(previous.text))
        or _is_judged(document, previous, sentence)
        or (_points_back(document, sentence) and _in_one_paragraph(document, previous, sentence))
    )


def _opens(sentence: Sentence) -> bool:
    """Return whether it is a question, or a claim under a label."""
    return bool(_QUESTION.search(sentence.text) or _CLAIM_LABEL.match(sentence.text))


def _is_judged(document: Document, sentence: Sentence, following: Sentence) -> bool:
    """Return whether the second sentence says if the first one is true.

    Ratings and short answers often have a paragraph of their own.
    """
    said = following.text
    if _VERDICT_LABEL.match(said) or _ANSWER.match(said):
        return True
    turned = _TURN.match(said) and _REPORTED.search(sentence.text)
    return bool(
        (turned or _JUDGEMENT.match(said) or _CORRECTION.match(said))
        and _in_one_paragraph(document, sentence, following)
    )


def _points_back(document: Document, sentence: Sentence) -> bool:
    """Return whether it begins with a word that stands for something in the sentence before.

    A pronoun stands for the title if the document is about what its title names.
    """
    if _PRONOUN.match(sentence.text):
        return not is_about_its_title(document)
    return _DEMONSTRATIVE.match(sentence.text) is not None


def is_about_its_title(document: Document) -> bool:
    """Return whether the first sentence says what its title is, or begins with a pronoun.

    So begin the articles of an encyclopedia ("Rodent": "Rodents are mammals."), seldom news. A
    title in small letters is the name of a file ("mill"), which does not say which mill it is.
    """
    if document.title.islower():
        return False
    first = document.sentences[0].text
    subject, *is_something = _IS.split(first, maxsplit=1)
    words = _WORD.findall(subject.casefold())
    name = set(_WORD.findall(document.title.casefold())) - FUNCTION_WORDS
    named = any(word.startswith(part) for word in words for part in name)
    return bool(is_something and named) or _PRONOUN.match(first) is not None


def _in_one_paragraph(document: Document, sentence: Sentence, following: Sentence) -> bool:
    """Return whether no blank line, heading or item of a list ends between two sentences.

    Most texts are stored without their lines; there a sentence without a mark at its end is one of
    these.
    """
    between = document.text[sentence.end : following.start]
    return bool(_ENDED.search(sentence.text)) and not _BLANK_LINE.search(between)


def _end_of(text: str) -> str:
    """Return the last ``LONGEST`` characters, or fewer, that begin with a word."""
    if len(text) <= LONGEST:
        return text
    return text[-LONGEST:].partition(" ")[2] or text[-LONGEST:]


def _beginning_of(text: str) -> str:
    """Return the first ``LONGEST`` characters, or fewer, that end with a word."""
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rpartition(" ")[0] or text[:LONGEST]


# Signs that change what a number means are kept: "-5", "1.5", "5 %".
_WORD_OR_SIGN = re.compile(r"\d+(?:[.,]\d+)*|\w+|(?<!\w)[-\u2212](?=\d)|[%°$€£¥+<>=]")
_NUMBER_OF_PASSAGE = re.compile(r"#\d+\Z", re.ASCII)
# A sentence that begins with one of these says something else after another sentence.
_REFERRING = {
    "he",
    "she",
    "it",
    "they",
    "this",
    "that",
    "these",
    "those",
    "his",
    "her",
    "its",
    "their",
}


def without_number(document_id: str) -> str:
    """Return the id of a document without the number of its passage."""
    return _NUMBER_OF_PASSAGE.sub("", document_id)


class CopiedSentences:
    """The sentences of some documents, folded: without case, spacing, punctuation and quotes."""

    def __init__(self, documents: Iterable[Document]) -> None:
        """Fold every sentence. One that refers to the sentence before is folded with it.

        If it is the first one, it refers to the title.
        """
        self._folded: dict[SentenceKey, str] = {}
        standing: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for document in documents:
            before = _folded(document.title)
            # Passages of a long document count as one document.
            whole = (without_number(document.id), document.title)
            for sentence in document.sentences:
                words = _folded(sentence.text)
                refers = words.partition(" ")[0] in _REFERRING
                text = f"{before} . {words}" if refers else words
                self._folded[sentence.key] = text
                standing[text].add(whole)
                before = words
        self._copies = {text: len(of) for text, of in standing.items()}

    def text(self, key: SentenceKey) -> str:
        """Return the folded text of a sentence; copies have the same."""
        return self._folded[key]

    def documents_with(self, key: SentenceKey) -> int:
        """Return how many documents the sentence stands in, 1 or more."""
        return self._copies[self._folded[key]]


def _folded(text: str) -> str:
    return " ".join(_WORD_OR_SIGN.findall(text.casefold()))
