"""Changes an index and is killed before the n-th thing it does on the disk; then does it again.

Whatever does not end as an undisturbed change does is an error.
"""

import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import spacy  # noqa: F401 - once for all children, each of which would need a second for it
import torch

from retrieval.corpora.corpus import Page
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from tests.retrieval.index.pages import PAGES, ListCorpus
from tests.support.encoders import WordEncoder

MORE = ListCorpus(
    (Page("Zoe", "Zoë", None, "Zoë is a lake."), Page("Buoy", "Buoy", None, "A buoy."))
)
NEWER = ListCorpus((*MORE.pages, *PAGES[3:]), content="2")
CHANGES: dict[str, Callable[[EmbeddedIndex], object]] = {
    "build": lambda index: index.build(ListCorpus(PAGES, source="other"), WordEncoder()),
    "update": lambda index: index.build(NEWER, WordEncoder()),
    "add": lambda index: index.add(MORE, WordEncoder()),
    "encode": lambda index: index.encode(WordEncoder()),
    "remove": lambda index: index.remove(["Zoe", "Twin_1"]),
}
TOUCHING = ("rename", "unlink", "symlink", "link", "mkdir", "rmdir", "fsync")


def main(name: str, folder: Path, step: int) -> int:
    """Try every ``step``-th moment; return how many were tried.

    All that opens an index does so in a child: tantivy has a thread for each that is open,
    which may hold a lock while the next child is made, and that child would keep it for good.
    """
    change = CHANGES[name]
    folder.mkdir()
    before, undisturbed = folder / "before", folder / "undisturbed"
    vectors = None if name == "encode" else WordEncoder()
    assert _in_a_child(lambda: EmbeddedIndex(before).build(ListCorpus(PAGES), vectors))
    shutil.copytree(before, undisturbed, symlinks=True)
    assert _in_a_child(lambda: change(EmbeddedIndex(undisturbed)))
    for tried, moment in enumerate(range(1, 10_000, step)):
        place = Path(shutil.copytree(before, folder / f"{moment}", symlinks=True))
        ended = _in_a_child(partial(_until, moment, change, place))
        again = None if ended else change
        assert _in_a_child(partial(_check, place, again, undisturbed)), (name, moment)
        shutil.rmtree(place)
        if ended:
            return tried
    raise AssertionError("The change never ended.")


def _check(
    place: Path, change: Callable[[EmbeddedIndex], object] | None, undisturbed: Path
) -> None:
    """Verify an index whose change was killed, and that the change again ends as undisturbed."""
    expected = EmbeddedIndex(undisturbed).open(None).info()
    index = EmbeddedIndex(place)
    index.verify()
    at_its_end = index.open("words").info().checksum == expected.checksum
    if change is not None and not (at_its_end and index.unfinished() == []):
        change(index)
    index.verify()
    found = index.open("words").info()
    assert (found.documents, found.checksum) == (expected.documents, expected.checksum)
    assert index.unfinished() == []
    # Without the files of SQLite's logs.
    for kind in ("versions/*", "databases/*[!lm]"):
        assert len([*place.glob(kind)]) == len([*undisturbed.glob(kind)])


def _in_a_child(work: Callable[[], object]) -> bool:
    """Return whether the work came to its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in {0, 9}, status
    return status == 0


def _until(moment: int, change: Callable[[EmbeddedIndex], object], place: Path) -> None:
    done = 0

    def deadly(touch: Callable[..., Any]) -> Callable[..., Any]:
        def touching(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            done += 1
            if done == moment:
                os._exit(9)
            return touch(*arguments, **options)

        return touching

    for name in TOUCHING:
        setattr(os, name, deadly(getattr(os, name)))
    change(EmbeddedIndex(place))


def all_changes(step: int) -> None:
    """Try all below the folder of the command line; print how many moments were tried of each."""
    torch.set_num_threads(1)  # before children are made of this process
    for change in CHANGES:
        print(main(change, Path(sys.argv[1], change), step))
