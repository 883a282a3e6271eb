"""Rules that read texts: what goes in and what comes out, one case a line of ``tests/cases``."""

import math
import re
from collections.abc import Callable, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

import pytest

from retrieval.checkable.given_text import is_list, read_text
from retrieval.claim import as_sentence, in_full, read_claim
from retrieval.claim_lists.files import ListFile, read_claims, separator_of
from retrieval.corpora.corpus import Page
from retrieval.errors import BadSource, EsotericError
from retrieval.pipeline.claim_parser import ClaimParser, Spelling
from retrieval.quantities import amounts
from retrieval.quantities import halves as comparing
from retrieval.quantities.computed import excerpts, with_computed
from retrieval.quantities.reading import COUNT, Quantity, dimensions, quantities, time_after
from retrieval.stages.decide.proof import cut as phrases_of
from retrieval.stages.decide.proof import label_of, operator_of
from retrieval.text.clause import as_statement
from retrieval.text.context import CopiedSentences, context_of
from retrieval.text.english import EnglishParser
from retrieval.text.figures import written_alike
from retrieval.text.notices import NAMELESS, NO_STATEMENT, SEVERAL, is_name_alone, plain_statement
from retrieval.text.statement_cutter import statements
from retrieval.text.subject import subject_of
from retrieval.text.word_forms import edit_distance
from retrieval.types import SUPPORTS, Document, Sentence
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.cases import rows, rules
from tests.support.evidence import document

# Each gets the parser and the arguments of a case.
Rule = Callable[..., object]
MILL = "The mill of Birchwick burned down in 1931."


def refusal(reads: Callable[[Any], object], text: object) -> str:
    """The code of the error, which says what is wrong and what to do."""
    with pytest.raises(EsotericError) as refused:
        reads(text)
    assert refused.value.message
    assert refused.value.hint
    return refused.value.code


def refused_unless_anyway(_: EnglishParser, text: str) -> str:
    assert read_claim(text, anyway=True).text
    with pytest.raises(EsotericError, match="as it is, use `esoteric check --anyway`") as refused:
        read_claim(text)
    return refused.value.code


def unwrapped(_: EnglishParser, around: str) -> bool:
    read = read_claim(around)
    return (read.text, read.original, read.rewritten) == (MILL, around, around)


def as_it_is(_: EnglishParser, claim: str) -> bool:
    read = read_claim(claim)
    return (read.text, read.notices) == (claim, ())


def has_notice(_: EnglishParser, claim: str, notice: str) -> bool:
    return any(notice in one for one in read_claim(claim, anyway=True).notices)


SPELLING_PAGES = rows("spelling", ["title"], "text")
PAGES = [Page(title, title, None, text) for _, (title,), text in SPELLING_PAGES]
PAGES += [Page(f"{n}", f"{n}", None, "A president is elected and honest.") for n in range(20)]
SPELLING = Spelling(InMemoryStore(PAGES, None))


def respelt(parser: EnglishParser, claim: str, read: str) -> bool:
    found = ClaimParser(parser, SPELLING).parse(claim).read
    assert any("is not in the corpus; it was read as “" in one for one in found.notices)
    return (found.text, found.original) == (read, claim)


def spelt_well(parser: EnglishParser, claim: str) -> bool:
    found = ClaimParser(parser, SPELLING).parse(claim).read
    return (found.text, found.notices) == (claim, ())


def suggested(parser: EnglishParser, claim: str, suggestion: str) -> bool:
    found = ClaimParser(parser, SPELLING).parse(claim)
    return (found.suggestion, found.read.text) == (suggestion, claim)


def titled(parser: EnglishParser, claim: str, titles: list[str], titled: str) -> bool:
    claims = ClaimParser(parser, SPELLING)
    return claims.titled(claims.parse(claim), titles) == titled


def cut(parser: EnglishParser, claim: str) -> list[str]:
    return [one.text for one in statements(parser.parse(claim), parser)]


def notices(parser: EnglishParser, claim: str) -> Sequence[str]:
    return ClaimParser(parser).parse(claim).read.notices


def statements_and_notice(parser: EnglishParser, claim: str) -> object:
    found = ClaimParser(parser).parse(claim)
    assert found.read.notices in ((), (SEVERAL,))
    return [len(found.statements), bool(found.read.notices)]


