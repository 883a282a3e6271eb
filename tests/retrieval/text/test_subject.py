"""Whether a sentence is about what the claim is about."""

from __future__ import annotations

import pytest

from retrieval.text.english import EnglishParser
from retrieval.text.subject import subject_of
from tests.support.cases import cases

PARSER = EnglishParser()


def about(claim: str, *texts: tuple[str, str]) -> bool:
    """Return whether the (title, sentence) pairs are about the subject of the claim."""
    found: bool = subject_of(PARSER.parse(claim)).is_in(texts)
    return found


@cases("subject_is_in", "claim", "title", "sentence")
def test_a_sentence_with_the_subject_in_any_form_is_about_it(
    claim: str, title: str, sentence: str
) -> None:
    assert about(claim, (title, sentence))


@cases("subject_is_not_in", "claim", "title", "sentence")
def test_a_sentence_about_another_thing_of_the_same_kind_is_not(
    claim: str, title: str, sentence: str
) -> None:
    assert not about(claim, (title, sentence))


@cases("subject_unique", "claim", "title", "sentence")
def test_what_is_true_of_one_thing_only_may_be_said_of_another(
    claim: str, title: str, sentence: str
) -> None:
    assert about(claim, (title, sentence))


def test_the_sentences_of_a_path_are_taken_together() -> None:
    claim = "The author of Frankenstein was born in London."
    novel = ("Frankenstein", "It is a novel by Mary Shelley.")
    author = ("Mary Shelley", "She was born in London.")
    assert about(claim, author, novel)
    assert not about(claim, author)


def test_a_thing_without_a_name_may_be_named_by_a_title_that_the_claim_contains() -> None:
    claim = "Each side has eleven players in rugby."
    assert about(claim, ("Rugby (sport)", "Teams have fifteen players."))
    assert not about(claim, ("Chess", "Each player has sixteen pieces."))


@pytest.mark.parametrize(
    "claim", ["There is a lake.", "It is old.", "People breathe air.", "Old and grey.", "?"]
)
def test_a_claim_without_a_subject_that_is_recognised_lets_every_sentence_pass(claim: str) -> None:
    assert about(claim, ("Varnby", "It has a harbour."))
    assert subject_of(PARSER.parse(claim)).text == ""


def test_the_words_of_the_subject_are_known() -> None:
    claim = "The old brewery of Holmstead employs ninety people."
    assert subject_of(PARSER.parse(claim)).text == "The old brewery of Holmstead"


@cases("subject_is_in", "claim", "title", "own")
def test_a_document_is_about_the_subject_if_its_title_is_a_name_of_it(
    claim: str, title: str, own: bool
) -> None:
    assert subject_of(PARSER.parse(claim)).is_titled(title) == own
