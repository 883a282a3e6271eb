"""For how long values stay the same, whatever the clocks say that wrote them."""

from __future__ import annotations

import time

from worker.unchanged import LastChanges, Unchanged


def test_a_value_counts_from_when_it_was_first_seen_and_again_after_each_change() -> None:
    unchanged = Unchanged()
    assert unchanged.seconds({"a": 1, "b": 1}) == {"a": 0, "b": 0}
    time.sleep(0.1)
    seen = unchanged.seconds({"a": 1, "b": 2})
    assert 0.1 <= seen["a"] < 1
    assert seen["b"] == 0


def test_a_value_that_was_gone_counts_from_its_return() -> None:
    unchanged = Unchanged()
    unchanged.seconds({"a": 1})
    time.sleep(0.05)
    assert unchanged.seconds({}) == {}
    assert unchanged.seconds({"a": 1}) == {"a": 0}


def test_a_value_has_changed_since_the_look_before_and_a_new_one_may_be_old() -> None:
    changes = LastChanges()
    assert changes.seconds({"a": 1}) == {"a": float("inf")}
    time.sleep(0.1)
    seen = changes.seconds({"a": 2, "b": 1})
    assert 0.1 <= seen["a"] < 1
    assert seen["b"] == float("inf")
    time.sleep(0.1)
    assert 0.2 <= changes.seconds({"a": 2})["a"] < 1
