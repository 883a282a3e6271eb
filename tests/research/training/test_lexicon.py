from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from research.training.lexicon import Lexicon, Word, number_of
from retrieval.errors import BadSource
from tests.research.cases import cases
from tests.research.training.wordnet_files import write_wordnet


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    return Lexicon(write_wordnet(tmp_path_factory.mktemp("wordnet")))


@pytest.mark.parametrize("case", cases("lexicon"))
def test_two_words_are_related_as_wordnet_and_numbers_say(
    case: dict[str, Any], lexicon: Lexicon
) -> None:
    kind, parts = case.get("kind", ""), case.get("parts") or ("", "")
    claim, evidence = (
        Word(text, text.lower(), part, kind)
        for text, part in zip((case["claim"], case["evidence"]), parts, strict=True)
    )
    assert lexicon.relation(claim, evidence) == case["relation"]
    if "back" in case:
        assert lexicon.relation(evidence, claim) == case["back"]


@pytest.mark.parametrize("case", cases("numbers"))
def test_numbers_in_digits_and_in_words(case: dict[str, Any]) -> None:
    assert number_of(case["text"]) == case["value"]


def test_a_folder_without_wordnet_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"index\.noun cannot be read"):
        Lexicon(tmp_path)
