"""What every store does alike when it builds or changes an index."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from retrieval.corpora.corpus import BadPage, Chunk, Corpus, Page, kind_of
from retrieval.index.interface import BuildProgress, Description, ProgressListener
from retrieval.models import runtime
from retrieval.models.encoders import DocumentEncoder
from retrieval.system.processes import in_order

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a change is to do, in words and in full: the same change has the same plan.

    By its digest the next try finds what an interrupted one has done.
    """

    work: str
    content: Mapping[str, object]

    @classmethod
    def build(cls, corpus: Corpus, encoder: DocumentEncoder | None) -> Plan:
        """Return the plan of ``Index.build``."""
        content = {
            "source": corpus.source,
            "fingerprint": corpus.fingerprint(),
            "encoder": name_of(encoder),
        }
        return cls(f"a build of {corpus.source}", content)

    @classmethod
    def addition(cls, corpus: Corpus, encoder: DocumentEncoder | None) -> Plan:
        """Return the plan of ``Index.add``."""
        content = {"add": True, **cls.build(corpus, encoder).content}
        return cls(f"an addition of {corpus.source}", content)

    @classmethod
    def vectors(cls, encoder: DocumentEncoder) -> Plan:
        """Return the plan of ``Index.encode``."""
        return cls(f"vectors of {encoder.name}", {"encode": encoder.name})

    @classmethod
    def removal(cls, ids: Sequence[str]) -> Plan:
        """Return the plan of ``Index.remove``."""
        return cls("a removal", {"without": list(ids)})

    def digest(self, **conditions: object) -> str:
        """Return what identifies the plan under these conditions."""
        content = json.dumps({**self.content, **conditions}, sort_keys=True)
        return hashlib.sha256(content.encode("utf-8")).hexdigest()[:16]


def name_of(encoder: DocumentEncoder | None) -> str:
    """Return the name of an encoder as an index stores it, "" without one."""
    return encoder.name if encoder is not None else ""


def updates(before: Description, corpus: Corpus, encoder: DocumentEncoder | None) -> bool:
    """Return whether a build may take unchanged documents and vectors from a version before."""
    same_kind = kind_of(before.source) == kind_of(corpus.source)
    return same_kind and before.encoder == name_of(encoder)


def read(
    corpus: Corpus,
    finished: int,
    prepare: Callable[[], Callable[[Chunk], Made]],
    processes: int,
    on_progress: ProgressListener,
    documents: Callable[[], int],
) -> Iterator[Made]:
    """Yield what ``prepare()`` makes of each chunk of a source, in their order.

    ``finished``: how many chunks an earlier try has finished, which are left out. When the next is
    asked for, the one before is finished, and ``documents`` returns how many have been read.
    """
    done = [0]

    def missing() -> Iterator[Chunk]:
        for number, (chunk, size) in enumerate(corpus.chunks()):
            done.append(done[-1] + size)
            if number >= finished:
                yield chunk

    size = corpus.size()
    on_progress(BuildProgress("reading", 0, size, 0))
    for number, made in enumerate(in_order(prepare, missing(), processes), finished + 1):
        yield made
        on_progress(BuildProgress("reading", done[number], size, documents()))


def pages_in(chunk: Chunk) -> tuple[list[Page], list[BadPage]]:
    """Return the pages of a chunk that can be read, and those that cannot."""
    pages: list[Page] = []
    bad: list[BadPage] = []
    for page in chunk:
        if isinstance(page, Page):
            pages.append(page)
        else:
            bad.append(page)
    return pages, bad


def prepare_networks(threads: int, networks: Path | None) -> None:
    """Let this process compute with so many threads, or with one if it is one of several.

    ``networks``: the folder of converted networks (``runtime.kept_folder``).
    """
    if networks:
        runtime.keep_in(networks)
    runtime.use_threads(1 if multiprocessing.parent_process() else threads)
