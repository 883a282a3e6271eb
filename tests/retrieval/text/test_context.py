"""Which neighbours a sentence is read with."""

from __future__ import annotations

from itertools import pairwise

import pytest

from retrieval.text.context import LONGEST, Context, context_of
from retrieval.types import Document, Sentence
from tests.support.cases import cases
from tests.support.evidence import document

ALONE = Context(None, None)


def contexts(title: str, *sentences: str) -> list[Context]:
    """Return the context of each sentence of a document."""
    read = document(title, *sentences)
    return [context_of(read, sentence) for sentence in read.sentences]


@cases("read_together", "first", "second")
def test_a_claim_or_question_and_what_answers_it_are_read_together(first: str, second: str) -> None:
    assert contexts("Ostrell", first, second) == [Context(None, second), Context(first, None)]


@cases("read_alone", "first", "second")
def test_ordinary_prose_is_read_sentence_by_sentence(first: str, second: str) -> None:
    title = first.split()[1].capitalize()
    assert contexts(title, first, second) == [ALONE, ALONE]


def test_a_question_a_claim_and_its_rating_are_read_together() -> None:
    question, claim, rating = "Was it sold?", "Claim: The harbour was sold.", "Rating: False"
    assert contexts("Harbour", question, claim, rating, "The town owns it.") == [
        Context(None, f"{claim} {rating}"),
        Context(question, rating),
        Context(claim, None),
        ALONE,
    ]


def test_who_made_a_claim_may_stand_before_its_rating() -> None:
    claim, maker, rating = "Claim: It was sold.", "Claimed by: a post", "Verdict: False"
    assert contexts("Harbour", claim, maker, rating)[0] == Context(None, f"{maker} {rating}")


@pytest.mark.parametrize("word", ["He", "She", "It", "They", "His"])
def test_a_pronoun_is_read_with_the_sentence_before_unless_the_title_says_who_is_meant(
    word: str,
) -> None:
    who, second = "Ida Maria Holm was an engineer.", f"{word} left Ostrell in 1874."
    assert contexts("Ida Holm", who, second) == [ALONE, ALONE]
    assert contexts("Ida Holm (engineer)", who, second) == [ALONE, ALONE]
    assert contexts("Ida, Countess of Varn", who, second) == [ALONE, ALONE]
    assert contexts("News of the week", who, second) == [ALONE, Context(who, None)]
    news = "The mayor of Varn met Ida Holm."
    assert contexts("Mayor meets Holm", news, second) == [ALONE, Context(news, None)]


def test_a_document_that_begins_with_a_pronoun_is_about_its_title() -> None:
    assert contexts("Ida Holm", "She was an engineer.", "She left Ostrell.") == [ALONE, ALONE]


def test_the_name_of_a_file_does_not_say_who_is_meant() -> None:
    first = "The mill of Varn was built in 1802."
    second = "It closed in 1931."
    assert contexts("mill", first, second) == [ALONE, Context(first, None)]
    assert contexts("Mill of Varn", first, second) == [ALONE, ALONE]


def test_the_singular_of_a_title_names_what_its_first_sentence_has_in_the_plural() -> None:
    assert contexts("Rodent", "Rodents are mammals.", "They gnaw.") == [ALONE, ALONE]


@pytest.mark.parametrize(
    "second", ["This was in 1874.", "Those lamps are red.", "The latter is taller."]
)
def test_a_demonstrative_is_read_with_the_sentence_before(second: str) -> None:
    first = "Varn has a lighthouse and a tower."
    assert contexts("Varn", first, second) == [ALONE, Context(first, None)]


def test_the_first_sentence_and_the_last_one_may_lack_a_neighbour() -> None:
    assert contexts("Varn", "This is false.") == [ALONE]
    assert contexts("Varn", "Is it safe?") == [ALONE]
    assert contexts("Varn", "No.") == [ALONE]


def of_text(title: str, text: str, *sentences: str) -> list[Context]:
    """Return the context of each sentence of a text that may have lines."""
    starts = [text.index(sentence) for sentence in sentences]
    made = tuple(
        Sentence(title, number, sentence, start, start + len(sentence))
        for number, (start, sentence) in enumerate(zip(starts, sentences, strict=True))
    )
    read = Document(title, title, None, text, made)
    return [context_of(read, sentence) for sentence in made]


def test_a_sentence_does_not_refer_to_another_paragraph() -> None:
    one, two = "A tower was built.", "This is false."
    assert of_text("Varn", f"{one}\n{two}", one, two) == [Context(None, two), Context(one, None)]
    assert of_text("Varn", f"{one}\n\n{two}", one, two) == [ALONE, ALONE]
    # A heading, or an item of a list: most texts are stored without their lines.
    assert contexts("Varn", "A tower was built", "This is false.") == [ALONE, ALONE]


def test_claims_questions_and_ratings_have_paragraphs_of_their_own() -> None:
    one, two = "Claim: A tower was built", "Rating: False"
    assert of_text("Varn", f"{one}\n\n{two}", one, two) == [Context(None, two), Context(one, None)]
    one, two = "Is it safe?", "No."
    assert of_text("Varn", f"{one}\n\n{two}", one, two) == [Context(None, two), Context(one, None)]


def test_of_a_long_neighbour_only_the_nearer_words_are_read() -> None:
    long = " ".join(f"word{number}" for number in range(100)) + "?"  # 690 characters
    (before, _), (_, after) = (
        contexts("Varn", long, "No.")[1],
        contexts("Varn", "Is it so?", long)[0],
    )
    assert before is not None
    assert after is not None
    assert before.endswith("word98 word99?")
    assert before.startswith("word")
    assert after.startswith("word0 word1")
    assert f" {after.split()[-1]} " in long
    assert LONGEST - 10 < len(before) <= LONGEST
    assert LONGEST - 10 < len(after) <= LONGEST


def test_a_long_neighbour_without_spaces_is_cut_anywhere() -> None:
    assert contexts("Varn", "x" * 400 + "?", "No.")[1] == Context("x" * 299 + "?", None)
    assert contexts("Varn", "Is it so?", "x" * 400)[0] == Context(None, "x" * 300)


def test_a_context_is_a_slice_of_the_text_next_to_the_sentence() -> None:
    text = "Was it sold?  Claim: The harbour was sold.\n\nRating: False"
    sentences = ["Was it sold?", "Claim: The harbour was sold.", "Rating: False"]
    first = of_text("Harbour", text, *sentences)[0]
    assert first.after == "Claim: The harbour was sold.\n\nRating: False"


def test_long_texts_take_no_long_time() -> None:
    read = document("Varn", *("No, " * 5_000 + "." for _ in range(20)), "(" * 50_000)
    for one, other in pairwise(read.sentences):
        assert context_of(read, one)
        assert context_of(read, other)
