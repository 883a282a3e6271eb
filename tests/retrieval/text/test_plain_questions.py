"""Questions that rules alone turn into statements, and those that they leave alone."""

from __future__ import annotations

import pytest

from retrieval.text.plain_questions import plain_statement


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Is the earth flat?", "The earth is flat."),
        ("is  the earth flat ?", "The earth is flat."),
        ("Is Paris the capital of France?", "Paris is the capital of France."),
        ("Was Frankenstein written by Mary Shelley?", "Frankenstein was written by Mary Shelley."),
        ("Was Sputnik 1 launched in 1957?", "Sputnik 1 was launched in 1957."),
        ("Is London bigger than Paris?", "London is bigger than Paris."),
        ("Is the number 7 prime?", "The number 7 is prime."),
        ("Does the land form a bridge?", "The land forms a bridge."),
        ("Are bananas berries?", "Bananas are berries."),
        ("Are whales a kind of fish?", "Whales are a kind of fish."),
        ("Is the blue whale extinct?", "The blue whale is extinct."),
        ("Is the speed of light constant?", "The speed of light is constant."),
        (
            "Was the Great Wall of China built by hand?",
            "The Great Wall of China was built by hand.",
        ),
        ("Is there water on Mars?", "There is water on Mars."),
        ("Do vaccines cause autism?", "Vaccines cause autism."),
        ("Does the earth orbit the sun?", "The earth orbits the sun."),
        ("Does the polar bear live in the Arctic?", "The polar bear lives in the Arctic."),
        ("Did Neil Armstrong walk on the Moon?", "Neil Armstrong walked on the Moon."),
        ("Did Mary Shelley write Frankenstein?", "Mary Shelley wrote Frankenstein."),
        ("Did Germany ban nuclear power?", "Germany banned nuclear power."),
        ("Do polar bears eat fish?", "Polar bears eat fish."),
        ("Does the cat eat raw fish in Japan?", "The cat eats raw fish in Japan."),
        ("Can penguins fly?", "Penguins can fly."),
        ("Has Brazil won five World Cups?", "Brazil has won five World Cups."),
        ("The earth is flat?", "The earth is flat."),
    ],
)
def test_a_plain_question_is_a_statement(question: str, statement: str) -> None:
    assert plain_statement(question) == statement


@pytest.mark.parametrize(
    "question",
    [
        "The earth is flat.",  # no question
        "Is it true?",  # of what?
        "Who wrote Frankenstein?",
        "Is Paris, the capital, old?",
        "Is the capital of France Paris?",  # "the capital of France" or "France Paris"
        "Is Canada's capital Toronto?",
        "Is Python code fast to run?",  # "Python is code …" would be wrong
        "Did the hen lie there?",  # lay, or lied
        "Is the tallest building in the world in Dubai?",
        "Is the speed of light constant in a vacuum?",
        "Has anyone walked on Mars?",
        "Isn't the earth flat?",
        "Really?",
        "Is Berlin Germany's capital?",
        'Is "Jaws" a film?',
    ],
)
def test_a_question_whose_subject_is_unclear_is_left_alone(question: str) -> None:
    assert plain_statement(question) is None
