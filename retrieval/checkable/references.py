"""What the pronouns of a text stand for, and words such as "the company".

Rules over the parse: the nearest thing that agrees in person, number and kind, a subject before
others, a name before other words. Where two things are as likely, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from spacy.tokens import Doc, Span, Token

from retrieval.text.english import SUBJECTS, subject_in, verb_of
from retrieval.text.statement_cutter import Owner
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
        if root.ent_type_ in _FIGURES or any(
            t.dep_ == "appos" and t.pos_ == "PROPN" for t in root.children
        ):
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


_SEXES = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her"), "she"),
}
_IT = {"it", "its"}
_THEY = {"they", "them", "their"}
_SPEAKER = {"i", "we", "us", "me", "my", "our"}
_POINTING = {"this", "that", "these", "those"}
_THINGS: frozenset[Sort] = frozenset(
    {"organisation", "country", "place", "land", "work", "thing", "name", ""}
)
# Things that cannot have what these nouns name.
_NO_SHIPS: frozenset[Sort] = frozenset({"country", "place", "land", "work"})
_NO_STATES: frozenset[Sort] = frozenset({"organisation", "land", "work", "thing"})
_NO_COMPANIES: frozenset[Sort] = frozenset({"country", "place", "land"})
_AS_SUBJECT = 2  # the weight of one
# What the subject of the sentence before may be if a noun of this sort repeats it.
_MAY_BE: dict[Sort, frozenset[Sort]] = {
    "place": frozenset({"", "name"}),
    "land": frozenset({"", "name", "thing"}),
    "work": frozenset({"", "name", "organisation", "thing"}),
}
_FARTHEST = 3  # sentences back
_FARTHEST_NOUN = 8  # sentences back, of "the company"
_CLOSE = 0.75  # two things whose scores differ by less are as likely
_CLOSE_PEOPLE = 2.75  # two people: a name that is wrong is worse than none
# "The council chose the tender, and all voted for it": the object before is as likely.
_CLOSE_OF_AN_OBJECT = 2.5
_CLOSE_OF_A_SORT = 2.5  # two companies or countries of one sentence
# "It is clear that …", "It rained", "it takes an hour to …": nothing is meant.
_TIMES = {"cold", "dark", "early", "hot", "late", "time"}
_WEATHER = {"rain", "snow", "hail", "thunder", "seem", "appear", "turn", "take"}


@dataclass(frozen=True, slots=True)
class Reference:
    """Words of a sentence, ``[start:end]`` of it, that stand for something.

    ``meant``: for what, ``None`` where that is unclear. ``owns``: whether they say whose something
    is. ``said_in``: the number of the sentence that names it, and the token there. ``certain``:
    nothing else that is named before can be meant.
    """

    start: int
    end: int
    said: str
    meant: str | None
    owns: bool = False
    said_in: tuple[int, int] | None = None
    certain: bool = False

    @property
    def words(self) -> str:
        """What can stand in the place of these words: "Germany's"; "" where that is unclear."""
        words = self.meant or ""
        if self.owns and words:
            words += "'" if words.endswith("s") else "'s"
        return words[:1].upper() + words[1:] if self.start == 0 else words


def owners_in(claim: Doc) -> dict[int, Owner]:
    """Return what the words such as "its" of a parsed claim stand for, by where they begin.

    These are only those that can stand for nothing else which the claim names before them.
    """
    if not any(map(owner, claim)):
        return {}
    spans = list(claim.sents)
    sentences = [span.as_doc() for span in spans]
    found = {}
    for span, references in zip(spans, references_in(sentences), strict=True):
        for one in references:
            if one.owns and one.certain and one.said_in is not None:
                named_in, place = one.said_in
                said_at = spans[named_in].start_char + sentences[named_in][place].idx
                found[span.start_char + one.start] = Owner(one.words, said_at)
    return found


def references_in(sentences: Sequence[Doc]) -> list[list[Reference]]:
    """Return the references of each sentence of a text, in their order."""
    known: list[Referent] = []
    return [list(_references(number, doc, known)) for number, doc in enumerate(sentences)]


def _references(number: int, sentence: Doc, known: list[Referent]) -> Iterator[Reference]:
    starts: dict[int, list[Mention]] = {}
    for mention in mentions_of(sentence):
        starts.setdefault(mention.first, []).append(mention)
    quoted = False
    for token in sentence:
        if token.text in '“”"':
            quoted = not quoted
        if token.lower_ in _SPEAKER and token.pos_ == "PRON" and not quoted:
            yield _of(token, None)
        elif _stands_for_something(token) and not _named_after(token):
            yield _resolved(token, number, known)
        for mention in starts.get(token.i, ()):
            found = _repeated(mention, sentence, number, known)
            if found is not None:
                yield found
            if found is None or found.meant is None:
                # A pronoun that stands for unclear words is as unclear.
                text = mention.text if found is None else ""
                _remember(replace(mention, text=text), number, known)


def _stands_for_something(token: Token) -> bool:
    word = token.lower_
    if word in _POINTING:
        return token.dep_ in SUBJECTS and token.pos_ == "PRON" and token.tag_ == "DT"
    if word in _IT:
        return not _means_nothing(token)
    return token.pos_ == "PRON" and (word in _SEXES or word in _THEY)


def _named_after(token: Token) -> bool:
    """Return whether the sentence names its subject after this word: "In his memoirs, Blair …"."""
    subject = subject_in(next(token.doc.sents).root)
    return owner(token) and subject is not None and token.i < subject.i and subject.pos_ == "PROPN"


def _means_nothing(token: Token) -> bool:
    verb = token.head
    if token.tag_ == "PRP$" or token.dep_ not in {"nsubj", "expl", "nsubjpass"}:
        return False
    if token.dep_ == "expl" or verb.lemma_ in _WEATHER:
        return True
    later = {child.dep_ for child in verb.children if child.i > verb.i}
    if verb.lemma_ == "be" and later & {"ccomp", "xcomp", "advcl", "csubj", "acl", "relcl"}:
        return True
    said = [t for t in verb.children if t.dep_ in {"attr", "acomp"}]
    if verb.lemma_ == "be" and any(
        c.dep_ in {"relcl", "acl", "ccomp"} for t in said for c in t.children
    ):
        return any(t.dep_ == "acomp" for t in said) or any(
            c.dep_ == "acl" for t in said for c in t.children
        )
    return verb.lemma_ == "be" and any(
        t.ent_type_ in {"DATE", "TIME"} or t.lemma_ in _TIMES for t in said
    )


def _of(
    token: Token,
    meant: Referent | None,
    said_in: tuple[int, int] | None = None,
    certain: bool = False,
) -> Reference:
    end = token.idx + len(token)
    text = meant.text if meant is not None and meant.text else None
    return Reference(
        token.idx, end, token.text, text, owner(token), said_in, certain and bool(text)
    )


def _resolved(token: Token, number: int, known: list[Referent]) -> Reference:
    if token.lower_ in _POINTING:
        return _of(token, None)
    scored = sorted(
        (
            (score, referent)
            for referent in known
            if (score := _score(referent, token, number)) is not None
        ),
        key=lambda pair: -pair[0],
    )
    if not scored:
        return _of(token, None)
    if len(scored) > 1:
        (score, first), (next_score, other) = scored[:2]
        people = first.sort == other.sort == "person" and first.proper and other.proper
        together = first.places[-1][0] == other.places[-1][0]
        is_object = not owner(token) and token.dep_ not in SUBJECTS
        close = _CLOSE_OF_AN_OBJECT if is_object and together else _CLOSE
        if score - next_score < (_CLOSE_PEOPLE if people else close):
            return _of(token, None)
    meant = scored[0][1]
    alone = len(scored) == 1 and not (token.lower_ in _IT and meant.sort in {"", "name"})
    last = meant.places[-1][:2]
    meant.places.append((number, token.i, weight_of(token)))
    meant.sex = meant.sex or _SEXES.get(token.lower_, "")
    if meant.sex and meant.sort == "name":
        meant.sort = "person"
    return _of(token, meant, last, alone)


def _score(referent: Referent, token: Token, number: int) -> float | None:
    """Return how likely a pronoun stands for something, ``None`` if it cannot."""
    agrees = _agreement(referent, token.lower_)
    if agrees is None or (owner(token) and not _may_have(referent, token.head)):
        return None
    best: float | None = None
    for sentence, place, role in referent.places:
        distance = number - sentence
        if distance > _FARTHEST or (distance == 0 and _excluded(token, place)):
            continue
        near = -1.5 * distance if distance < 2 else -1.5 * distance - 0.5
        score = near + role
        best = score if best is None else max(best, score)
    if best is None:
        return None
    return best + agrees + _often(referent) + (1 if referent.proper else 0)


def _agreement(referent: Referent, word: str) -> float | None:
    sort = referent.sort
    if word in _SEXES:
        if sort not in {"person", "name"}:
            return None
        if referent.sex:
            return 1.5 if referent.sex == _SEXES[word] else None
        return 0 if sort == "person" else -1.5
    if word in _IT:
        if sort not in _THINGS or referent.sex:
            return None
        return -0.5 if sort in {"", "name"} else 0
    if sort == "many":
        return 1
    return -1 if sort == "organisation" else None


def _may_have(referent: Referent, owned: Token) -> bool:
    """Return whether a thing can have what follows "its": a reef has no captain."""
    noun = owned.lemma_.casefold()
    if noun in OF_NO_SETTLEMENT and (
        referent.roles & SETTLEMENTS or referent.text.casefold() in CITIES
    ):
        return False
    if noun in ON_BOARD:
        return referent.sort not in _NO_SHIPS
    if noun in OF_STATES:
        return referent.sort not in _NO_STATES and referent.text.casefold() not in CITIES
    return noun not in OF_COMPANIES or referent.sort not in _NO_COMPANIES


def _excluded(token: Token, place: int) -> bool:
    """Return whether a word of the same sentence cannot be what a pronoun there stands for."""
    other = token.doc[place]
    if place > token.i:
        return True
    if owner(token):
        # "Berlin is its capital": not Berlin's.
        verb = token.head.head
        is_it = token.head.dep_ in {"attr", "appos"} and verb.lemma_ in {"be", "become", "remain"}
        return is_it and other.dep_ in SUBJECTS and other.head == verb
    if token.dep_ in SUBJECTS:
        return False
    # "Smith met him": somebody else.
    return other.dep_ in SUBJECTS and other.head == (verb_of(token) or token)


def _remember(mention: Mention, number: int, known: list[Referent]) -> None:
    same = next((r for r in reversed(known) if r.is_named(mention)), None)
    if same is None:
        same = Referent(mention.text, mention.sort, mention.sex, mention.proper, set(mention.roles))
        known.append(same)
    same.add(mention, number)


def _repeated(
    mention: Mention, sentence: Doc, number: int, known: list[Referent]
) -> Reference | None:
    """Return what "the company" or "the bridge" repeats, ``None`` if it is not such words."""
    head = sentence[mention.head]
    words = sentence[mention.first : mention.last]
    if mention.proper or len(words) != 2 or words[0].lower_ != "the":
        return None
    if any(child.dep_ in {"relcl", "acl", "prep", "appos"} for child in head.children):
        return None
    noun = head.lemma_.casefold()
    near = [r for r in known if r.proper and number - r.places[-1][0] <= _FARTHEST_NOUN]
    called = [r for r in near if r.text.casefold().split()[-1] == noun]
    sort = sort_of(noun)
    if not called and sort:
        called = [r for r in near if noun in r.roles] or _of_sort(sort, noun, number, near)
    start, end = words.start_char, words.end_char
    if not called:
        # "The company has 300 workers": of which company, the text does not say.
        unclear = sort and head.tag_ == "NN" and head.dep_ in SUBJECTS
        return Reference(start, end, words.text, None) if unclear else None
    ranked = sorted(called, key=lambda referent: -_topic(referent, number))
    if len(ranked) > 1:
        lead = _topic(ranked[0], number) - _topic(ranked[1], number)
        if lead < _close(sort, ranked[0], ranked[1]):
            return Reference(start, end, words.text, None)
    meant = ranked[0]
    owns = head.i + 1 < len(sentence) and sentence[head.i + 1].tag_ == "POS"
    if owns:
        end = sentence[head.i + 1].idx + len(sentence[head.i + 1])
    before = meant.places[-1][:2]
    meant.add(mention, number)
    return Reference(start, end, sentence.text[start:end], meant.text, owns, before)


def _close(sort: Sort, first: Referent, second: Referent) -> float:
    """Return the lead that the first of two things needs to be what a noun repeats."""
    if sort == "person":
        return _CLOSE_PEOPLE
    return _CLOSE_OF_A_SORT if first.places[-1][0] == second.places[-1][0] else _CLOSE


def _topic(referent: Referent, number: int) -> float:
    """Return how much the text is about something before this sentence."""
    near = max(weight - (number - sentence) / 2 for sentence, _, weight in referent.places)
    return near + _often(referent)


def _often(referent: Referent) -> float:
    return min(1.5, (len(referent.places) - 1) / 2)


def _of_sort(sort: Sort, noun: str, number: int, near: Sequence[Referent]) -> list[Referent]:
    """Return those things of the last sentences that a noun of this sort may stand for.

    Where none is known to be of the sort, it may be the subject of the sentence before.
    """
    before = [r for r in near if r.places[-1][0] < number]
    if sort == "person":
        named = () if noun in OFFICES else before
        return [r for r in named if r.sort == sort and r.places[-1][2] == _AS_SUBJECT]
    last = [r for r in before if r.places[-1][0] == number - 1 and r.places[-1][2] == _AS_SUBJECT]
    may_be = _MAY_BE.get(sort, frozenset())
    known = [r for r in before if r.sort == sort]
    # A name of which the parser does not know the sort may be of it too.
    lines = {r.places[-1][0] for r in known}
    rivals = [r for r in before if r.sort in {"", "name"} and r.places[-1][0] in lines]
    return [*known, *rivals] or [r for r in last if r.sort in may_be and not r.sex]
