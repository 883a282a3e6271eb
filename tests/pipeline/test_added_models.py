"""Models that an installation adds to the shipped ones, in the whole pipeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.assembly import open_retriever
from retrieval.models import ModelFolders
from retrieval.recipes import RECIPES
from tests.generation.tiny_bart import write_tiny_bart
from tests.islands import TEXTS

pytestmark = pytest.mark.models


def test_a_bart_of_ones_own_generates_the_titles(
    index: Path, unpacked: Path, tmp_path: Path
) -> None:
    write_tiny_bart(tmp_path, [*TEXTS, *TEXTS.values()])
    retriever = open_retriever(
        index, tmp_path, threads=2, folders=ModelFolders(unpacked, bart=tmp_path)
    )
    way = replace(RECIPES["esoteric"], expansions=("generation",))
    claim = "The designer of Skerrow Light collected stamps."
    report = retriever.follow(way, claim, lambda progress: None)
    later = [ranked for ranked in report.documents if ranked.hop == 2]
    assert later
    assert {ranked.found_by for ranked in later} == {("generation",)}
