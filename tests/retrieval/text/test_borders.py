"""What a claim says about borders, and the sentences that say the same or deny it."""

from __future__ import annotations

import pytest

from retrieval.text.borders import Borders, borders_of

LIST = "It is bordered by West Ober to the north, Lund and the Republic of Tarn to the east."


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Vale borders Lund.", Borders("Vale", "Lund")),
        ("Vale is bordered by the United Isles", Borders("Vale", "United Isles")),
        ("Vale shares a land border with New Lund.", Borders("Vale", "New Lund")),
        ("Vale and Lund share a border.", Borders("Vale", "Lund")),
        ("The country whose capital is Ede borders Lund.", Borders("", "Lund")),
        (
            "Lake Ede lies on the border between Vale and Lund.",
            Borders("Vale", "Lund", thing="Lake Ede"),
        ),
        (
            "The Ede forms part of the border between Vale and Lund.",
            Borders("Vale", "Lund", thing="The Ede", in_part=True),
        ),
    ],
)
def test_a_claim_says_what_borders_what(claim: str, said: Borders) -> None:
    assert borders_of(claim) == said


def test_a_claim_about_a_border_guard_says_nothing_of_the_kind() -> None:
    assert borders_of("Vale pays its border guards.") is None


def read(borders: Borders, title: str, sentence: str) -> tuple[str, str]:
    return borders.worded("The claim.", [(title, sentence)])


@pytest.mark.parametrize("title", ["Vale", "Vale (country)"])
def test_a_name_in_the_list_of_a_thing_is_read_in_few_words(title: str) -> None:
    said = "Vale is bordered by Lund."
    assert read(Borders("Vale", "Lund"), title, LIST) == (said, f"{title} : {said}")


def test_the_list_of_either_thing_says_so() -> None:
    assert read(Borders("Lund", "Vale"), "Vale", LIST)[0] == "Lund is bordered by Vale."


@pytest.mark.parametrize(
    ("borders", "sentence"),
    [
        (Borders("Vale", "Ober"), LIST),  # another name ends with it
        (Borders("Vale", "Ede"), LIST),
        (Borders("Vale", "Lund"), "Vale is a country with a border near Lund."),
        (Borders("Vale", "Lund"), "Vale once bordered Lund."),
        (Borders("Vale", "Lund"), "It is bordered by Ede, which lies north of Lund."),
        (Borders("Vale", "Lund"), "It borders Ede, and is connected to Lund by a bridge."),
        (Borders("Vale", "Lund"), "It shares a maritime border with Lund."),
    ],
)
def test_other_sentences_are_read_as_they_are(borders: Borders, sentence: str) -> None:
    assert read(borders, "Vale", sentence) == ("The claim.", f"Vale : {sentence}")


@pytest.mark.parametrize(
    "sentence",
    [
        "Lake Ede lies on the border of Lund and Vale.",
        "It is on the Lund–Vale border.",  # noqa: RUF001
    ],
)
def test_the_sides_of_a_border_have_no_order(sentence: str) -> None:
    said = "Lake Ede is on the border of Vale and Lund."
    borders = Borders("Vale", "Lund", thing="Lake Ede")
    assert read(borders, "Lake Ede", sentence) == (said, f"Lake Ede : {said}")


@pytest.mark.parametrize(
    ("borders", "title", "refutes"),
    [
        (Borders("Vale", "Ede"), "Vale", True),
        (Borders("Vale", "Lund"), "Vale", False),  # it is in the list
        (Borders("Ede", "Tarn"), "Vale", False),  # the list of another
        (Borders("Vale", "Lund", thing="Ede", in_part=True), "Ede", False),
        (Borders("", "Ede"), "Vale", True),
        (Borders("", "Lund"), "Vale", False),
    ],
)
def test_only_all_borders_of_a_thing_refute_one(
    borders: Borders, title: str, refutes: bool
) -> None:
    assert borders.may_be_refuted_by(title, LIST) == refutes
