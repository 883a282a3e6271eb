# ruff: noqa: RUF001 - wide letters and curly marks are meant
from __future__ import annotations

import pytest

from retrieval.claim import CHECKED_ANYWAY, LONGEST, read_claim
from retrieval.errors import InvalidClaim
from retrieval.text.notices import is_name_alone, sentences_in

REFUSED = {
    "": "claim_empty",
    " \t\n ": "claim_empty",
    "\u200b\u200e": "claim_empty",
    "a": "claim_too_short",
    "w w w, w!": "claim_too_short",
    "7!": "claim_no_letters",
    "1066": "claim_no_letters",
    "🙂🙂": "claim_no_letters",
    "?*:()": "claim_no_letters",
    "The sun\x00is hot.": "claim_control_characters",
    "The sun\x1bis hot.": "claim_control_characters",
    "The sun \ud800 is hot.": "claim_control_characters",
    "The caf\ufffd is open.": "claim_unreadable",
    "word " * 101: "claim_too_long",
    "=2+2": "claim_no_letters",
    "=SUM(A1:A3)": "claim_formula",
    '=HYPERLINK("http://example.org","more")': "claim_formula",
    "@rand()": "claim_formula",
    "Rating: False.": "claim_rating",
    "Our ruling: Mostly true!": "claim_rating",
    "Verdict – 3 out of 5": "claim_rating",
    "Fact check: Misleading": "claim_rating",
    "True.": "claim_rating",
}


@pytest.mark.parametrize(("text", "code"), REFUSED.items())
def test_what_cannot_be_checked_is_refused_with_a_hint(text: str, code: str) -> None:
    with pytest.raises(InvalidClaim) as caught:
        read_claim(text)
    assert caught.value.code == code
    assert caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "E = mc2",
        "The verdict was false.",
        "Verdict: the mill of Birchwick burned down.",
        "True Grit is a film.",
        "-5 degrees is cold.",
    ],
)
def test_what_only_looks_like_a_formula_or_a_rating_is_read(text: str) -> None:
    assert read_claim(text).text == text


@pytest.mark.parametrize("value", [None, 7, ["a claim"], b"a claim"])
def test_what_is_not_text_is_refused(value: object) -> None:
    with pytest.raises(InvalidClaim, match="not text"):
        read_claim(value)


def test_exactly_the_longest_claim_is_read() -> None:
    assert len(read_claim("a" * LONGEST).text) == LONGEST


def test_white_space_is_folded_and_unicode_composed() -> None:
    assert read_claim("  Zoe\u0308 \t lives\nhere.  ").text == "Zoë lives here."


def test_invisible_and_direction_characters_are_removed() -> None:
    assert read_claim("The \u202esun\u202c is\u200b hot.").text == "The sun is hot."


MILL = "The mill of Birchwick burned down in 1931."


@pytest.mark.parametrize(
    "written",
    [
        f"Fact check: {MILL}",
        "Fact-check: the mill of Birchwick burned down in 1931.",
        f"BREAKING: Claim: {MILL}",
        f"RT @miller: {MILL}",
        f"{MILL} #history #OldMills",
        f"{MILL} https://example.org/mill?x=1",
        f"{MILL} #history https://example.org/mill www.example.org",
        "The #mill of #Birchwick burned down in 1931.",
        "The mill of Birchwick burned down in １９３１.",
        "The mill of Birchwick burned down in nineteen thirty-one.",
        "Is it true that the mill of Birchwick burned down in 1931?",
        "Claim: is it really true the mill of Birchwick burned down in nineteen thirty-one",
    ],
)
def test_what_is_around_a_claim_is_removed_and_kept_as_written(written: str) -> None:
    read = read_claim(written)
    assert read.text == MILL
    assert read.original == read.rewritten == written


def test_a_claim_that_needs_no_change_has_no_other_form() -> None:
    read = read_claim(f"  {MILL} ")
    assert (read.text, read.rewritten) == (MILL, None)