def covered(parser: EnglishParser, claim: str) -> list[str]:
    """The phrases of a claim: at most twelve in order, with each word in exactly one of them."""
    spans = phrases_of(parser.parse(claim))
    assert 1 <= len(spans) <= 12
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    for word in re.finditer(r"\w+", claim):
        holding = [span for span in spans if span[0] <= word.start() and word.end() <= span[1]]
        assert len(holding) == 1, word[0]
    return [claim[start:end] for start, end in spans]


def are_cut(parser: EnglishParser, phrases: str) -> bool:
    claim = phrases.replace(" | ", " ")
    return bool(covered(parser, claim)) and covered(parser, f"{claim}.") == phrases.split(" | ")


def converted(_: EnglishParser, first: str, second: str) -> bool:
    values = []
    for text in (first, second):
        (numeral,) = amounts.numerals(text)
        found = amounts.unit_after(text, numeral.end)
        values.append((found[0].dimension, found[0].in_base(numeral.value)))
    return values[0] == (values[1][0], pytest.approx(values[1][1]))


def compared_in(parser: EnglishParser, claim: str) -> comparing.Comparison:
    found = comparing.comparison(parser.parse(claim))
    assert found is not None
    return found


def halves(parser: EnglishParser, claim: str) -> object:
    found = compared_in(parser, claim)
    return [*([half.text for half in side] for side in (found.first, found.second)), found.more]


def side(
    parser: EnglishParser, half: comparing.Half, *sentences: str, sure: float = 0.9
) -> list[comparing.Filled]:
    """Return the half with every quantity of its kind in the sentences, all equally probable."""
    return [
        comparing.Filled(half, filling, place, sure)
        for place, sentence in enumerate(sentences)
        for filling in comparing.fillings(parser.parse(sentence))
        if half.takes(filling.quantity.dimension)
    ]


def ruled(parser: EnglishParser, claim: str, first: str, second: str) -> comparing.Ruling | None:
    found = compared_in(parser, claim)
    one, other = side(parser, found.first[0], first), side(parser, found.second[0], second)
    made = comparing.compared(found, one, other)
    return made[0] if made else None


def half(parser: EnglishParser, sentence: str, dimension: str) -> str:
    (filling,) = comparing.fillings(parser.parse(sentence))
    return comparing.filled(comparing.Half("The mill opened {}", dimension), filling)


def only(parser: EnglishParser, text: str) -> Quantity:
    (found,) = quantities(parser.parse(text))
    return found


def decided(parser: EnglishParser, claim: str, first: str, second: str) -> comparing.Ruling:
    found = ruled(parser, claim, first, second)
    assert found is not None
    return found


def limited(parser: EnglishParser, words: str, core: list[Any]) -> bool:
    found = only(parser, f"It has {words} seats.")
    return (found.dimension, found.core) == ("count of seat", amounts.Interval(*core))


def least(parser: EnglishParser, words: str) -> object:
    return pytest.approx(only(parser, f"It has {words} legs.").reach.low)


def rounded(_: EnglishParser, text: str, step: float) -> bool:
    return [numeral.step for numeral in amounts.numerals(text)] == [pytest.approx(step)]


def days(_: EnglishParser, text: str) -> float | None:
    found = [date.span.high - date.span.low for date in amounts.dates(text)]
    assert len(found) < 2
    return found[0] if found else None


def contexts(_: EnglishParser, title: str, text: str, sentences: list[str]) -> object:
    starts = [text.index(sentence) for sentence in sentences]
    made = tuple(
        Sentence(title, number, sentence, start, start + len(sentence))
        for number, (start, sentence) in enumerate(zip(starts, sentences, strict=True))
    )
    read = Document(title, title, None, text, made)
    return [list(context_of(read, sentence)) for sentence in made]


def copies(_: EnglishParser, documents: list[list[str]]) -> int:
    """How many documents have the last sentence of the first one."""
    made = [document(*one) for one in documents]
    return CopiedSentences(made).documents_with(made[0].sentences[-1].key)


def listed(name: str, content: str) -> ListFile:
    return ListFile(name, content.encode())


def claims(_: EnglishParser, name: str, content: str, column: str | None) -> list[str]:
    return [row.claim for row in read_claims(listed(name, content), column)]


def lists(_: EnglishParser, name: str, content: str) -> object:
    return [[row.claim, row.others] for row in read_claims(listed(name, content))]


