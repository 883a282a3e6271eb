"""What a text names: its people, places, organisations and things, where each is mentioned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from spacy.tokens import Doc, Span, Token

from retrieval.text.grammar import SUBJECTS
from retrieval.text.word_forms import lexicon, word_set

MEN = lexicon("men")
WOMEN = lexicon("women")
MALE = lexicon("male")
FEMALE = lexicon("female")
PEOPLE = MALE | FEMALE | lexicon("people")
# Words that any company may be repeated by; "the union" is not one of them.
COMPANIES = lexicon("companies")
# Whoever has such an office is called by it: "the mayor" stands for no name in the text.
OFFICES = lexicon("offices")
SETTLEMENTS = word_set("borough capital city municipality town village")
STATES = word_set("country kingdom nation republic state")
WORKS = lexicon("works")
# What places of nature are called: before the name ("Lake Victoria"), after it ("the Red Sea").
LANDS_BEFORE = word_set("cape lake loch lough mount")
LANDS_BEHIND = lexicon("lands_behind")
LANDS = LANDS_BEFORE | LANDS_BEHIND | word_set("coast forest gulf island isle mountain volcano")
# Nouns that only some things have: a reef has no captain, and a town no parliament.
ON_BOARD = word_set("captain crew passenger skipper")
OF_STATES = lexicon("of_states")
# A city has no capital, no other city and no president: these are of its country.
OF_NO_SETTLEMENT = (SETTLEMENTS - {"borough"}) | word_set("chancellor president")
OF_COMPANIES = word_set("ceo customer dividend profit shareholder subsidiary turnover")
# The parser takes many cities for people.
CITIES = lexicon("cities")
COUNTRIES = lexicon("countries")


Sort: TypeAlias = Literal[
    "person", "name", "organisation", "country", "place", "land", "work", "thing", "many", ""
]
"""What kind of thing is mentioned, "" where that is not known.

``name``: perhaps a person. ``land``: a place of nature. ``many``: several things.
"""

_SORTS: dict[str, Sort] = {
    "PERSON": "person",
    "ORG": "organisation",
    "GPE": "place",
    "LOC": "thing",
    "FAC": "thing",
    "PRODUCT": "thing",
    "EVENT": "thing",
    "LAW": "thing",
    "WORK_OF_ART": "work",
}
_FIGURES = {"DATE", "TIME", "PERCENT", "MONEY", "CARDINAL", "QUANTITY"}
_LINKS = {"of", "at", "in", "from", "for"}


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing that is named in a sentence, from its token ``first`` to before ``last``.

    ``text``: its words as a claim would repeat them, "" if these need words before them ("his
    brother"). ``proper``: whether it is a name. ``sex``: "he", "she", or "" if that is not known.
    ``weight``: how much its place in the sentence makes it what the next one is about. ``roles``:
    nouns that the text has for it ("minister").
    """

    text: str
    first: int
    last: int
    head: int
    sort: Sort
    sex: str
    proper: bool
    weight: float
    roles: frozenset[str]


@dataclass(slots=True)
class Referent:
    """One thing of the text, with the places of its mentions: sentence, token, weight."""

    text: str
    sort: Sort
    sex: str
    proper: bool
    roles: set[str]
    places: list[tuple[int, int, float]] = field(default_factory=list)

    def is_named(self, mention: Mention) -> bool:
        """Return whether a mention is one of this: the same name, or the last word of it."""
        if not (self.proper and mention.proper):
            return False
        if self.text == mention.text:
            return True
        shorter = mention.text.removeprefix("the ").split()
        return (
            len(shorter) == 1
            and self.text.split()[-1:] == shorter
            and (self.sort == mention.sort or "person" in (self.sort, mention.sort))
        )

    def add(self, mention: Mention, sentence: int) -> None:
        """Remember one more mention, and what it says about the thing."""
        self.places.append((sentence, mention.head, mention.weight))
        self.roles |= mention.roles
        self.sex = self.sex or mention.sex
        if mention.sort == "person" or self.sort in {"", "name"}:
            self.sort = mention.sort


