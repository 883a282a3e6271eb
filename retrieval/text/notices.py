"""What the words of a claim alone tell, without a parser: notices, and what a question asks.

A claim in another language or with a question word is refused by ``claim``, unless it is checked
anyway: then a wrong guess only adds a sentence to the page. The web process makes the guesses too,
so this module loads no model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

from retrieval.text.word_forms import lexicon, meanings, word_set

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")  # noqa: RUF001 - the curly one is meant


# Small words that only English has, and those that other languages have too.
_ENGLISH = lexicon("only_english")
_SHARED = word_set("is in was a an on at as or has am me no")
_FOREIGN = lexicon("only_foreign")
# They are in names too, between two capitals ("Dar es Salaam").
_IN_NAMES = word_set("au aux dos e es las los sur y")
# They occur in names before a capital ("Vincent van Gogh"), and begin titles ("La bamba").
_PARTICLES = word_set("de da du di del van von den der des la le el zu")
# Letters that no English word has, also no loan word such as "café" or "jalapeño".
_FOREIGN_LETTERS = frozenset("ßøåæœãõíáóúëăđşğıąęłńśźżťďřůěőűșț")
_WITHIN_NAMES = _PARTICLES | {"of", "the", "and"}
_OF_A_NAME = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[A-Z]\.")  # noqa: RUF001
_MOST_OF_A_NAME = 5  # words
_BORROWED = re.compile(r"\b(?:de facto|de jure|de rigueur|du jour|et al|per se)\b")

AUXILIARIES = lexicon("auxiliaries")
QUESTION_WORDS = word_set("who whom whose what which when where why how")
_BEFORE_MEASURES = re.compile(r"how (?:many|much|old|long|far|tall|big|often)\b", re.IGNORECASE)

# A sentence may end after a word of two letters or more, so initials ("J. K.") end none. Before
# a small letter only a full stop ends a sentence ("Yahoo! is" continues). Words are taken whole: a
# search that begins within them again would take the square of their length.
_SENTENCE_END = re.compile(
    r"((?<![^\W\d_])[^\W\d_]{2,}+|(?<!\d)\d{2,}+)(?:[.!?][\"')\]]*\s+(?=[\"'(\[]?[A-Z])|\.\s+(?=[a-z]))"
)
_ABBREVIATIONS = lexicon("abbreviations")


NOT_ENGLISH = (
    "ESOTERIC reads English only, and this does not look like English; the answer may be poor."
)
QUESTION = "This is a question. It is checked as it is; a statement gives a clearer verdict."
OPEN_QUESTION = (
    "This question asks for more than yes or no, so it has no verdict. Write it as a statement to"
    " have that checked."
)
NO_STATEMENT = (
    "This says nothing about its subject, so it has no verdict. Write a statement, such as “Paris"
    " is in France.”"
)
NAMELESS = (
    "This does not say who or what it is about, so it has no verdict. Write the name, such as"
    " “Paris is in France.”"
)
SEVERAL = (
    "The claim makes more than one statement. They are checked together; one at a time gives a"
    " clearer verdict."
)


def notices_of(claim: str) -> list[str]:
    """Return notices about what may make the answer to this claim worse, as sentences."""
    several = len(sentences_in(claim)) > 1
    return [
        *([] if is_english(claim) else [NOT_ENGLISH]),
        *([OPEN_QUESTION if asks_for_a_thing(claim) else QUESTION] if _is_question(claim) else []),
        *([SEVERAL] if several else []),
    ]


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a paragraph, guessed from its marks, letters and abbreviations."""
    ends = [
        end.end() for end in _SENTENCE_END.finditer(text) if end[1].casefold() not in _ABBREVIATIONS
    ]
    parts = (text[first:last].strip() for first, last in pairwise([0, *ends, len(text)]))
    return [part for part in parts if part]


def is_name_alone(claim: str) -> bool:
    """Guess whether this is only a name ("Marie Curie"): two words or more, with capitals.

    A later word that may be a verb makes it a headline ("Apollo Lands").
    """
    first, *later = claim.split() or [""]
    if not 0 < len(later) < _MOST_OF_A_NAME or later[-1] in _WITHIN_NAMES:
        return False
    return _is_of_a_name(first) and all(
        word in _WITHIN_NAMES or (_is_of_a_name(word) and not word.endswith(("s", "ed")))
        for word in later
    )