def bad_rows(_: EnglishParser, name: str, content: str) -> object:
    found = read_claims(listed(name, content))
    return [[row.where, row.problem.code if row.problem else row.claim] for row in found]


def is_refused(_: EnglishParser, name: str, content: str, column: str | None, error: str) -> bool:
    with pytest.raises(BadSource) as refused:
        read_claims(listed(name, content), column, most=3)
    return error in str(refused.value)


def is_about(parser: EnglishParser, claim: str, title: str, sentence: str) -> bool:
    return subject_of(parser.parse(claim)).is_in([(title, sentence)])


# Subject, arguments and what is expected: True where that is not named.
day_of = date.fromisoformat
RULES: list[tuple[str, str, str, Rule]] = [
    # What is read of a claim, what is refused, and what a notice says.
    ("claims", "text", "refused", lambda _, text: refusal(read_claim, text)),
    ("claims", "text", "refused_unless_anyway", refused_unless_anyway),
    ("claims", "written", "read", lambda _, text: read_claim(text).text),
    ("claims", "around", "", unwrapped),
    ("claims", "claim", "", as_it_is),
    ("claims", "claim notice", "", has_notice),
    ("claims", "not_refused", "", lambda _, text: bool(read_claim(text).text)),
    ("claims", "words", "name_alone", lambda _, words: is_name_alone(words)),
    ("short_forms", "written", "read", lambda _, text: in_full(text)),
    ("as_sentence", "written", "read", lambda _, text: as_sentence(text)),
    ("no_statement", "text", "names_only", lambda p, text: NO_STATEMENT in notices(p, text)),
    ("no_statement", "claim", "nameless", lambda p, claim: NAMELESS in notices(p, claim)),
    # Questions, statements, and what they are about.
    ("plain_questions", "question", "statement", lambda _, asked: plain_statement(asked)),
    ("questions", "question", "statement", lambda p, asked: as_statement(asked, p)),
    ("statements", "claim", "parts", cut),
    ("statements", "claim", "", lambda p, claim: cut(p, claim) == [claim]),
    ("statements", "claim", "number several", statements_and_notice),
    ("subjects", "claim title sentence", "about", is_about),
    ("subjects", "claim", "subject", lambda p, claim: subject_of(p.parse(claim)).text),
    ("subjects", "claim title", "own", lambda p, c, t: subject_of(p.parse(c)).is_titled(t)),
    ("spelling", "one other", "edits", lambda _, one, other: edit_distance(one, other)),
    ("spelling", "one other", "edits", lambda _, one, other: edit_distance(other, one)),
    ("spelling", "claim read", "", respelt),
    ("spelling", "claim", "", spelt_well),
    ("spelling", "claim suggestion", "", suggested),
    ("spelling", "claim titles titled", "", titled),
    # Proofs: each step leads to the state of the published automaton.
    ("phrases", "operators", "label", lambda _, operators: label_of(operators)),
    ("phrases", "phrases", "", are_cut),
    ("phrases", "claim", "phrases", lambda p, claim: " | ".join(covered(p, claim))),
    ("phrases", "odd", "", lambda p, claim: bool(covered(p, claim))),
    ("proof", "probabilities cutoff", "operator", lambda _, *given: operator_of(*given)),
    # Numbers, units and dates, and what compares them.
    ("quantities", "text", "numbers", lambda _, t: [one.value for one in amounts.numerals(t)]),
    ("quantities", "text step", "", rounded),
    ("quantities", "first second", "", converted),
    ("quantities", "text dimensions", "", lambda _, text, of: dimensions(text) == set(of)),
    ("quantities", "text", "days", days),
    ("quantities", "text after", "time", lambda p, t, d: time_after(p.parse(t), day_of(d))),
    ("quantities", "words core", "", limited),
    ("quantities", "text", "seconds", lambda p, t: [i.core.low for i in quantities(p.parse(t))]),
    ("quantities", "words", "least", least),
    ("computed", "claim evidence", "noted", lambda _, *pair: with_computed(*pair)),
    ("computed", "claim evidence", "shown", lambda _, *pair: list(excerpts(*pair))),
    ("figures", "claim evidence", "read", lambda _, *pair: list(written_alike(*pair))),
    ("quantities", "text", "dimension", lambda p, text: only(p, text).dimension),
    ("comparisons", "claim", "first_half second_half more", halves),
    ("no_comparisons", "claim", "", lambda p, claim: comparing.comparison(p.parse(claim)) is None),
    ("comparisons", "sentence dimension", "filled_half", half),
    ("comparisons", "claim first second", "label", lambda *given: decided(*given).label),
    ("comparisons", "claim first second", "because", lambda *given: decided(*given).because),
    ("comparisons_undecided", "claim first second", "", lambda *given: ruled(*given) is None),
    # Sentences and their neighbours.
    ("contexts", "title text sentences", "contexts", contexts),
    ("copies", "documents", "copies", copies),
    # Texts and lists.
    ("given_text", "text", "refused", lambda _, text: refusal(read_text, text)),
    ("given_text", "text", "listed", lambda _, text: is_list(text)),
    ("claim_lists", "name content column", "claims", claims),
    ("claim_lists", "name content", "rows", lists),
    ("claim_lists", "name content", "read", bad_rows),
    ("claim_lists", "name content column error", "", is_refused),
    ("claim_lists", "name content", "separator", lambda _, *given: separator_of(listed(*given))),
]