def mentions_of(sentence: Doc) -> list[Mention]:
    """Return what a parsed sentence names, in order of the words."""
    found = [*_groups(sentence)]
    taken = {i for mention in found for i in range(mention.first, mention.last)}
    for entity in sentence.ents:
        if entity.label_ in _SORTS and any(t.pos_ == "PROPN" for t in entity):
            found.append(_named(entity, _SORTS[entity.label_]))
            taken.update(range(found[-1].first, found[-1].last))
    for chunk in sentence.noun_chunks:
        root = chunk.root
        if root.i in taken or root.pos_ not in {"PROPN", "NOUN"}:
            continue
        if root.ent_type_ in _FIGURES or any(_is_appositive_name(t) for t in root.children):
            continue
        if root.pos_ == "NOUN" and root.dep_ == "attr":
            continue  # what the subject is: "Nokia was the largest maker of phones."
        if root.ent_type_ == "NORP" and root.tag_ == "NNP":
            continue  # "the Jamaican" is somebody who has a name too
        found.append(_named(chunk, "") if root.pos_ == "PROPN" else _described(chunk))
    return sorted(found, key=lambda mention: (mention.first, -mention.last))


def _groups(sentence: Doc) -> Iterator[Mention]:
    """Yield the names that "and" joins, which "they" may mean together."""
    for token in sentence:
        joined = [t for t in token.conjuncts if t.pos_ == "PROPN"]
        if token.pos_ != "PROPN" or token.dep_ == "conj" or not joined:
            continue
        first, last = token.left_edge.i, max(joined).i + 1
        text = sentence[first:last].text
        if sentence[first:last].root.i == token.i:
            weight = weight_of(token)
            yield Mention(text, first, last, token.i, "many", "", True, weight, frozenset())


def _named(span: Span, sort: Sort) -> Mention:
    """Return the mention of a name, without what is said about it before and after."""
    doc, root = span.doc, span.root
    first, last = span.start, span.end
    while first < last - 1 and doc[first].pos_ in {"ADJ", "NUM", "SPACE"} and sort == "":
        first += 1
    if doc[last - 1].tag_ == "POS":
        last -= 1
    if first > 0 and doc[first - 1].lower_ in LANDS_BEFORE and doc[first - 1].pos_ == "PROPN":
        first -= 1  # the parser takes "Kenya" alone for the name of "Mount Kenya"
    own = [t for t in doc[first:last] if t.pos_ != "SPACE"]
    words = [token.lower_.rstrip(".") for token in own]
    around = [t for t in (*root.lefts, *root.rights) if t.dep_ in {"compound", "appos", "amod"}]
    roles = {t.lemma_.casefold() for t in (*around, *own) if t.lemma_.casefold() in PEOPLE}
    if root.dep_ == "appos":
        roles |= {root.head.lemma_.casefold()} & PEOPLE
    if root.dep_ in SUBJECTS and root.head.lemma_ in {"be", "become"}:
        said = (t for t in root.head.children if t.dep_ == "attr" and t.pos_ == "NOUN")
        roles |= {t.lemma_.casefold() for t in said}
    sex = _sex({*words, *roles})
    with_the = first > 0 and doc[first - 1].lower_ == "the"
    if sort == "person" and (with_the or (len(own) == 1 and words[0] not in MEN | WOMEN)):
        # The parser takes many names that it does not know for those of people.
        sort = "" if with_the else "name"
    if (roles & PEOPLE and sort != "work") or (sort != "person" and words[0] in MEN | WOMEN):
        sort = "person" if len(own) < 5 and not with_the else sort
    if sort == "person":
        while len(own) > 1 and own[0].lower_.rstrip(".") in PEOPLE | {"the", "former", "minister"}:
            own.pop(0)
    if len(own) == 1 and words[0] in COUNTRIES | CITIES and not roles & PEOPLE:
        sort = "country" if words[0] in COUNTRIES else "place"
    if _is_land(root, words):
        sort, sex, roles = "land", "", set()
    text = doc[own[0].i : own[-1].i + 1].text
    if own[0].i > 0 and doc[own[0].i - 1].lower_ == "the" and root.dep_ != "compound":
        text = text if sort == "person" else f"the {text}"
    text = f"the{text[3:]}" if text.startswith("The ") and sort != "work" else text
    plural = root.tag_ == "NNPS" or (with_the and sort == "" and words[-1].endswith("s"))
    if plural and sort in {"", "organisation"}:
        sort = "many"
    weight = weight_of(root)
    return Mention(text, first, last, root.i, sort, sex, True, weight, frozenset(roles))


