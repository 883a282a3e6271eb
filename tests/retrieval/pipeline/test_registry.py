"""The names of stages: in their records, in recipes, and in the files that make them."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from research.evaluation.systems import ABLATIONS, VARIANTS
from retrieval.recipes.recipes import RECIPES
from retrieval.recipes.stage_records import FIRST, HOP, NEXT
from settings import CHECKOUT
from tests.support.evidence import ranked
from tests.support.states import state_of

DOCUMENT = (CHECKOUT / "docs" / "stages.md").read_text(encoding="utf-8")


def test_every_recipe_ablation_and_variant_names_stages_that_exist() -> None:
    for recipe in (*RECIPES.values(), *ABLATIONS.values(), *VARIANTS.values()):
        assert set(recipe.first) <= set(FIRST)
        assert set(recipe.hop) <= set(HOP)
        assert set(recipe.next) <= set(NEXT)


def test_every_stage_that_a_file_makes_has_a_record() -> None:
    files = [p for p in (CHECKOUT / "retrieval/stages").glob("*/*.py") if p.stem != "__init__"]
    modules = [import_module(f"retrieval.stages.{p.parent.name}.{p.stem}") for p in files]
    made = {name for module in modules for name in getattr(module, "MAKERS", {})}
    asked = {name for module in modules for name in getattr(module, "EXPANDERS", {})}
    assert (made, asked) == ({*FIRST, *HOP}, set(NEXT))


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
