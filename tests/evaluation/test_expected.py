from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from evaluation.expected import Deviation, arguments_of, deviations, read_expected
from settings import CHECKOUT

DIGESTS = {"wiki_pages": "aa", "claims": "bb"}
FIGURES = {
    "esoteric": {
        "label_accuracy": {"value": 0.7, "tolerance": 0.01},
        "multi_page.evidence_recall": {"value": 0.5, "tolerance": 0.01},
        "calibration_error": {"value": 0.02, "tolerance": 0.01},
    }
}
RESULTS: dict[str, Any] = {
    "data": {"wiki_pages": {"sha256": "aa"}, "claims": {"sha256": "bb"}},
    "recipes": {
        "esoteric": {
            "figures": {"label_accuracy": 0.705},
            "subsets": {"multi_page": {"figures": {"evidence_recall": 0.495}}},
            "calibration": {"error": 0.029},
        }
    },
}


def test_figures_within_their_tolerance_are_as_published() -> None:
    assert list(deviations(DIGESTS, FIGURES, RESULTS)) == []


def test_what_differs_is_named_with_both_values() -> None:
    results = copy.deepcopy(RESULTS)
    results["data"]["claims"]["sha256"] = "cc"
    results["recipes"]["esoteric"]["figures"]["label_accuracy"] = 0.72
    results["recipes"]["esoteric"]["subsets"]["multi_page"]["figures"] = {}
    assert list(deviations(DIGESTS, FIGURES, results)) == [
        Deviation("data, claims", "bb", "cc"),
        Deviation("esoteric, label_accuracy", 0.7, 0.72),
        Deviation("esoteric, multi_page.evidence_recall", 0.5, None),
    ]


def test_a_recipe_that_was_not_measured_differs_in_everything() -> None:
    assert len(list(deviations(DIGESTS, FIGURES, RESULTS | {"recipes": {}}))) == 3


def test_a_folder_with_a_space_in_its_name_stays_one_argument() -> None:
    command = "ESOTERIC_THREADS=2 esoteric evaluate --wiki-pages {data}/pages --out {out}"
    assert arguments_of(command, Path("my data"), Path("out")) == [
        *("evaluate", "--wiki-pages", "my data/pages", "--out", "out")
    ]


def test_the_readme_shows_the_figures_that_are_held_to() -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8").partition("## How well")[2]
    for run in read_expected()["runs"]:
        assert run["command"].split(" --out")[0].replace("{data}", "DATA") in readme
        for recipe, figures in run["figures"].items():
            start = f"| `{recipe}` |"
            (row,) = [line for line in readme.splitlines() if line.startswith(start)]
            shown = [cell.strip() for cell in row.strip("|").split("|")][1:]
            published = [
                f"{published['value']:.3f}"
                if name == "calibration_error"
                else f"{100 * published['value']:.1f}"
                for name, published in figures.items()
            ]
            assert shown[: len(published)] == published
