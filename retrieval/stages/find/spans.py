"""The stages ``spans`` and ``questions``: what of the claim names documents, and is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from spacy.tokens import Doc, Token
from spacy.tokens import Span as Tokens

from retrieval.models.papers.report_models import NAMES, QUESTIONS, present_models
from retrieval.models.papers.report_networks import TextGenerator, TokenLabels
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step
from retrieval.text.clause import Clause, main_clause, text_of
from retrieval.text.english import VERBS
from retrieval.text.notices import QUESTION_WORDS
from retrieval.types import Question, Span, SpanKind

MOST = 64
_LONGEST_RUN = 5  # words, where capital letters carry no information
_INSIDE_NAMES = {"of", "the", "and", "in", "for", "de", "la", "von", "van", "&", "-", "'s", ":"}
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]|(?<!\w)[‘']([^‘’']{2,})[’'](?!\w)")  # noqa: RUF001
# The first kind to claim a stretch of text names it.
_ORDER: tuple[SpanKind, ...] = ("quotation", "entity", "date", "number", "name", "noun chunk")
_DATES = {"DATE", "TIME"}
_NUMBERS = {"CARDINAL", "ORDINAL", "QUANTITY", "PERCENT", "MONEY"}


class SpacySpanExtractor(Stage):
    """Spans by spaCy's entities and noun chunks and by the claim's own marks.

    The report (3.3.6) uses a NER model and an answer extraction model, because each of them misses
    names. For the same reason this uses entities, noun chunks, capitalised runs, quotations,
    numbers and dates.
    """

    def __init__(self, *_: object) -> None:
        """The parsed claim has all that is needed."""

    def run(self, state: ClaimState) -> Step:
        """Find at most 64 ``spans``, in order of their position, longer ones first."""
        doc = state.parsed
        found: dict[tuple[int, int], SpanKind] = {}
        for kind, start, end in sorted(
            _proposals(doc), key=lambda proposal: _ORDER.index(proposal[0])
        ):
            found.setdefault((start, end), kind)
        if not found:
            found = {
                (token.idx, token.idx + len(token)): "noun chunk"
                for token in doc
                if any(letter.isalnum() for letter in token.text)
            }
        spans = [
            Span(doc.text[start:end], start, end, kind) for (start, end), kind in found.items()
        ]
        # If there are too many, names and numbers come before the longer phrases around them.
        spans.sort(key=lambda span: (_ORDER.index(span.kind), span.start, -span.end))
        return _with_spans(state, sorted(spans[:MOST], key=lambda span: (span.start, -span.end)))


def _proposals(doc: Doc) -> Iterator[tuple[SpanKind, int, int]]:
    for match in _QUOTED.finditer(doc.text):
        group = 1 if match[1] is not None else 2
        yield "quotation", match.start(group), match.end(group)
    for entity in doc.ents:
        kind: SpanKind = "entity"
        if entity.label_ in _DATES:
            kind = "date"
        elif entity.label_ in _NUMBERS:
            kind = "number"
        yield from _trimmed(entity, kind)
    for chunk in doc.noun_chunks:
        yield from _trimmed(chunk, "noun chunk")
    for token in doc:
        if token.pos_ in {"NOUN", "PROPN"} and not token.is_stop and token.is_alpha:
            yield "noun chunk", token.idx, token.idx + len(token)
        if token.like_num:
            yield "number", token.idx, token.idx + len(token)
    # Capital letters mark names, but not in a claim typed in one case only.
    if not doc.text.islower() and not doc.text.isupper():
        for run in _capitalised_runs(doc):
            yield from _sub_runs(run)
    else:
        yield from _word_runs(doc)


def _trimmed(tokens: Tokens, kind: SpanKind) -> Iterator[tuple[SpanKind, int, int]]:
    """Propose the tokens as they are, and without determiner and possessive ending."""
    words = list(tokens)
    while words and (words[-1].is_punct or words[-1].tag_ == "POS"):
        words.pop()
    if all(word.is_stop or word.is_punct for word in words):
        return
    yield _of(words, kind)
    while len(words) > 1 and (words[0].pos_ in {"DET", "PRON"} or words[0].is_punct):
        words.pop(0)
        yield _of(words, kind)


def _of(words: list[Token], kind: SpanKind) -> tuple[SpanKind, int, int]:
    return kind, words[0].idx, words[-1].idx + len(words[-1])


def _capitalised_runs(doc: Doc) -> Iterator[list[Token]]:
    run: list[Token] = []
    for token in doc:
        if _is_capitalised(token) or (run and token.lower_ in _INSIDE_NAMES):
            run.append(token)
        else:
            yield from _ended(run)
            run = []
    yield from _ended(run)


def _ended(run: list[Token]) -> Iterator[list[Token]]:
    while run and not _is_capitalised(run[-1]):
        run.pop()
    if run and not all(token.is_stop for token in run):
        yield run


def _is_capitalised(token: Token) -> bool:
    return token.text[0].isupper() or (token.text[0].isdigit() and token.i > 0)


def _sub_runs(run: list[Token]) -> Iterator[tuple[SpanKind, int, int]]:
    """The run, and the shorter runs in it: "Mary Shelley's Frankenstein" names two pages."""
    for first in range(len(run)):
        for last in range(first, min(len(run), first + 8)):
            words = run[first : last + 1]
            if not (_is_capitalised(words[0]) and _is_capitalised(words[-1])):
                continue
            if all(word.is_stop or word.text.isdigit() for word in words):
                continue
            if words[0].is_stop and words[-1] != run[-1]:
                continue  # "The Great" of "The Great Wall"
            yield _of(words, "name")


def _word_runs(doc: Doc) -> Iterator[tuple[SpanKind, int, int]]:
    """Every short run of words that begins and ends with a content word."""
    words = [token for token in doc if not token.is_punct and not token.is_space]
    for first, token in enumerate(words):
        if token.is_stop:
            continue
        for last in range(first, min(len(words), first + _LONGEST_RUN)):
            if not words[last].is_stop:
                yield _of(words[first : last + 1], "name")


class WikineuralSpanExtractor(Stage):
    """Joins the entities that WikiNEuRal labels and those that a T5 extracts.

    The report uses both because each of them misses names (3.3.6). As in the report, it does not
    matter which model found a span, so all have the kind "entity".
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._names = TokenLabels(present_models(resources.models.folders.report), NAMES)
        self._answers = resources.models.answers

    def run(self, state: ClaimState) -> Step:
        """Find ``spans``, in order of their position, longer ones first, each once.

        Spans of digits alone, or with "#", are useless for the search and left out.
        """
        claim = state.parsed.text
        found = {
            *_merged_entities(self._names.labelled(claim)),
            *self._answers.places("entities", claim),
        }
        ordered = sorted(found, key=lambda place: (place[0], -place[1]))
        spans = [Span(claim[start:end], start, end, "entity") for start, end in ordered]
        useful = [span for span in spans if not span.text.isdigit() and "#" not in span.text]
        return _with_spans(state, useful)


