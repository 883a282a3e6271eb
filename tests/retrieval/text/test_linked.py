"""Sentences of several documents have to do with each other, or say nothing together."""

from __future__ import annotations

import pytest

from retrieval.text.linked import linked

OBER = ("Ober", "Ober is a country that borders Vale.")
VALE = ("Vale (country)", "Its capital is Lund.")
UNION = ("Crown (currency)", "The crown is the currency of nine of the ten members of the Union.")


@pytest.mark.parametrize(
    ("claim", "texts"),
    [
        ("Ober borders a country with the capital Lund.", [OBER, VALE]),
        ("Ober borders a country with the capital Lund.", [VALE, OBER]),
        ("Lund is a capital.", [VALE, ("Vale (country)", "It has ten rivers.")]),
        ("The crown is older than Vale.", [UNION, ("The Vale", "It was founded in 1900.")]),
    ],
)
def test_they_are_linked_by_a_title_a_document_or_a_claim_about_both(
    claim: str, texts: list[tuple[str, str]]
) -> None:
    assert linked(claim, texts)


def test_another_thing_that_both_name_links_them() -> None:
    falls = ("Ede Falls", "The falls are on the border of Tarn and Vale.")
    assert linked("Selmish is spoken at Ede Falls.", [falls, ("Selmish", "It is spoken in Tarn.")])


def test_names_may_have_any_letters_and_titles_may_be_brackets_alone() -> None:
    texts = [("Eva Berg", "She was born in Łódź."), ("Ida Holm", "She died in Łódź.")]
    assert linked("Eda Lind sang.", texts)
    assert not linked("Eda Lind sang.", [("(1931)", "It was red."), ("", "It was blue.")])


@pytest.mark.parametrize("shared", ["American", "July", "The", "Located"])
def test_what_many_things_share_does_not_link_them(shared: str) -> None:
    texts = [
        ("Ida Holm", f"{shared} pilots knew her."),
        ("Eva Berg", f"{shared} singers knew her."),
    ]
    assert not linked("Eda Lind sang.", texts)


def test_words_that_both_share_with_the_claim_do_not_link_them() -> None:
    assert not linked("Ober is a member of the Union.", [UNION, OBER])


def test_a_title_is_not_the_start_of_another_word() -> None:
    assert not linked("Lund is a capital.", [("Ob", "It is a river."), OBER])
