"""Work in several processes: in order, with its errors, and ended when nobody waits for it."""

import multiprocessing
import os
import threading
import time
from functools import partial

import pytest

from retrieval.errors import BadSource
from retrieval.system.processes import in_order
from tests.support.waiting import wait_until


class Doubling:
    """Doubles numbers; the even ones take longer. ``refused`` cannot be doubled."""

    def __init__(self, refused: int = -1) -> None:
        self._refused = refused

    def __call__(self, number: int) -> tuple[int, int]:
        if number == self._refused:
            raise BadSource("odd", f"{number} cannot be doubled.", "Leave it out.")
        time.sleep(0.02 * (number % 2 == 0))
        return 2 * number, os.getpid()


class Sleeping:
    """Gives the first number at once and holds on to every other."""

    def __call__(self, number: int) -> int:
        time.sleep(60 * (number > 0))
        return number


class Large:
    """Gives 64 MB for every number, which takes long to send."""

    def __call__(self, number: int) -> bytes:
        return bytes(64 << 20)


def test_results_come_in_order_and_errors_end_the_rest() -> None:
    for processes in (1, 2):
        found = list(in_order(Doubling, range(12), processes))
        assert [doubled for doubled, _ in found] == list(range(0, 24, 2))
        assert (os.getpid() in {pid for _, pid in found}) == (processes == 1)
    # One thing alone is done here.
    assert list(in_order(Doubling, [4], 2)) == [(8, os.getpid())]
    assert list(in_order(Doubling, [], 2)) == []
    # An error comes back with what it says, and ends the rest.
    with pytest.raises(BadSource) as caught:
        list(in_order(partial(Doubling, 3), range(100), 2))
    said = (caught.value.code, caught.value.message, caught.value.hint)
    assert said == ("odd", "3 cannot be doubled.", "Leave it out.")
    wait_until(lambda: not multiprocessing.active_children(), "the end of its processes", 10)


def test_a_caller_that_stops_early_does_not_wait_for_items_in_progress() -> None:
    begun = time.monotonic()
    results = in_order(Sleeping, range(10), 2)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    wait_until(lambda: not multiprocessing.active_children(), "the end of its processes", 10)
    assert time.monotonic() - begun < 30


@pytest.mark.slow
@pytest.mark.rare
def test_a_process_that_is_killed_while_it_sends_a_result_is_not_waited_for() -> None:
    before = set(threading.enumerate())
    for _ in range(5):
        results = in_order(Large, range(9), 2)
        next(results)
        time.sleep(0.01)
        results.close()  # type: ignore[attr-defined]
    started = [one for one in threading.enumerate() if one not in before]
    for thread in started:
        thread.join(10)
    assert not any(thread.is_alive() for thread in started)
