"""Does the same to many things in processes of its own, and gives the results in order."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2  # things a process has waiting, so that it never waits itself


def in_order(
    prepare: Callable[[], Callable[[Item], Result]], items: Iterable[Item], processes: int
) -> Iterator[Result]:
    """Yield what ``prepare()`` makes of every item, in their order.

    ``prepare`` is called once in each process. Of the items only so many are taken ahead
    as keep all processes at work. One item alone is worked on here: starting a process
    takes longer than most of them do. ``prepare``, items and results must pickle.
    """
    remaining = iter(items)
    first = list(islice(remaining, 2))
    if len(first) < 2 or processes < 2:
        yield from map(prepare(), chain(first, remaining))
        return
    # Not forked: threads of the models' libraries do not survive that.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _begin, (prepare,)) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in chain(first, remaining):
            waiting.append(pool.submit(_worked, item))
            if len(waiting) > _AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


_work: Callable[[Any], Any]


def _begin(prepare: Callable[[], Callable[[Any], Any]]) -> None:
    global _work
    import torch

    torch.set_num_threads(1)  # there are as many processes as there may be threads
    _end_with_parent()
    _work = prepare()


def _worked(item: Any) -> Any:
    return _work(item)


def _end_with_parent() -> None:
    """A process that is killed cannot tell those that work for it to stop."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel

        def end() -> None:
            wait([sentinel])
            os._exit(1)

        Thread(target=end, name="end with parent", daemon=True).start()
