"""What is checked before an answer of a language model is believed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.explanation.answer import AnswerInvalid, answer_schema, checked
from retrieval.explanation.prompt import prompt
from tests.evidence import evidence
from tests.explanation.chat_server import verdict

ASKED = prompt(
    "The lamp of Varn is red.",
    [
        replace(
            evidence("Lamp", "The lamp's light is red, said J. R. Holm in 1874."), selected=True
        ),
        evidence("Rock", "The rock is grey."),
        replace(evidence("Varn", "Varn is a rock."), selected=True),
    ],
)


def test_a_good_answer_is_returned_with_its_numbers_in_order() -> None:
    answer = checked(verdict("REFUTES", (3, 1, 3), "It says so.", "the year"), ASKED)
    assert (answer.label, answer.cites, answer.missing) == ("REFUTES", (1, 3), "the year")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "JSON"),
        ("SUPPORTS", "JSON"),
        ('{"label": "SUPPORTS"', "JSON"),
        ("[]", "object"),
        ('{"label": "SUPPORTS", "cites": [1], "rationale": "x"}', "missing"),
        (verdict()[:-1] + ', "extra": 1}', "extra"),
        (verdict("TRUE"), "label"),
        (verdict().replace("[1]", '["1"]'), "cites"),
        (verdict().replace("[1]", "[1.5]"), "cites"),
        (verdict().replace("[1]", "[true]"), "cites"),
        (verdict(cites=(2,)), "no evidence with the number 2"),
        (verdict(cites=(0, 1)), "no evidence with the number 0"),
        (verdict(cites=()), "must cite"),
        (verdict(rationale=" \u200b "), "empty"),
        (verdict(rationale="One. Two. Three. Four."), "more than 3 sentences"),
        (verdict(rationale="red " * 300), "too long"),
        (verdict(missing="red " * 300), "too long"),
        (verdict(rationale="It says “The lamp is blue”."), "The lamp is blue"),
        (verdict(rationale='It says "the lamp".', missing="It lacks «nothing»"), "nothing"),
        (verdict(rationale="It quotes „a lamp“."), "a lamp"),
        ("[" * 100_000, "JSON"),
        (verdict().replace("1]", "1" + "0" * 5000 + "]"), "number out of range"),
    ],
)
def test_an_answer_that_is_wrong_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(AnswerInvalid, match=reason):
        checked(text, ASKED)


@pytest.mark.parametrize(
    "rationale",
    [
        "It says “The lamp's light is red”.",
        "It says “the lamp’s light”.",  # noqa: RUF001 - another apostrophe is the same word
        'Holm said "red".',
        "The claim calls “the lamp of Varn” red.",
        "The title “Varn” is a rock.",
        "The lamp, by J. R. Holm, is red. It is of the U.S. Army. That is all.",
    ],
)
def test_words_of_the_claim_and_of_the_evidence_may_be_quoted(rationale: str) -> None:
    assert checked(verdict(rationale=rationale), ASKED).rationale == rationale


def test_no_decision_needs_no_evidence() -> None:
    assert checked(verdict("NOT ENOUGH INFO", ()), ASKED).cites == ()


def test_invisible_characters_of_an_answer_are_left_out() -> None:
    assert checked(verdict(rationale="It\u202e says\u200b so."), ASKED).rationale == "It says so."


def test_the_schema_allows_the_numbers_of_the_evidence_alone() -> None:
    schema = answer_schema([1, 3])
    assert schema["properties"]["cites"]["items"] == {"type": "integer", "enum": [1, 3]}
    assert schema["properties"]["cites"]["maxItems"] == 2
    assert schema["required"] == ["rationale", "cites", "label", "missing"]
    assert schema["additionalProperties"] is False