def _is_of_a_name(word: str) -> bool:
    known = AUXILIARIES | QUESTION_WORDS
    return word[:1].isupper() and bool(_OF_A_NAME.fullmatch(word)) and word.casefold() not in known


def asks_for_a_thing(claim: str) -> bool:
    """Return whether this is a question that yes or no does not answer ("Who built it?")."""
    words = [word.casefold() for word in _WORD.findall(claim)[:2]]
    # Also after a preposition: "In which year was it built?"
    return _is_question(claim) and not QUESTION_WORDS.isdisjoint(words)


def _is_question(claim: str) -> bool:
    bare = claim.rstrip("\"')")
    if bare.endswith(("?", ".", "!")):
        return bare.endswith("?")
    words = _WORD.findall(claim)[:2]
    if len(words) < 2:
        return False
    first, second = words[0].casefold(), words[1]
    if first in QUESTION_WORDS:
        # "What Women Want" is a title: its second word has a capital.
        named_thing = first in {"which", "whose"} and second.islower()
        return (
            second in AUXILIARIES
            or (first in {"who", "whom"} and second.islower())
            or named_thing
            or _BEFORE_MEASURES.match(claim) is not None
        )
    # "Will Smith" and "Can was a band" are names, "is Paris in France" is not. A second finite
    # verb suggests a title: "Do the Right Thing is a film".
    finite = {"is", "are", "was", "were"}.intersection(_WORD.findall(claim)[1:])
    titled = words[0][:1].isupper() and bool(finite)
    return (
        first in AUXILIARIES - {"will", "may", "can"} and second not in AUXILIARIES and not titled
    )


def is_english(claim: str) -> bool:
    """Guess from the script, and from small words in small letters; names count as English."""
    letters = [c for c in claim if c.isalpha()]
    latin = sum(unicodedata.name(c, "").startswith("LATIN") for c in letters)
    if latin < 0.7 * len(letters):
        return False
    words = _WORD.findall(_BORROWED.sub(" ", claim))
    small = [
        word
        for before, word, following in zip(["", *words], words, [*words[1:], ""], strict=False)
        if word[:1].islower()
        and not (word in _IN_NAMES and before[:1].isupper() and following[:1].isupper())
    ]
    foreign = sum(
        word.casefold() in _FOREIGN or not _FOREIGN_LETTERS.isdisjoint(word) for word in small
    )
    foreign += sum(
        word in _PARTICLES
        and following[:1].islower()
        and following not in _PARTICLES
        and not before[:1].isupper()  # "Rio de janeiro", typed in haste
        for before, word, following in zip(["", *words], words, words[1:], strict=False)
    )
    folded = [word.casefold() for word in words]
    article_first = bool(_PARTICLES.intersection(folded[:1])) and words[1:2] == folded[1:2]
    foreign += article_first and _SHARED.isdisjoint(folded)
    return bool(foreign <= sum(word in _ENGLISH for word in folded))


_WORDS = re.compile(r"[\w’'.-]+(?:%|°)?")  # noqa: RUF001 - the curly apostrophe is meant
# Commas, quotes and brackets may part the question in ways that these rules do not know.
_PLAIN = re.compile(r"[\w\s’'.%°-]+[?]?")  # noqa: RUF001
_POSSESSIVE = re.compile(r"['’]s$|s['’]$")  # noqa: RUF001
_MOST_WORDS = 25


_BE = word_set("is are was were")
_HAVE = word_set("has have had")
_DETERMINERS = word_set("the a an this these those all most some every each no any")
_PREPOSITIONS = lexicon("prepositions")
_ADVERBS = lexicon("adverbs")
# What begins what is said of the subject, and is no part of the subject.
_SAID = lexicon("said_of_subject")
_PARTICIPLES = lexicon("participles")
_NO_SUBJECTS = lexicon("no_subjects")
_LINKS_OF_NAMES = word_set("of the de van von da del di la le and")
_IRREGULAR = meanings("irregular")
_REGULAR = lexicon("regular")
_DOUBLED = word_set("ban stop")