def _merged_entities(words: Iterable[tuple[int, int, str]]) -> list[tuple[int, int]]:
    """Return the positions of entities, from (start, end, label) of each word.

    Labels are "O", "B-TYPE" and "I-TYPE". An entity is a word labelled B or I and those after
    it that are labelled I with the same type.
    """
    entities: list[tuple[int, int]] = []
    before = ""
    for start, end, label in words:
        place, _, kind = label.partition("-")
        if kind and place == "I" and kind == before:
            entities[-1] = (entities[-1][0], end)
        elif kind:
            entities.append((start, end))
        before = kind
    return entities


def _with_spans(state: ClaimState, spans: Sequence[Span]) -> Step:
    message = f"Looking for: {'; '.join(span.text for span in spans)}"
    return Step(replace(state, spans=tuple(spans)), message)


MOST_QUESTIONS = 12
_PREFIX = "question:"  # that the model begins its answers with
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
        return _with_questions(state, self._asked(state.parsed, state.spans))

    def _asked(self, doc: Doc, spans: Sequence[Span]) -> list[Question]:
        clause = main_clause(doc)
        if _is_asked(doc):
            text = doc.text.rstrip("?.! ")
            return [Question(text[:1].upper() + text[1:] + "?", None, "polar")]
        asked: dict[str, Question] = {}
        if clause is not None:
            for span in spans:
                for text in _wh_questions(clause, doc, span):
                    asked.setdefault(text, Question(text, span.text, "wh"))
        polar = Question(_polar(clause, doc), None, "polar")
        return [*list(asked.values())[: MOST_QUESTIONS - 1], polar]


def _is_asked(doc: Doc) -> bool:
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
        timed = head.ent_type_ in _DATES and preposition.lower_ in _TIME_PREPOSITIONS
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
    elif head.dep_ == "npadvmod" and head.ent_type_ in _DATES and head.head == clause.root:
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
        return _with_questions(state, [*different.values()][::-1])


def _inverted(sentence: Tokens) -> str | None:
    """Return the sentence as a question; None without an auxiliary verb to begin it with."""
    if sentence.text.rstrip().endswith("?"):
        return sentence.text.strip()
    clause = main_clause(sentence.as_doc())
    return clause.asked("") if clause and clause.do is None else None


def _with_questions(state: ClaimState, questions: Sequence[Question]) -> Step:
    message = f"Asking: {' '.join(question.text for question in questions)}"
    return Step(replace(state, questions=tuple(questions)), message)


MAKERS: Makers = {
    "spans": SpacySpanExtractor,
    "spans:wikineural": WikineuralSpanExtractor,
    "questions": RuleQuestionGenerator,
    "questions:t5": T5QuestionGenerator,
}
