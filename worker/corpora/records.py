"""What is written about a corpus: what it is, and how far its indexing is."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from retrieval.errors import Problem
from worker.jobs import Shared

Step: TypeAlias = Literal["reading", "encoding", "done", "failed"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class Corpus(_Record):
    """What a corpus is.

    ``folder``: the name of a folder of ESOTERIC_FOLDERS, ``None`` where files are uploaded.
    ``wanted``: a mark that changes with the files; ``wanted_at``: when it last did, ``None`` in
    records of older versions. ``left_out``: what is said of files of the last upload that were not
    taken. ``owner``: who made it; ``shared``: with whom (worker/sharing.py), ``None``: everybody,
    where nobody logs in and in records of older versions.
    """

    title: str
    made_at: datetime
    folder: str | None
    wanted: str
    wanted_at: datetime | None = None
    left_out: tuple[str, ...] = ()
    owner: str | None = None
    shared: Shared | None = None


class FileReport(_Record):
    """What the indexing found in a file: how many passages, and what could not be read."""

    passages: int = 0
    problems: tuple[str, ...] = ()


class Indexing(_Record):
    """How far the indexing of the files with the mark ``of`` is.

    ``done`` of ``total`` files are read, or passages encoded. ``files``: those that were read, by
    their names. ``deaths``: how often its process ended unexpectedly. ``problem``: why it failed.
    """

    of: str
    step: Step = "reading"
    done: int = 0
    total: int = 0
    files: dict[str, FileReport] = {}
    deaths: int = 0
    problem: Problem | None = None