def plain_statement(question: str) -> str | None:
    """Return the statement that a question for yes or no asks about, for pages that offer it.

    ``None`` if it is not clear: only questions of plain form are turned, where the words say where
    the subject ends. ``retrieval.text.clause.as_statement`` turns more, when a claim is checked.
    """
    asked = " ".join(question.split())
    if not _PLAIN.fullmatch(asked) or not asked.endswith("?"):
        return None
    words = _WORDS.findall(asked[:-1].rstrip(" ."))
    if not 3 <= len(words) <= _MOST_WORDS:
        return None
    if not QUESTION_WORDS.isdisjoint(word.lower() for word in words):
        return None
    verb, rest = words[0].lower(), words[1:]
    if verb not in AUXILIARIES:
        # "The earth is flat?" is a statement already, if there is a verb in it.
        said = not AUXILIARIES.isdisjoint(rest) and verb not in _NO_SUBJECTS
        return _sentence(words) if said else None
    if rest[0].lower() == "there" and verb in _BE:
        return _sentence(["There", verb, *rest[1:]])
    if rest[0].lower() in _NO_SUBJECTS | _PREPOSITIONS | _ADVERBS:
        return None
    base_verb_follows = verb not in _BE | _HAVE
    end = _verb_after_subject(rest) if base_verb_follows else _end_of_subject(rest)
    if end is None or not 0 < end < len(rest) or _POSSESSIVE.search(rest[end - 1]):
        return None
    subject, said_of_it = rest[:end], rest[end:]
    if verb not in _INFLECTED:
        return _sentence([*subject, verb, *said_of_it])
    return _sentence([*subject, _INFLECTED[verb](said_of_it[0]), *said_of_it[1:]])


def _verb_after_subject(words: list[str]) -> int | None:
    """Return where the verb is, if it is known and no other word can be it."""
    if words[0].lower() in _DETERMINERS:
        first = 2
    else:
        first = _end_of_name(words) if _begins_a_name(words[0]) else 1
    verbs = {*_IRREGULAR, *_REGULAR}
    for at in range(first, len(words)):
        if words[at] in verbs:
            two = at + 1 < len(words) and words[at + 1] in verbs
            return None if two else at
        if _begins_a_name(words[at]) or words[at] in _DETERMINERS | _PREPOSITIONS | _ADVERBS:
            return None
    return None


def _end_of_subject(words: list[str]) -> int | None:
    """Return how many words the subject before a form of "be" or "have" has."""
    if words[0].lower() in _DETERMINERS:
        return _end_after_determiner(words)
    end = _end_of_name(words) if _begins_a_name(words[0]) else 1
    clear = end + 1 == len(words) or (end < len(words) and _begins_what_is_said(words, end))
    return end if clear else None


def _end_after_determiner(words: list[str]) -> int | None:
    if words[1].endswith("ly"):  # "the recently built bridge"
        return None
    for at in range(2, len(words)):
        after_of_name = _begins_a_name(words[at - 1]) and words[at - 2] == "of"
        if after_of_name and words[at].islower() and words[at] not in _LINKS_OF_NAMES:
            return at
        if words[at] in _PREPOSITIONS and at > 2:  # "the tallest building in the world in Dubai"
            return None
        if _begins_what_is_said(words, at):
            return at
    # "the blue whale extinct", but not "the capital of France Paris"
    return len(words) - 1 if words[-1].islower() else None


def _end_of_name(words: list[str]) -> int:
    end = 1
    while end < len(words):
        following = words[end + 1 : end + 2]
        joins = words[end] in _LINKS_OF_NAMES and bool(following) and _begins_a_name(following[0])
        # "Paris the City of Light": an article follows a name only within "of the".
        article = words[end] in _DETERMINERS and words[end - 1] != "of"
        if not _begins_a_name(words[end]) and (not joins or article):
            break
        end += 1
    return end


def _begins_a_name(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()


def _begins_what_is_said(words: list[str], at: int) -> bool:
    word = words[at]
    if word in _DETERMINERS | _PREPOSITIONS | _ADVERBS | _PARTICIPLES:
        return True
    if word in _SAID:
        return at + 1 == len(words) or words[at + 1] in _PREPOSITIONS | {"of"}
    compared = word.endswith("er") and "than" in words[at + 1 :]
    regular = word.islower() and word.endswith(("ed", "ly")) and len(word) > 4
    return compared or regular


def _with_s(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _past(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1]}ed" if verb in _DOUBLED else f"{verb}ed"


def _sentence(words: list[str]) -> str:
    text = " ".join(words)
    return f"{text[:1].upper()}{text[1:]}."


# "does orbit" is "orbits", "did write" is "wrote".
_INFLECTED: dict[str, Callable[[str], str]] = {"do": str, "does": _with_s, "did": _past}
