"""The main clause of a claim: turned around into a question, and made from one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from lemminflect import getInflection
from spacy.tokens import Doc, Token

from retrieval.text.english import ANY_SUBJECTS, SUBJECTS, VERBS, EnglishParser, subject_in
from retrieval.text.notices import AUXILIARIES, QUESTION_WORDS

_DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}


@dataclass(frozen=True)
class Clause:
    """Subject, finite verb and the rest; ``do`` is set if a question needs do-support."""

    doc: Doc
    root: Token
    subject: tuple[Token, ...]
    subject_head: Token
    finite: tuple[Token, ...]
    do: str | None
    rest: tuple[Token, ...]

    def asked(self, front: str, without: Collection[Token] = ()) -> str:
        """Return the clause with its verb before its subject, after ``front``.

        ``without`` is the part that the question asks for and must not contain.
        """
        verb = self.do or text_of(self.finite, self.doc)
        base_form = {self.root: self.root.lemma_} if self.do else {}
        subject = text_of((t for t in self.subject if t not in without), self.doc)
        rest = text_of((t for t in self.rest if t not in without), self.doc, base_form)
        return _sentence(front, verb, subject, rest)

    def with_subject(self, front: str) -> str:
        """Return the clause with ``front`` in the subject's place: the verb stays where it is."""
        return _sentence(front, text_of((*self.finite, *self.rest), self.doc))

    def in_predicate(self, token: Token) -> bool:
        """Return whether a word is of this clause, not of its subject or of a clause inside it."""
        inner = {"relcl", "advcl", "acl", "ccomp", "csubj", "parataxis"}
        chain = (token, *token.ancestors)
        return (
            token in self.rest
            and token not in self.subject
            and self.root in chain
            and not any(link.dep_ in inner for link in chain if link != self.root)
            and not any(link.dep_ == "conj" and link.pos_ in VERBS for link in chain)
        )


def main_clause(doc: Doc) -> Clause | None:
    """Return the main clause of the first sentence that has one, or ``None``.

    A text without subject and finite verb cannot be turned into a question.
    """
    for sentence in doc.sents:
        root = sentence.root
        subject_head = subject_in(root, ANY_SUBJECTS)
        if root.pos_ not in VERBS or subject_head is None:
            continue
        words = [token for token in sentence if not token.is_space]
        while words and words[-1].text in {".", "!", "?", "…"}:
            words.pop()
        subject = tuple(token for token in subject_head.subtree if token in words)
        finite, do = _finite_verb(root)
        inverted = subject_head.i > root.i and subject_head.dep_ != "expl"
        if (not finite and do is None) or inverted:
            continue
        rest = tuple(t for t in words if t not in subject and t not in finite)
        before = [t for t in rest if t.i < subject[0].i]
        if before and not (before[-1].text == "," or before[-1].dep_ == "advmod"):
            continue  # the parser lost a part of the subject ("Charles I's wife ...")
        return Clause(doc, root, subject, subject_head, finite, do, _moved_to_end(rest, subject))
    return None


def text_of(tokens: Iterable[Token], doc: Doc, replaced: dict[Token, str] | None = None) -> str:
    """Join words as they were spaced, lower-casing the one that began the claim."""
    text = ""
    for token in tokens:
        word = (replaced or {}).get(token, token.text)
        if token.i == 0 and not _is_name(token):
            word = word[:1].lower() + word[1:]
        spaced = token.i == 0 or bool(doc[token.i - 1].whitespace_)
        text += f" {word}" if spaced else word
    return text.strip()


def _finite_verb(root: Token) -> tuple[tuple[Token, ...], str | None]:
    auxiliaries = [
        child for child in root.children if child.dep_ in {"aux", "auxpass"} and child.i < root.i
    ]
    if auxiliaries and auxiliaries[0].tag_ != "TO":
        return _with_contraction(auxiliaries[0], root), None
    if root.lemma_ == "be" and root.tag_ != "VB":
        return _with_contraction(root, root), None
    return (), _DO.get(root.tag_)


def _with_contraction(verb: Token, root: Token) -> tuple[Token, ...]:
    """ "wasn't" moves as one word ("Wasn't it ...?"); of "was not" only "was" moves."""
    return (
        verb,
        *(t for t in root.children if t.dep_ == "neg" and t.i == verb.i + 1 and "'" in t.text),
    )


def _moved_to_end(rest: tuple[Token, ...], subject: tuple[Token, ...]) -> tuple[Token, ...]:
    """Move the words before the subject ("In 1815, ...") to the end, without their comma."""
    before = [t for t in rest if t.i < subject[0].i]
    while before and before[-1].is_punct:
        before.pop()
    return (*(t for t in rest if t.i > subject[0].i), *before)


def _is_name(token: Token) -> bool:
    """Return whether a word keeps its capital: not function words, adjectives, common plurals."""
    lowered = {"DET", "PRON", "ADP", "ADV", "ADJ", "SCONJ", "CCONJ", "NUM"}
    common = token.pos_ in lowered or token.tag_ == "NNS"
    return not common or bool(token.ent_type_) or token.text == "I"


def _sentence(*parts: str) -> str:
    text = " ".join(part for part in parts if part).rstrip(" ,;:")
    return text[:1].upper() + text[1:] + "?"


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
    read_so = [token.right_edge.i for token in parsed if token.dep_ in SUBJECTS]
    if read_so and read_so[0] in found:
        return found[read_so[0]]
    whole = [last for last in found if not parsed[last].pos_ == parsed[last + 1].pos_ == "PROPN"]
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


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
