from __future__ import annotations

import numpy as np
import pytest

from research.benchmarks.elastic.builds import Build
from research.benchmarks.elastic.claims import share_of
from research.benchmarks.elastic.projection import all_pages
from research.benchmarks.elastic.recall import evenly
from research.benchmarks.elastic.searches import share_found


def test_the_share_found_counts_what_is_among_the_most_similar() -> None:
    similar = np.array([0.9, 0.1, 0.8, 0.7, 0.2], dtype=np.float32)
    assert share_found(similar, [0, 2, 3], 3) == 1
    assert share_found(similar, [0, 1, 4], 3) == pytest.approx(1 / 3)
    assert share_found(similar, [], 3) == 0


def test_what_equals_the_last_wanted_is_as_good_and_no_more_than_all_are_found() -> None:
    similar = np.array([0.9, 0.5, 0.5, 0.5], dtype=np.float32)
    assert share_found(similar, [0, 3], 2) == 1
    assert share_found(similar, [0, 1, 2, 3], 2) == 1
    assert share_found(similar, [0, 1], 100) == 0.5


def test_a_share_is_shown_in_percent_and_in_numbers() -> None:
    assert share_of([True, False, True]) == "66.7 % (2 of 3)"


def test_chosen_documents_are_spread_over_all() -> None:
    assert evenly(3, 10) == [0, 1, 2]
    assert evenly(101, 3) == [0, 50, 100]


def test_all_pages_take_what_a_page_takes_times_as_many() -> None:
    build = Build(
        documents=1000,
        seconds=2.0,
        megabytes=500.0,
        bytes=3_000_000,
        title_bytes=20_000,
        vector_bytes=400_000,
    )
    figures = {what: (page, figure) for what, page, figure in all_pages(build)}
    assert figures == {
        "disk, 2 copies, GB": ("3,000 bytes", pytest.approx(32.4)),
        "disk of a node that holds a copy, GB": ("3,000 bytes", pytest.approx(16.2)),
        "build, hours": ("2.00 ms", pytest.approx(3.0)),
        "titles, on each machine that asks, GB": ("20 bytes", pytest.approx(0.108)),
        "memory for vectors and graph, a node that holds a copy, GB": (
            "400 bytes",
            pytest.approx(2.16),
        ),
    }


def test_figures_that_the_node_does_not_report_are_left_out() -> None:
    build = Build(documents=10, seconds=1.0, megabytes=1.0, bytes=10)
    assert not any("vectors" in what for what, _, _ in all_pages(build))