def _is_land(root: Token, words: list[str]) -> bool:
    """Return whether a name is of a lake, a reef, an island."""
    if len(words) > 1 and (words[0] in LANDS_BEFORE or words[-1] in LANDS_BEHIND):
        return True
    of = root.head  # "the island of Norrey"
    return root.dep_ == "pobj" and of.lower_ == "of" and of.head.lemma_.casefold() in LANDS


def _is_appositive_name(token: Token) -> bool:
    return token.dep_ == "appos" and token.pos_ == "PROPN"


def weight_of(token: Token) -> float:
    """Return how much a word's place makes its thing what the text goes on about."""
    if token.dep_ in SUBJECTS:
        return 2
    if token.dep_ == "conj":
        return weight_of(token.head)
    if token.dep_ == "appos":  # "the mayor of Halden, Ida Holm,"
        named = token.head
        return weight_of(named.head.head if named.head.lower_ == "of" else named)
    return {"dobj": 0.5, "attr": 0.5, "pobj": -0.25, "poss": 0.5}.get(token.dep_, 0)


def _described(chunk: Span) -> Mention:
    """Return the mention of a thing without a name: "the bridge", "researchers of the town"."""
    root, doc = chunk.root, chunk.doc
    lemma = root.lemma_.casefold()
    last = chunk.end
    after = doc[last] if last < len(doc) else None
    if after is not None and after.dep_ == "prep" and after.head == root and after.lower_ in _LINKS:
        last = after.right_edge.i + 1
    words = doc[chunk.start : last]
    text = words.text
    unclear = any(t.pos_ == "PRON" or t.tag_ in {"WDT", "WP", "VBD", "VBZ"} for t in words)
    first = words[0]
    if first.lower_ in {"a", "an"}:
        text = f"the {text.partition(' ')[2]}"
    elif first.i == 0 and first.pos_ != "PROPN" and not first.ent_type_:
        text = text[:1].lower() + text[1:]
    if root.tag_ == "NNS" or any(t.pos_ == "NOUN" for t in root.conjuncts):
        sort: Sort = "many"
    else:
        sort = sort_of(lemma) or "thing"
    if unclear or first.lower_ in {"no", "any", "every", "each", "some", "this", "that"}:
        text = ""
    proper = any(t.pos_ == "PROPN" and t.dep_ == "compound" for t in chunk)
    roles = frozenset({lemma})
    weight = weight_of(root)
    return Mention(text, chunk.start, last, root.i, sort, _sex({lemma}), proper, weight, roles)


def sort_of(noun: str) -> Sort:
    """Return what kind of thing a noun stands for, "" where it is none of those with names."""
    if noun in PEOPLE:
        return "person"
    if noun in COMPANIES:
        return "organisation"
    if noun in STATES:
        return "country"
    if noun in SETTLEMENTS:
        return "place"
    if noun in LANDS:
        return "land"
    return "work" if noun in WORKS else ""


def _sex(words: set[str]) -> str:
    """Return "he" or "she" where the words agree on it."""
    man, woman = bool(words & (MALE | MEN)), bool(words & (FEMALE | WOMEN))
    if words & FEMALE and not words & MALE:
        return "she"
    if man == woman:
        return ""
    return "he" if man else "she"


def owner(token: Token) -> bool:
    """Return whether a pronoun says whose something is."""
    return token.tag_ == "PRP$"
