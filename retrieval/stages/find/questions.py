"""The stage ``questions``: questions whose answers would decide the claim (report, 3.3.8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from spacy.tokens import Doc, Token
from spacy.tokens import Span as Tokens

from retrieval.models.papers.report_models import QUESTIONS, present_models
from retrieval.models.papers.report_networks import TextGenerator
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step
from retrieval.text.clause import Clause, main_clause, text_of
from retrieval.text.english import VERBS
from retrieval.text.notices import QUESTION_WORDS
from retrieval.types import Question, Span

MOST = 12
_PREFIX = "question:"  # that the model begins its answers with
_TIMES = {"DATE", "TIME"}
_PLACES = {"GPE", "LOC", "FAC"}
_PLACE_PREPOSITIONS = {"in", "at", "near", "on"}
_TIME_PREPOSITIONS = {"in", "on", "at"}
_ALWAYS_TIME = {"during", "since", "until", "before", "after"}
_OBJECTS = {"dobj", "attr", "oprd", "dative"}


class RuleQuestionGenerator(Stage):
    """One wh-question for each span that answers one, and a polar question.

    The report uses a T5 model for the first and rules for the second. If no rule gives a
    well-formed question, the span is skipped: a bad question finds bad documents.
    """

    def __init__(self, *_: object) -> None:
        """Rules need nothing."""

    def run(self, state: ClaimState) -> Step:
        """Find at most 12 ``questions``, the polar one last."""
        return _step(state, self._asked(state.parsed, state.spans))

    def _asked(self, doc: Doc, spans: Sequence[Span]) -> list[Question]:
        clause = main_clause(doc)
        if _is_question(doc):
            text = doc.text.rstrip("?.! ")
            return [Question(text[:1].upper() + text[1:] + "?", None, "polar")]
        asked: dict[str, Question] = {}
        if clause is not None:
            for span in spans:
                for text in _wh_questions(clause, doc, span):
                    asked.setdefault(text, Question(text, span.text, "wh"))
        polar = Question(_polar(clause, doc), None, "polar")
        return [*list(asked.values())[: MOST - 1], polar]


def _is_question(doc: Doc) -> bool:
    first = doc[0]
    return doc.text.rstrip("\"')").endswith("?") or (
        first.lower_ in QUESTION_WORDS and first.tag_ in {"WP", "WRB", "WDT", "WP$"}
    )


def _polar(clause: Clause | None, doc: Doc) -> str:
    if clause is None or len(list(doc.sents)) > 1:
        words = [token for token in doc if not token.is_space]
        while words and words[-1].text in {".", "!", "…"}:
            words.pop()
        statement = any(token.pos_ in VERBS for token in words)
        return f"{'Is it true that' if statement else 'What is'} {text_of(words, doc)}?"
    return clause.asked("")


def _wh_questions(clause: Clause, doc: Doc, span: Span) -> Iterator[str]:
    tokens = doc.char_span(span.start, span.end, alignment_mode="contract")
    if tokens is None or not len(tokens):
        return
    head = tokens.root
    if head == clause.subject_head:
        if head.dep_ != "expl":
            yield clause.with_subject(_who_or_what(tokens))
    elif head.dep_ == "poss" and head.head == clause.subject_head:
        rest = [t for t in clause.subject if t.i > head.right_edge.i or t.i < head.left_edge.i]
        owned = text_of((t for t in rest if t.tag_ != "POS"), doc)
        yield clause.with_subject(f"whose {owned}")
    elif clause.in_predicate(head) and clause.subject_head.dep_ != "expl":
        yield from _about_predicate(clause, doc, tokens, head)


def _about_predicate(clause: Clause, doc: Doc, tokens: Tokens, head: Token) -> Iterator[str]:
    whole = set(head.subtree)
    if head.dep_ == "nummod" and head.head.tag_ in {"NNS", "NNPS"}:
        counted = [t for t in head.head.subtree if t not in whole]
        if head.head.dep_ in _OBJECTS and clause.in_predicate(head.head):
            yield clause.asked(f"how many {text_of(counted, doc)}", set(head.head.subtree))
    elif head.dep_ in {"pobj", "pcomp"} and head.head.dep_ in {"prep", "agent"}:
        preposition = head.head
        hangs_on_verb = preposition.head == clause.root
        timed = head.ent_type_ in _TIMES and preposition.lower_ in _TIME_PREPOSITIONS
        if timed or preposition.lower_ in _ALWAYS_TIME:
            if hangs_on_verb:
                yield clause.asked("when", {*whole, preposition})
        elif (
            head.ent_type_ in _PLACES
            and preposition.lower_ in _PLACE_PREPOSITIONS
            and hangs_on_verb
        ):
            yield clause.asked("where", {*whole, preposition})
        # Where another object follows, that could be read as the preposition's.
        elif not any(
            t.dep_ not in {"prep", "punct", "advmod"}
            for t in [t for t in clause.rest if t.i > preposition.i and t not in whole][:1]
        ):
            placed = preposition.lower_ in _PLACE_PREPOSITIONS
            yield clause.asked("what" if placed else _who_or_what(tokens), whole)
    elif head.dep_ == "npadvmod" and head.ent_type_ in _TIMES and head.head == clause.root:
        yield clause.asked("when", whole)
    elif head.dep_ in _OBJECTS and head.head == clause.root:
        yield clause.asked(_who_or_what(tokens), whole)
    elif head.dep_ == "acomp" and head.head == clause.root:
        yield clause.asked("how", whole)


def _who_or_what(tokens: Tokens) -> str:
    people = {token.ent_type_ for token in tokens} & {"PERSON"}
    pronoun = tokens.root.tag_ == "PRP" and tokens.root.lower_ not in {"it", "they", "them"}
    return "who" if people or pronoun else "what"


class T5QuestionGenerator(Stage):
    """Asks for each answer in the claim, with the claim as context, and for the claim as a whole.

    The answers are extracted for this (report, 3.3.8), so they are not the spans that documents are
    searched by. The polar question of a sentence is the sentence with its auxiliary verb before the
    subject; for one without an auxiliary the model asks, with "No" for the answer.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._model = TextGenerator(present_models(resources.models.folders.report), QUESTIONS)
        self._answers = resources.models.answers

    def run(self, state: ClaimState) -> Step:
        """Find the different ``questions``, the polar ones last."""
        doc, claim = state.parsed, state.parsed.text
        places = self._answers.places("answers", claim)
        spans = [Span(claim[start:end], start, end, "entity") for start, end in places]
        polar = [_inverted(sentence) for sentence in doc.sents]
        answers = [*(span.text for span in spans), *("No" for text in polar if text is None)]
        texts = self._model.answers([f"answer: {answer} context: {claim}" for answer in answers])
        asked = [text.removeprefix(_PREFIX).strip() for text in texts]
        rest = iter(asked[len(spans) :])
        about = [Question(text, span.text, "wh") for text, span in zip(asked, spans, strict=False)]
        whole = [
            Question(text if text is not None else next(rest), None, "polar") for text in polar
        ]
        different = {q.text: q for q in reversed([*about, *whole]) if q.text}
        return _step(state, [*different.values()][::-1])


def _inverted(sentence: Tokens) -> str | None:
    """Return the sentence as a question; None without an auxiliary verb to begin it with."""
    if sentence.text.rstrip().endswith("?"):
        return sentence.text.strip()
    clause = main_clause(sentence.as_doc())
    return clause.asked("") if clause and clause.do is None else None


def _step(state: ClaimState, questions: Sequence[Question]) -> Step:
    message = f"Asking: {' '.join(question.text for question in questions)}"
    return Step(replace(state, questions=tuple(questions)), message)


MAKERS: Makers = {
    "questions": RuleQuestionGenerator,
    "questions:t5": T5QuestionGenerator,
}
