"""The names of stages: in the table, in recipes, in the documentation and on the progress page."""

from __future__ import annotations

import re
from typing import Any

from research.evaluation.systems import ABLATIONS, VARIANTS
from retrieval import words
from retrieval.pipeline.registry import EXPANDERS, STAGES
from retrieval.recipes.recipes import RECIPES, stage_of
from settings import CHECKOUT
from tests.support.evidence import ranked
from tests.support.states import state_of

DOCUMENT = (CHECKOUT / "docs" / "stages.md").read_text(encoding="utf-8")


def test_every_recipe_ablation_and_variant_names_stages_that_exist() -> None:
    for recipe in (*RECIPES.values(), *ABLATIONS.values(), *VARIANTS.values()):
        assert set(recipe.first) | set(recipe.hop) <= set(STAGES)
        assert set(recipe.next) <= set(EXPANDERS)


def test_the_documentation_lists_every_stage() -> None:
    rows = [line.split("|")[1] for line in DOCUMENT.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`([\w:]+)`", " ".join(rows))) == {*STAGES, "next"}


def test_the_progress_page_has_words_for_every_stage() -> None:
    assert set(map(stage_of, STAGES)) | {"next", "explain"} <= set(words.STAGES)


def test_the_stage_of_the_documentation_drops_short_sentences() -> None:
    (code,) = re.findall(
        r"```python\n(# retrieval/stages/read/length\.py\n.*?)```", DOCUMENT, re.DOTALL
    )
    made: dict[str, Any] = {}
    exec(code, made)
    pier = ranked("Pier", "It is old.", "It was built in 1801.")
    chosen = tuple((pier, sentence) for sentence in pier.document.sentences)
    step = made["LengthFilter"](4).run(state_of("The pier is old.", chosen=chosen))
    assert [sentence.text for _, sentence in step.state.chosen] == ["It was built in 1801."]
    assert step.message == "1 short sentence dropped"
