"""Keeps paths of the server out of what pages and the API show; logs and commands show them.

Errors name files and commands with their whole paths, which tell strangers about the machine. The
folders of the settings are shown by the names of their settings, such as ESOTERIC_HOME/esoteric.db,
what is beside the code relative to it, and of any other path only its last name.
"""

from __future__ import annotations

import re
from pathlib import Path

from retrieval.errors import Problem
from settings import CHECKOUT, Settings
from worker.jobs import Job

# A path within quotation marks may contain spaces. Slashes in the middle of a word are no paths,
# nor are those of the address of a server, but those of a database file in an SQLAlchemy URL are.
_QUOTED = re.compile(r"(?<=['\"])/(?:[^/'\"]+/)+(?=[^/'\"]*['\"])")
_PATH = re.compile(r"(?:(?<![\w/\]])|(?<=sqlite:///)|(?<=file://))/(?:[^/\s'\"]+/)+")


def _whole(folder: str) -> re.Pattern[str]:
    """Return what finds a folder, but not one whose path only begins or ends like it."""
    after = "" if folder.endswith("/") else r"(?![\w-])"
    return re.compile(rf"(?<!\w){re.escape(folder)}{after}")


class ServerPaths:
    """The folders of one service, and how they are shown."""

    def __init__(self, settings: Settings) -> None:
        named: dict[Path | str | None, str] = {
            settings.home: "ESOTERIC_HOME",
            settings.bart: "ESOTERIC_BART",
            settings.verifier: "ESOTERIC_VERIFIER",
            settings.report_models: "ESOTERIC_REPORT_MODELS",
            settings.recipes: "ESOTERIC_RECIPES",
        }
        named |= {model.name: model.variable for model in settings.named_models}
        shown = {str(folder): name for folder, name in named.items() if folder is not None}
        shown |= {f"{CHECKOUT}/": "", str(CHECKOUT): "the folder of ESOTERIC"}
        # A folder may be inside another one, so the longest come first.
        longest_first = sorted(shown.items(), key=lambda one: len(one[0]), reverse=True)
        self._shown = [(_whole(folder), name) for folder, name in longest_first]

    def hidden_in(self, text: str) -> str:
        """Return the text without paths of the server."""
        for folder, name in self._shown:
            text = folder.sub(name, text)
        return _PATH.sub("", _QUOTED.sub("", text))

    def hidden_in_problem(self, problem: Problem) -> Problem:
        """Return the problem without paths of the server."""
        message, hint = self.hidden_in(problem.message), self.hidden_in(problem.hint)
        return Problem(problem.code, message, hint)

    def hidden_in_job(self, job: Job) -> Job:
        """Return the job without paths of the server in its error and in the result's notices."""
        if job.error is not None:
            return job.model_copy(update={"error": self.hidden_in_problem(job.error)})
        if job.result is not None and job.result.notices:
            notices = tuple(map(self.hidden_in, job.result.notices))
            result = job.result.model_copy(update={"notices": notices})
            return job.model_copy(update={"result": result})
        return job
