from __future__ import annotations

from research.benchmarks.__main__ import BEGIN, END, _between
from research.benchmarks.row import percentile


def test_only_what_is_between_the_marks_of_the_readme_is_written() -> None:
    readme = f"# Title\n{BEGIN}\n| old |\n\n{END}The rest.\n"
    written = _between(readme, ["| new |", "|---|"])
    assert written == f"# Title\n{BEGIN}\n| new |\n|---|\n\n{END}The rest.\n"
    assert _between(written, ["| new |", "|---|"]) == written


def test_a_percentile_is_the_value_that_so_many_do_not_exceed() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    # Nearest rank: the 3rd, the 5th and the 1st of five.
    assert (percentile(values, 50), percentile(values, 95), percentile(values, 10)) == (3, 5, 1)