def test_a_question_for_the_truth_of_a_statement_is_named_as_such() -> None:
    read = read_claim("Is it true that the mill burned down?")
    assert read.notices == ("Checked as the statement “The mill burned down.”.",)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        # Windows-1252 in a text that says that it is Unicode.
        ("The \x93old\x94 mill\x92s wheel \x96 it turned.", "The “old” mill’s wheel – it turned."),
        # UTF-8 that was read as Windows-1252.
        ("The mill\u00e2\u20ac\u2122s caf\u00c3\u00a9 is open.", "The mill’s café is open."),
        ("The mill has 5 km² of land and H₂O.", "The mill has 5 km² of land and H₂O."),
        ("Ｔｈｅ　ｍｉｌｌ is old！", "The mill is old!"),
        ("The mill lies in #Wales", "The mill lies in Wales"),
        ("C# and #1 are kept.", "C# and #1 are kept."),
        ("The report: Claim: it fell.", "The report: Claim: it fell."),
        ("Claim: eBay sold the mill.", "eBay sold the mill."),
    ],
)
def test_characters_and_marks_are_read_as_they_were_meant(written: str, read: str) -> None:
    assert read_claim(written).text == read


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("It burned in nineteen thirty-one.", "It burned in 1931."),
        ("It fell in nineteen oh five.", "It fell in 1905."),
        ("It fell in nineteen hundred and five.", "It fell in 1905."),
        ("It fell in two thousand and eight.", "It fell in 2008."),
        ("It fell in twenty twelve.", "It fell in 2012."),
        ("Twelve people lived there.", "12 people lived there."),
        ("It had three hundred and forty-two stones.", "It had 342 stones."),
        ("It cost twelve million pounds.", "It cost 12 million pounds."),
        ("It stood a hundred and twenty years.", "It stood 120 years."),
    ],
)
def test_number_words_become_digits(words: str, digits: str) -> None:
    assert read_claim(words).text == digits


