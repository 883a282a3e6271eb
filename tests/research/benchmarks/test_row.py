from __future__ import annotations

from research.benchmarks.row import percentile


def test_a_percentile_is_the_value_that_so_many_do_not_exceed() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    # Nearest rank: the 3rd, the 5th and the 1st of five.
    assert (percentile(values, 50), percentile(values, 95), percentile(values, 10)) == (3, 5, 1)
