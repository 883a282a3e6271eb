"""Questions, worked out by hand for each shape of claim."""

from __future__ import annotations

import pytest

from retrieval.stages.find.questions import MOST, RuleQuestionGenerator
from retrieval.stages.find.spans import SpacySpanExtractor
from retrieval.text.english import EnglishParser
from retrieval.types import Question

POLAR = {
    "Lisbon is the capital of Portugal.": "Is Lisbon the capital of Portugal?",
    "Emma Stone starred in a musical.": "Did Emma Stone star in a musical?",
    "Casablanca was directed by Michael Curtiz.": "Was Casablanca directed by Michael Curtiz?",
    "The Senate has 100 members.": "Does the Senate have 100 members?",
    "Marie Curie died before the war ended.": "Did Marie Curie die before the war ended?",
    "Vincent van Gogh only sold one painting.": "Did Vincent van Gogh only sell one painting?",
    "Bach and Handel were born in 1685.": "Were Bach and Handel born in 1685?",
    "Doctors treat patients.": "Do doctors treat patients?",
    "Galileo did not discover Neptune.": "Did Galileo not discover Neptune?",
    "Napoleon wasn't born in Paris.": "Wasn't Napoleon born in Paris?",
    "Nobody has visited Mars.": "Has nobody visited Mars?",
    "Whales are not fish.": "Are whales not fish?",
    "Mozart could play the violin.": "Could Mozart play the violin?",
    "The company was founded by Ann Lee and Tom Ford.": (
        "Was the company founded by Ann Lee and Tom Ford?"
    ),
    "Ann Lee, who founded the company, lives in Dublin.": (
        "Does Ann Lee, who founded the company, live in Dublin?"
    ),
    "There is a river called Isar.": "Is there a river called Isar?",
    "There are eight planets in the Solar System.": "Are there eight planets in the Solar System?",
    "Telemundo is an English-language television network.": (
        "Is Telemundo an English-language television network?"
    ),
    "Telemundo has been established as a television network.": (
        "Has Telemundo been established as a television network?"
    ),
    "In 1815, Napoleon lost the Battle of Waterloo.": (
        "Did Napoleon lose the Battle of Waterloo in 1815?"
    ),
    "Cats are popular.": "Are cats popular?",
    "Was Bach born in Leipzig?": "Was Bach born in Leipzig?",
    "Who painted the Mona Lisa?": "Who painted the Mona Lisa?",
    "Sputnik": "What is Sputnik?",
}

WH = {
    "Frankenstein was written by Mary Shelley.": "Who was Frankenstein written by?",
    "Ada Lovelace wrote the first program.": "Who wrote the first program?",
    "Ada Lovelace wrote the first computer program.": "What did Ada Lovelace write?",
    "Sputnik 1 was launched by the Soviet Union in 1957.": (
        "When was Sputnik 1 launched by the Soviet Union?"
    ),
    "Isaac Newton was born in France.": "Where was Isaac Newton born?",
    "Rome has seven hills.": "How many hills does Rome have?",
    "Usain Bolt has won eight gold medals.": "How many gold medals has Usain Bolt won?",
    "Galileo discovered four moons of Jupiter.": "How many moons of Jupiter did Galileo discover?",
    "Lisbon is the capital of Portugal.": "What is Lisbon the capital of?",
    "Canberra is the capital of Australia.": "What is the capital of Australia?",
    "Norway is a member of NATO.": "What is Norway?",
    "The Nile is longer than the Amazon.": "What is the Nile longer than?",
    "Leonardo da Vinci's father was a notary.": "What was Leonardo da Vinci's father?",
    "Harper Lee's only novel was a bestseller.": "Whose only novel was a bestseller?",
    "Mount Fuji is in Japan.": "Where is Mount Fuji?",
    "The bridge connects Buda with Pest.": "What does the bridge connect Buda with?",
    "The telescope was invented in the Netherlands.": "Where was the telescope invented?",
    "Ravel composed Bolero in 1928.": "When did Ravel compose Bolero?",
    "Alan Turing worked at Bletchley Park during the war.": (
        "When did Alan Turing work at Bletchley Park?"
    ),
    "Nelson Mandela was elected president in 1994.": "When was Nelson Mandela elected president?",
    "The opera was first performed in Milan in 1842.": (
        "When was the opera first performed in Milan?"
    ),
    "Mozart could play the violin.": "What could Mozart play?",
}


def questions(parser: EnglishParser, claim: str) -> list[Question]:
    doc = parser.parse(claim)
    spans = SpacySpanExtractor().extract(doc)
    return RuleQuestionGenerator().ask(doc, spans)


@pytest.mark.parametrize(("claim", "expected"), POLAR.items())
def test_the_polar_question_turns_the_claim_around(
    parser: EnglishParser, claim: str, expected: str
) -> None:
    asked = questions(parser, claim)
    assert [q.text for q in asked if q.kind == "polar"] == [expected]


@pytest.mark.parametrize(("claim", "expected"), WH.items())
def test_a_wh_question_asks_for_one_span(parser: EnglishParser, claim: str, expected: str) -> None:
    assert expected in [q.text for q in questions(parser, claim) if q.kind == "wh"]


@pytest.mark.parametrize("claim", [*POLAR, *WH, "Yes.", "!?", "Of the and in", "x" * 500])
def test_every_question_is_well_formed(parser: EnglishParser, claim: str) -> None:
    asked = questions(parser, claim)
    assert 1 <= len(asked) <= MOST
    for question in asked:
        assert question.text.endswith("?")
        assert question.text.count("?") <= 1 + claim[:-1].count("?")
        assert question.text[0] == question.text[0].upper()
        assert "  " not in question.text
        assert " ," not in question.text
    assert len({q.text for q in asked}) == len(asked)


def test_the_answer_is_not_in_its_question(parser: EnglishParser) -> None:
    for question in questions(parser, "Frankenstein was written by Mary Shelley."):
        if question.answer_span is not None:
            assert question.answer_span not in question.text


def test_several_sentences_are_not_turned_around(parser: EnglishParser) -> None:
    asked = questions(parser, "Rome is old. Paris is large.")
    assert asked[-1].text.startswith("Is it true that Rome is old.")


def test_questions_of_one_claim_do_not_appear_for_the_next(parser: EnglishParser) -> None:
    generator, extractor = RuleQuestionGenerator(), SpacySpanExtractor()
    claims = ["Rome has seven hills.", "Mozart could play the violin."]
    together = []
    for claim in claims:
        doc = parser.parse(claim)
        together.append(generator.ask(doc, extractor.extract(doc)))
    assert together == [questions(parser, claim) for claim in claims]
