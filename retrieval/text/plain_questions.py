"""A question for yes or no as a statement, by rules alone, for pages that offer it.

The pages load no parser, so only questions of plain form are turned: where the subject ends must be
clear from the words. ``retrieval.text.clause.as_statement`` turns more of them, when a claim is
checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from retrieval.text.notices import AUXILIARIES, QUESTION_WORDS
from retrieval.text.word_forms import lexicon, meanings, word_set

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
_IN_NAMES = word_set("of the de van von da del di la le and")
_IRREGULAR = meanings("irregular")
_REGULAR = lexicon("regular")
_DOUBLED = word_set("ban stop")


def plain_statement(question: str) -> str | None:
    """Return the statement that a question asks about, ``None`` if that is not clear."""
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
        if after_of_name and words[at].islower() and words[at] not in _IN_NAMES:
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
        joins = words[end] in _IN_NAMES and bool(following) and _begins_a_name(following[0])
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
