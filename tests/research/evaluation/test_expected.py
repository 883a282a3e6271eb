from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from research.evaluation.expected import Deviation, arguments_of, deviations

RUN: dict[str, Any] = {
    "data": {"data.claims.sha256": "bb"},
    "rows": [
        {
            "row": "esoteric",
            "at": "recipes.esoteric",
            "figures": {
                "figures.label_accuracy": {"value": 0.7, "tolerance": 0.01},
                "subsets.multi_page.figures.evidence_recall": {"value": 0.5, "tolerance": 0.01},
            },
        },
        {
            "row": "all claims",
            "at": ".",
            "figures": {"calibration_error": {"value": 0.02, "tolerance": 0.01}},
        },
    ],
}
RESULTS: dict[str, Any] = {
    "data": {"claims": {"sha256": "bb"}},
    "recipes": {
        "esoteric": {
            "figures": {"label_accuracy": 0.705},
            "subsets": {"multi_page": {"figures": {"evidence_recall": 0.495}}},
        }
    },
    "calibration_error": 0.029,
}


def test_figures_within_their_tolerance_are_as_published() -> None:
    assert list(deviations(RUN, RESULTS)) == []


def test_different_figures_are_named_with_both_values() -> None:
    results = copy.deepcopy(RESULTS)
    results["data"]["claims"]["sha256"] = "cc"
    results["recipes"]["esoteric"]["figures"]["label_accuracy"] = 0.72
    results["recipes"]["esoteric"]["subsets"]["multi_page"]["figures"] = {}
    results["calibration_error"] = 0.04
    assert list(deviations(RUN, results)) == [
        Deviation("data.claims.sha256", "bb", "cc"),
        Deviation("esoteric, figures.label_accuracy", 0.7, 0.72),
        Deviation("esoteric, subsets.multi_page.figures.evidence_recall", 0.5, None),
        Deviation("all claims, calibration_error", 0.02, 0.04),
    ]


def test_a_recipe_that_was_not_measured_differs_in_everything() -> None:
    found = list(deviations(RUN, RESULTS | {"recipes": {}}))
    assert [(one.name.partition(",")[0], one.found) for one in found] == [("esoteric", None)] * 2


def test_a_folder_with_a_space_in_its_name_stays_one_argument() -> None:
    command = "ESOTERIC_THREADS=2 esoteric evaluate --wiki-pages {data}/pages --out {out}"
    assert arguments_of(command, Path("my data"), Path("out")) == [
        *("evaluate", "--wiki-pages", "my data/pages", "--out", "out")
    ]