@pytest.mark.parametrize(
    "text",
    [
        "One of the seven mills is old.",
        "No one lived there.",
        "It stood a hundred years.",
        "Twelve Angry Men is a film.",
        "Nineteen Eighty-Four is a novel.",
        'The book "fifty shades" is old.',
        "A twelve-year-old built it.",
        "It was built in the nineteen thirties.",
        "The twenty-first mill fell.",
        "Two million people saw it.",
    ],
)
def test_small_numbers_names_and_parts_of_words_stay_words(text: str) -> None:
    assert read_claim(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert('sun')</script>",
        "Robert'); DROP TABLE claims;--",
        'title:"sun" AND (moon OR *)',
        "Frankenstein was written by Mary Shelley.",
        "El Niño is a climate pattern.",
        "La La Land won six Oscars.",
        "Die Hard is a film.",
        "J. K. Rowling lives in the U.K. with Dr. Smith.",
        "Le Corbusier was an architect.",
        "The Simpsons is a show",
        "Vincent van Gogh painted sunflowers.",
        "Charles de Gaulle led France.",
        "Pinochet was de facto leader.",
        "Leonardo da Vinci ate no meat.",
        "Los Angeles hosts a marathon.",
        "Oscar de la Renta was a designer.",
        "La bamba is a song.",
        "A jalapeño is served at every café.",
        "Vigdís Finnbogadóttir led Iceland.",
        "Erdoğan lives in Ankara.",
        "What Women Want is a film",
        "When Harry Met Sally is a film",
        "Will Smith sings",
        "Can was a band",
        "Yahoo! is a company.",
        "Warner Bros. is a studio.",
        "The wall is approx. nine feet high.",
    ],
)
def test_text_that_looks_like_something_else_is_a_claim_without_notice(text: str) -> None:
    read = read_claim(text)
    assert (read.text, read.notices) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "Vincent van gogh painted sunflowers.",
        "Rio de janeiro hosted games.",
        "Sen. Ann Lee ran twice.",
        "Do the Right Thing is a film",
        "Are You Experienced was recorded in London",
    ],
)
def test_names_and_titles_are_no_reason_for_a_notice(text: str) -> None:
    assert read_claim(text).notices == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Rome is very old. Paris is large.", "more than one statement"),
        ("Is Rome very old?", "question"),
        ("who painted the ceiling", "question"),
        ("Where is Paris", "question"),
        ("What is the capital of France", "question"),
        ("Is Paris in France", "question"),
        ("Which river crosses Paris", "question"),
        ("How many bridges has Paris", "question"),
        ("Rome is very old. it is large too.", "more than one statement"),
        ("Is Rome old? It is large.", "more than one statement"),
        ("Berlin ist die Hauptstadt Deutschlands.", "English only"),
        ("Paris est la capitale de la France.", "English only"),
        ("Madrid es la capital de España.", "English only"),
        ("Roma è la capitale d'Italia.", "English only"),
        ("Amsterdam is de hoofdstad van Nederland.", "English only"),
        ("Warszawa jest stolicą Polski.", "English only"),
        ("Ankara Türkiye'nin başkentidir.", "English only"),
        ("La luna gira alrededor de la Tierra.", "English only"),
        ("La lune tourne autour de la Terre.", "English only"),
        ("Lisboa é a capital de Portugal.", "English only"),
        ("Stockholm är huvudstad i Sverige.", "English only"),
        ("Der Turm wurde von einem Ingenieur gebaut und ist nicht alt.", "English only"),
        ("La tour est dans le centre de la ville.", "English only"),
        ("Луна вращается вокруг Земли.", "English only"),
        ("القمر يدور حول الأرض", "English only"),
        ("月は地球の周りを回っている。", "English only"),
    ],
)
def test_a_notice_names_what_makes_an_answer_worse(text: str, word: str) -> None:
    assert any(word in notice for notice in read_claim(text, anyway=True).notices)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Who painted the ceiling?", "claim_wh_question"),
        ("where is Paris", "claim_wh_question"),
        ("How many bridges has Paris", "claim_wh_question"),
        ("In which year was the mill built?", "claim_wh_question"),
        ("Fact check: what is the capital of France?", "claim_wh_question"),
        ("https://example.org/the-mill", "claim_link"),
        ("Claim: www.example.org #mill", "claim_link"),
        ("Paris est la capitale de la France.", "claim_not_english"),
        ("Луна вращается вокруг Земли.", "claim_not_english"),
    ],
)
def test_what_has_no_verdict_is_checked_only_if_that_is_asked_for(text: str, code: str) -> None:
    with pytest.raises(
        InvalidClaim, match="To check it as it is, use `esoteric check --anyway`"
    ) as e:
        read_claim(text)
    assert e.value.code == code
    assert code in CHECKED_ANYWAY
    assert read_claim(text, anyway=True).text


@pytest.mark.parametrize(
    "text",
    [
        "Is Paris in France?",
        "Was the mill built in 1931?",
        "What Women Want is a film",
        "The capital is Dar es Salaam.",
        "Paris lies in France, see https://example.org",
    ],
)
def test_a_question_for_yes_or_no_a_title_and_a_foreign_name_are_not_refused(text: str) -> None:
    assert read_claim(text).text


def test_texts_without_end_are_read_once_from_begin_to_end() -> None:
    for text in ("a" * 1_000_000, "7" * 1_000_000, "#a " * 300_000):
        with pytest.raises(InvalidClaim) as refused:
            read_claim(text)
        assert refused.value.code == "claim_too_long"
        assert sentences_in(text) == [text.strip()]


@pytest.mark.parametrize(
    "text", ["Marie Curie", "J. K. Rowling", "Leonardo da Vinci", "Jean-Paul Sartre", "Émile Zola"]
)
def test_a_name_alone_is_known_by_its_capitals(text: str) -> None:
    assert is_name_alone(text)


@pytest.mark.parametrize(
    "text",
    ["", "Tea", "Tea is", "Apollo Lands", "Vincent van", "Who Made Tea", "Tea Is Hot", "Tea Is."],
)
def test_half_a_claim_and_a_headline_are_no_name_alone(text: str) -> None:
    assert not is_name_alone(text)