@rules(*RULES)
def test_a_rule_says_what_is_expected(
    parser: EnglishParser, rule: Rule, given: list[Any], expected: object
) -> None:
    assert rule(parser, *given) == expected


# --- what has more than one result


def test_numbers_and_units_are_read_as_written_and_converted_both_ways() -> None:
    # What has more digits than can be converted is no number.
    assert [one.value for one in amounts.numerals(f"1{'0' * 320} m, 1{'0' * 5000} m, 7 m")] == [7]
    for unit in map(amounts._unit, amounts._UNITS):
        assert unit.from_base(unit.in_base(12.5)) == pytest.approx(12.5)
    found = amounts.currency_before("It cost C$14 million.", 10)
    assert (found[0].name, found[1]) == ("Canadian dollar", 8)
    assert amounts.currency_before("It cost 14 million.", 8) is None
    # Years before Christ are counted backwards.
    first, last = amounts.dates("1750 to 1050 BC")
    assert first.span.high < last.span.low < 0
    (century,) = amounts.dates("the 2nd century BC")
    bounds = (century.span.low, century.span.high)
    assert bounds == pytest.approx((-200 * 365.2425, -100 * 365.2425))


def test_intervals_know_what_they_contain() -> None:
    assert amounts.point(5).within(amounts.above(4))
    assert not amounts.point(4).within(amounts.above(4))
    assert amounts.point(4).within(amounts.above(4, open_end=False))
    assert amounts.point(4).apart(amounts.above(4))
    assert amounts.Interval(1, 2).apart(amounts.Interval(2, 3, low_open=True))
    assert not amounts.Interval(1, 2).apart(amounts.Interval(2, 3))
    assert amounts.above(3).high == math.inf


def test_how_much_earlier_is_compared_and_a_span_has_two_dates(parser: EnglishParser) -> None:
    found = compared_in(parser, "The mill opened more than three years after the bridge fell.")
    assert (found.by.said, found.by.kind) == ("three years", "bound")
    spans = comparing.fillings(parser.parse("She was king from 1901 to May 1917."))
    assert [item.words for item in spans] == ["1901", "May 1917"]


def test_several_fillings_must_agree_unless_one_is_hardly_supported(parser: EnglishParser) -> None:
    selm, orn = (
        comparing.Half(f"{town} has {{}} people", f"{COUNT}people") for town in ("Selm", "Orn")
    )
    claim = comparing.Comparison((selm,), (orn,), more=True)
    few = side(parser, orn, "It has 500 people.")
    agree = comparing.compared(
        claim, side(parser, selm, "It has 900 people.", "It had 1,200 people."), few
    )
    assert agree[0].label == SUPPORTS
    apart = side(parser, selm, "It has 900 people.", "It had 120 people.")
    assert comparing.compared(claim, apart, few) is None
    sure = side(parser, selm, "It has 900 people.", sure=0.95)
    unsure = side(parser, selm, "It had 120 people.", sure=0.5)
    found = comparing.compared(claim, [*sure, *unsure], few)
    said = "900 is more than 500 (read as: Selm has 900 people; Orn has 500 people)."
    assert found[0] == comparing.Ruling(SUPPORTS, said, sure[0].probability * few[0].probability)
