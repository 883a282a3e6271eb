"""A question that asks for yes or no, as the statement that it asks about.

The parser reads a question worse than a statement. So every place where the subject may end is
tried: the verb is moved there, and the parser must find exactly that verb after exactly that
subject.
"""

from __future__ import annotations

import re

from lemminflect import getInflection
from spacy.tokens import Doc

from retrieval.text.clause import main_clause
from retrieval.text.english import EnglishParser
from retrieval.text.notices import AUXILIARIES, QUESTION_WORDS

_END = re.compile(r"(?:, (?:right|correct|\w+n['’]t \w+))?[\s?.!]*$")  # noqa: RUF001
_NEVER_AFTER_THE_VERB = {"of", "and", "or", "'s", "’s", ",", "-"}  # noqa: RUF001
_ENDS_A_SUBJECT = {"NN", "NNS", "NNP", "NNPS", "PRP", "EX", "CD", "DT", "VBG"}
_DETERMINERS = {"a", "an", "the"}
_MOST_WORDS = 40
# "It does have" is "it has", "they did build" is "they built".
_TENSES = {"do": "VBP", "does": "VBZ", "did": "VBD"}


def as_statement(question: str, parser: EnglishParser) -> str | None:
    """Return the statement, or ``None`` if it is not clear which one it is."""
    asked = _END.sub("", question)
    parsed = parser.parse(asked)
    if not QUESTION_WORDS.isdisjoint(token.lower_ for token in parsed):
        return None
    if parsed[0].lower_ not in AUXILIARIES:
        return f"{asked}." if main_clause(parsed) is not None else None
    found = {
        last: statement
        for last in range(1, min(len(parsed) - 1, _MOST_WORDS))
        if (statement := _turned(parsed, last, parser)) is not None
    }
    read_so = [token.right_edge.i for token in parsed if token.dep_ in {"nsubj", "nsubjpass"}]
    if read_so and read_so[0] in found:
        return found[read_so[0]]
    whole = [last for last in found if not _in_a_name(parsed, last)]
    if whole:
        return found[max(whole)]
    return next(iter(found.values())) if len(found) == 1 else None


def _turned(question: Doc, last: int, parser: EnglishParser) -> str | None:
    """Return the statement whose subject ends with the word ``last``, if it is a sentence."""
    if question[last + 1].lower_ in _NEVER_AFTER_THE_VERB or question[1].lower_ == "n't":
        return None
    subject, rest = question[1 : last + 1].text, question[last + 1 :].text
    verb = question[0].lower_
    clause = main_clause(parser.parse(f"{_capitalised(subject)} {verb} {rest}."))
    if clause is None or [token.i for token in clause.subject] != list(range(last)):
        return None
    if clause.finite[:1] != (clause.doc[last],) or not _may_be_a_subject(
        clause.doc[:last].as_doc()
    ):
        return None
    following = clause.doc[last + 1]
    if following == clause.root and verb in _TENSES:
        forms = getInflection(following.lower_, _TENSES[verb])
        if len(forms) == 1:  # "did lie": lay, or lied
            verb, rest = "", forms[0] + rest[len(following.text) :]
    return " ".join(filter(None, [_capitalised(subject), verb, f"{rest}."]))


def _may_be_a_subject(words: Doc) -> bool:
    """Return whether these words are one thing, not a thing and the beginning of what is said."""
    relative = any(token.tag_ in {"WDT", "WP", "WRB"} for token in words)
    participle = any(token.tag_ in {"VBN", "VBD"} for token in words)
    second = any(
        token.lower_ in _DETERMINERS and words[token.i - 1].pos_ not in {"ADP", "CCONJ", "VERB"}
        for token in words[1:]
    )
    ends = words[-1].tag_ in _ENDS_A_SUBJECT and words[-1].lower_ not in _DETERMINERS
    return ends and not second and (relative or not participle)


def _in_a_name(question: Doc, last: int) -> bool:
    return question[last].pos_ == question[last + 1].pos_ == "PROPN"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
