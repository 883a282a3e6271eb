"""What a language model says: an answer that keeps the rules, or is refused by them."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval.llm_judge.answer import (
    LONGEST_MISSING,
    LONGEST_RATIONALE,
    AnswerInvalid,
    checked,
)
from retrieval.llm_judge.prompt import Prompt
from tests.hostile.strategies import quickly, texts, values

ASKED = Prompt("Tea is hot.", {1: ("Tea", "Tea is a hot drink."), 3: ("Cup", "A cup.")}, False, ())
LABELS = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
answers = st.fixed_dictionaries(
    {
        "rationale": st.one_of(texts, values),
        "cites": st.one_of(st.lists(st.integers(0, 4), max_size=4), values),
        "label": st.one_of(st.sampled_from(LABELS), values),
        "missing": st.one_of(st.just(""), texts, values),
    },
    optional={"more": values},
)


def read(text: str) -> None:
    with quickly():
        try:
            answer = checked(text, ASKED)
        except AnswerInvalid as error:
            said = str(error)
        else:
            said = ""
    assert len(said) < 200  # nothing of the answer, which may be hostile
    if said:
        return
    assert 0 < len(answer.rationale) <= LONGEST_RATIONALE
    assert len(answer.missing) <= LONGEST_MISSING
    assert set(answer.cites) <= ASKED.pieces.keys()
    assert answer.cites or answer.label == LABELS[2]


@given(st.one_of(texts, values.map(json.dumps)))
@example("[" * 200_000)
@example('{"rationale": "' + "“" * 50_000)
@example("```" * 50_000)
@example("```json" + "\n" * 200_000 + "{}")
def test_any_text_is_an_answer_or_is_refused(text: str) -> None:
    read(text)


@given(answers, st.sampled_from(["{}", "```json\n{}\n```", "```{}", " {} ", "Here: {}"]))
@example({"rationale": "\u2018a" * 300, "cites": [1], "label": "SUPPORTS", "missing": ""}, "{}")
@example({"rationale": '"' * 700, "cites": [1], "label": "SUPPORTS", "missing": ""}, "{}")
@example({"rationale": ". " * 350, "cites": [1], "label": "SUPPORTS", "missing": ""}, "{}")
def test_any_object_is_an_answer_or_is_refused(answer: object, around: str) -> None:
    read(around.replace("{}", json.dumps(answer)))


@pytest.mark.parametrize("label", LABELS)
def test_an_answer_that_keeps_the_rules_comes_back_as_it_is(label: str) -> None:
    said = {"rationale": "It says “a hot drink”.", "cites": [1, 3], "label": label, "missing": ""}
    assert checked(json.dumps(said), ASKED).model_dump(mode="json") == said
