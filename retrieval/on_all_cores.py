"""Does the same to many things in processes of its own, and gives the results in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, TypeVar

from retrieval.errors import EsotericError

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2  # things a process has waiting, so that it never waits itself
_MEMORY = 1_500_000_000  # bytes that a process takes while it loads the models
_CLAIMS = 20  # checked in the time that loading takes


class ProcessEnded(EsotericError):
    """A process that worked for this one is gone."""


def processes_for(claims: int, threads: int, more: int = 0) -> int:
    """Return in how many processes to check so many claims, at least one.

    ``more``: bytes that each needs beside the models that all need.

    One for each thread, since two single threads do more than one program on both; no more than
    the memory holds, and than have enough to do that loading their models pays.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(threads, memory // (_MEMORY + more), claims // _CLAIMS))


def in_order(
    prepare: Callable[[], Callable[[Item], Result]], items: Iterable[Item], processes: int
) -> Iterator[Result]:
    """Yield what ``prepare()`` makes of every item, in their order.

    ``prepare`` is called once in each process; without items it is not called. Of the items only
    so many are taken ahead as keep all processes at work. One item alone is worked on here:
    starting a process takes longer than most of them do. Functions, items, results and errors
    must pickle.

    Raises:
        ProcessEnded: a process was killed. And what ``prepare`` and its function raise.
    """
    remaining = iter(items)
    first = list(islice(remaining, 2))
    if not first:
        return
    if len(first) < 2 or processes < 2:
        yield from map(prepare(), chain(first, remaining))
        return
    # Not forked: threads of the models' libraries do not survive that.
    context = multiprocessing.get_context("spawn")
    others = {child.pid for child in multiprocessing.active_children()}
    with ProcessPoolExecutor(processes, context, _begin, (prepare,)) as pool:
        try:
            waiting: deque[Future[Result]] = deque()
            for item in chain(first, remaining):
                waiting.append(pool.submit(_worked, item))
                if len(waiting) > _AHEAD * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException as error:
            # Nobody waits for what was begun: the user has ended it, or it has failed.
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                if child.pid not in others:
                    child.kill()
            if isinstance(error, BrokenProcessPool):
                raise ProcessEnded(
                    "process_ended",
                    "A process that did part of the work was ended, perhaps for want of memory.",
                    "Run the same command again; with a smaller ESOTERIC_THREADS it needs less.",
                ) from error
            raise


_work: Callable[[Any], Any] | Exception


def _begin(prepare: Callable[[], Callable[[Any], Any]]) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent tells when to end
    _end_with_parent()
    try:
        _work = prepare()
    except Exception as error:  # told with the first item: here nobody would learn what it was
        _work = error


def _worked(item: Any) -> Any:
    if isinstance(_work, Exception):
        raise _work
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
