"""Files of annotated claims: how they are read, and which claims of them are asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from research.evaluation.choice import Choice, half_of
from research.evaluation.claims import (
    FeverClaim,
    Pair,
    read_corpus_claims,
    read_fever_claims,
    read_pairs,
)
from retrieval.errors import BadSource
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.research.evaluation.answers import claim
from tests.support.cases import cases
from tests.support.json_lines import write_json_lines

CLAIM = {"label": "SUPPORTS", "claim": "The lamp is red."}
LAMP = CLAIM | {
    "id": 6,
    "evidence": [[[1, 2, "Lamp", 0]], [[1, 3, "Lamp", 1], [1, 4, "Cafe\u0301", 2]]],
}
HUM = {"id": 8, "label": NOT_ENOUGH_INFO, "claim": "It hums.", "evidence": []}


def read(tmp_path: Path, *lines: dict[str, Any] | str) -> list[FeverClaim]:
    return read_fever_claims(write_json_lines(tmp_path / "claims.jsonl", *lines))


def test_a_claim_keeps_its_sets_and_its_line(tmp_path: Path) -> None:
    lamp, hum = read(tmp_path, LAMP, "", HUM)
    assert (lamp.id, lamp.text, lamp.label) == (6, "The lamp is red.", SUPPORTS)
    assert lamp.evidence == ((("Lamp", 0),), (("Lamp", 1), ("Caf\u00e9", 2)))
    assert lamp.pages == {"Lamp", "Caf\u00e9"}
    assert (hum.evidence, hum.needs_several_pages) == ((), False)
    assert hum.where.endswith("claims.jsonl, line 3")
    assert (lamp.group, hum.group) == ("Lamp", 8)  # the page that it was made from, if it is known


def test_a_claim_needs_several_pages_if_no_set_is_on_one_page(tmp_path: Path) -> None:
    either, both = read(tmp_path, LAMP, LAMP | {"id": 7, "evidence": LAMP["evidence"][1:]})
    assert (either.needs_several_pages, both.needs_several_pages) == (False, True)


def test_a_claim_may_have_the_texts_of_its_sets_and_a_tempting_sentence(tmp_path: Path) -> None:
    texts = {"texts": [["It is red."], ["It has one colour.", "Red is a colour."]]}
    lamp = CLAIM | {"evidence": [[["Lamp", 0]], [["Lamp", 1], ["Cafe\u0301", 2]]]}
    lines = lamp | texts, HUM | {"tempting": ["Lamp", 3]}
    red, hum = read_corpus_claims(write_json_lines(tmp_path / "claims.jsonl", *lines))
    assert red.texts == (("It is red.",), ("It has one colour.", "Red is a colour."))
    assert hum.tempting == ("Lamp", 3)


def test_a_text_has_its_title_before_it_and_sentences_are_read_as_one_text(tmp_path: Path) -> None:
    pier = {"title": "Pier", "sentence": "It was built by Ida Holm."}
    lines = (
        CLAIM | {"title": "Lamp", "source": "mine", "kind": "colour", "evidence": "It is red."},
        CLAIM | {"title": "", "evidence": "It is red."},
        # Each sentence has a title already; that of the pair only groups it with others.
        CLAIM | {"title": "Holm", "evidence": [pier, {"title": "Holm", "sentence": "A Dane."}]},
    )
    said, both = "The lamp is red.", "Pier : It was built by Ida Holm. [SEP] Holm : A Dane."
    assert list(read_pairs(write_json_lines(tmp_path / "pairs.jsonl", *lines))) == [
        Pair(said, "Lamp : It is red.", SUPPORTS, "Lamp", "mine", "colour"),
        Pair(said, "It is red.", SUPPORTS, None, None, None),
        Pair(said, both, SUPPORTS, "Holm", None, None),
    ]


LIT: dict[str, Any] = {
    "uid": "a1",
    "claim": "The lamp on the pier that Ida Holm built is red.",
    "supporting_facts": [["Pier", 0], ["Lamp", 2], ["Pier", 0]],
    "label": "SUPPORTED",
    "num_hops": 2,
    "hpqa_id": "b2",
}


def test_a_list_of_hover_is_read_with_its_hops_and_two_labels_that_are_right(
    tmp_path: Path,
) -> None:
    unlit = LIT | {"claim": "It is blue.", "label": "NOT_SUPPORTED", "num_hops": 4}
    path = tmp_path / "hover.json"
    path.write_text(json.dumps([LIT, unlit], indent=1), encoding="utf-8")
    lit, not_lit = read_corpus_claims(path)
    assert (lit.kind, lit.label_in_file, lit.right) == ("2 hops", SUPPORTS, {SUPPORTS})
    assert lit.evidence == ((("Pier", 0), ("Lamp", 2)),)
    assert (not_lit.kind, not_lit.label_in_file) == ("4 hops", "NOT_SUPPORTED")
    assert not_lit.right == {REFUTES, NOT_ENOUGH_INFO}
    assert not_lit.evidence == lit.evidence


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ([LIT, {"uid": "c3", "claim": "Of the test file."}], "claim 2: no claim of HoVer"),
        ([LIT | {"label": "REFUTES"}], "claim 1: no claim of HoVer"),
        ([LIT | {"supporting_facts": []}], "claim 1: no supporting facts"),
        ([LIT | {"supporting_facts": [["Pier", "0"]]}], "not a page with a sentence number"),
        ([7], "claim 1: no claim of HoVer"),
    ],
)
def test_an_entry_that_is_no_claim_of_hover_is_named(
    written: list[Any], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "hover.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(BadSource) as caught:
        read_corpus_claims(path)
    assert said in caught.value.message


def test_of_feverous_the_sets_of_sentences_alone_are_evidence(tmp_path: Path) -> None:
    def line(label: str, *sets: list[str], challenge: str = "Other") -> dict[str, Any]:
        evidence = [{"content": content, "context": {}} for content in sets]
        given = {"id": 3, "claim": "The pier is long.", "label": label}
        return {**given, "evidence": evidence, "challenge": challenge}

    empty = {"id": "", "claim": "", "label": "", "evidence": [], "challenge": ""}
    both, cells, open_claim = read_corpus_claims(
        write_json_lines(
            tmp_path / "feverous.jsonl",
            empty,
            line(
                SUPPORTS,
                ["Pier_sentence_3", "Snake_case_sentence_0"],
                ["Pier_sentence_3", "Pier_cell_0_1_2"],
                challenge="Multi-hop Reasoning",
            ),
            line(REFUTES, ["Pier_header_cell_0_1_2"], ["Pier_item_0_1"]),
            line(NOT_ENOUGH_INFO, ["Pier_sentence_3"]),
        )
    )
    assert both.evidence == ((("Pier", 3), ("Snake_case", 0)),)
    assert (both.kind, both.right) == ("Multi-hop Reasoning", {SUPPORTS})
    assert (cells.label, cells.evidence, cells.kind) == (REFUTES, (), "Other")
    assert (open_claim.label, open_claim.evidence) == (NOT_ENOUGH_INFO, ())


READERS: dict[str, Callable[[Path], Iterable[object]]] = {
    "fever": read_fever_claims,
    "corpus": read_corpus_claims,
    "pairs": read_pairs,
}
GOOD = {
    "fever": LAMP,
    "corpus": CLAIM | {"evidence": [[["Lamp", 0]]]},
    "pairs": CLAIM | {"evidence": "It is painted red."},
}


@cases("annotations", "reader", "line", "said")
def test_a_line_that_is_no_annotation_is_named_by_file_and_line(
    reader: str, line: dict[str, Any] | str, said: str, tmp_path: Path
) -> None:
    path = write_json_lines(tmp_path / "lines.jsonl", GOOD[reader], line)
    with pytest.raises(BadSource, match=r"lines\.jsonl, line 2") as caught:
        list(READERS[reader](path))
    assert said in caught.value.message
    path = write_json_lines(tmp_path / "lines.jsonl", GOOD[reader])
    assert len(list(READERS[reader](path))) == 1


@pytest.mark.parametrize("reader", ["fever", "corpus"])
def test_a_file_without_lines_is_refused(tmp_path: Path, reader: str) -> None:
    with pytest.raises(BadSource, match="contains no"):
        list(READERS[reader](write_json_lines(tmp_path / "lines.jsonl")))


# 40 claims, of which every fourth is undecided and one needs two pages.
CLAIMS = [
    claim(n, NOT_ENOUGH_INFO) if n % 4 == 0 else claim(n, SUPPORTS, [("A", n)]) for n in range(39)
]
CLAIMS.append(claim(39, SUPPORTS, [("A", 0), ("B", 0)]))


def chosen(choice: Choice, claims: list[FeverClaim] = CLAIMS) -> list[int]:
    return [one.id for one in choice.of(claims, Path("claims.jsonl"))]


def test_without_a_choice_every_claim_is_asked_and_a_limit_counts_from_the_first() -> None:
    assert chosen(Choice()) == list(range(40))
    assert chosen(Choice(limit=3)) == [0, 1, 2]


def test_a_sample_has_so_many_decided_claims_in_their_order_and_is_the_same_again() -> None:
    sample = chosen(Choice(sample=10, seed=1))
    assert len(sample) == 10
    assert sample == sorted(sample)
    assert all(number % 4 for number in sample)
    assert chosen(Choice(sample=10, seed=1)) == sample
    assert chosen(Choice(sample=10, seed=2)) != sample


def test_every_claim_is_in_one_of_two_halves_whatever_its_file_and_place() -> None:
    fitted, published = chosen(Choice(half="fitted")), chosen(Choice(half="published"))
    assert sorted([*fitted, *published]) == list(range(40))
    assert 10 < len(fitted) < 30
    assert chosen(Choice(half="fitted"), CLAIMS[::-1]) == fitted[::-1]
    # The first bytes of their SHA-256 are 0x66 and 0x6f: even and odd.
    assert (half_of("Claim 1."), half_of("Claim 2.")) == ("fitted", "published")


@pytest.mark.parametrize(
    ("choice", "claims", "said"),
    [
        (Choice(several_pages=True), CLAIMS[:4], "needs several pages"),
        (Choice(sample=5), CLAIMS[:1], "is decided"),
        (Choice(half="fitted"), CLAIMS[2:3], "is in the fitted half"),
    ],
)
def test_a_choice_without_claims_is_refused(
    choice: Choice, claims: list[FeverClaim], said: str
) -> None:
    with pytest.raises(BadSource, match=said) as caught:
        chosen(choice, claims)
    assert caught.value.hint.startswith("Leave out --")
