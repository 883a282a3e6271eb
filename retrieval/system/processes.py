"""Work in several processes: its results in order, and no process that outlives the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
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

_AHEAD = 2  # items that wait for each process, so that it is never idle
_MEMORY = 1_500_000_000  # bytes that a process takes while it loads the models
_CLAIMS = 20  # checked in the time that loading takes
SECONDS_TO_END = 5.0


class ProcessEnded(EsotericError):
    """A child process ended unexpectedly."""


def processes_for(claims: int, threads: int) -> int:
    """Return the number of processes for so many claims, at least one.

    At most one for each thread: two processes with one thread each check more claims than one with
    two. At most as many as fit into memory, and as have enough claims to be worth loading their
    models.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(threads, memory // _MEMORY, claims // _CLAIMS))


def in_order(
    prepare: Callable[[], Callable[[Item], Result]], items: Iterable[Item], processes: int
) -> Iterator[Result]:
    """Yield the result of ``prepare()(item)`` for every item, in their order.

    ``prepare`` is called once in each process; without items it is not called. Only as many items
    are read ahead as keep all processes busy. A single item is processed in this process, because
    starting another takes longer than most items. Functions, items, results and errors must
    pickle.

    Raises:
        ProcessEnded: a process was killed.

    Also raises what ``prepare`` and its function raise.
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
            # Do not wait for items that have begun: the user stopped the work, or it failed.
            results: Any = pool._result_queue  # before it is forgotten
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                if child.pid not in others:
                    child.kill()
            # The pool's thread would wait for ever for the rest of a result that a killed process
            # was sending, as this end of the pipe stays open.
            results._writer.close()
            if isinstance(error, BrokenProcessPool):
                raise ProcessEnded(
                    "process_ended",
                    "A process that did part of the work was ended, perhaps for lack of memory.",
                    "Run the same command again; with a smaller ESOTERIC_THREADS it needs less.",
                ) from error
            raise


_work: Callable[[Any], Any] | Exception


def _begin(prepare: Callable[[], Callable[[Any], Any]]) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    end_with_parent()
    try:
        _work = prepare()
    except Exception as error:  # reported with the first item, since an error here would be lost
        _work = error


def _worked(item: Any) -> Any:
    if isinstance(_work, Exception):
        raise _work
    return _work(item)


def end_with_parent() -> None:
    """End this process when its parent ends: a killed parent cannot stop its children."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel

        def end() -> None:
            wait([sentinel])
            os._exit(1)

        Thread(target=end, name="end with parent", daemon=True).start()


def end_this_process_when_closed(descriptor: int) -> None:
    """Send SIGTERM to this process when a pipe is closed, and end it five seconds later.

    The system closes the other end when the process that has it dies. This works on every system
    with pipes; a signal from the kernel at the parent's death does not.
    """

    def end() -> None:
        while os.read(descriptor, 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(SECONDS_TO_END)
        os._exit(1)

    Thread(target=end, name="parent watch", daemon=True).start()
