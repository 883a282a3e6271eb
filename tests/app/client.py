"""A visitor of the application, who also reaches what is behind its pages."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from app.services import Services, services_of
from tests.app.claim_documents import claim_document
from tests.app.worker_by_hand import WorkerByHand
from worker.corpora.corpus_store import CorpusStore
from worker.job_store import JobStore
from worker.jobs import Job
from worker.user_store import Role

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


class Client(FlaskClient):
    """A browser or a program; ``services``, ``store``: those of the application."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.worker = WorkerByHand(self.store)

    @property
    def services(self) -> Services:
        return services_of(self.application)

    @property
    def store(self) -> JobStore:
        return self.services.store

    @property
    def corpora(self) -> CorpusStore:
        return self.services.corpora

    @property
    def home(self) -> Path:
        return self.services.settings.home

    def another(self) -> Client:
        """Return another visitor of the same application."""
        return self.application.test_client()

    def user(self, name: str, role: Role = "checker") -> Client:
        """Add a user, and return a program that sends her token."""
        client = self.another()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {self.services.users.add(name, role)}"
        return client

    def json(self, path: str) -> Any:
        return self.get(path).get_json()

    def job_at(self, address: str) -> Job:
        """Return the claim whose page is there."""
        return self.store.get(address.rpartition("/")[2])

    def sent(self, claim: str = CLAIM, **more: Any) -> Job:
        """Submit a claim by the API."""
        answer = self.post("/api/v1/claims", json={"claim": claim, **more})
        assert answer.status_code == 202, answer.text
        return self.store.get(answer.get_json()["id"])

    def done(self, result: dict[str, Any] | None = None, recipe: str = "esoteric") -> Job:
        """Submit the claim of a result (by default a supported one) and end it with that."""
        result = result or claim_document(CLAIM)
        job = self.store.submit(result["claim"], recipe)[0]
        self.worker.finish(job, result)
        return job


def refusal(answer: Any) -> tuple[int, str]:
    """Return the status and the code of an error of the API, whose form is always the same."""
    assert answer.mimetype == "application/json"
    assert list(answer.get_json()) == ["error"]
    error = answer.get_json()["error"]
    assert set(error) == {"code", "message", "hint"}
    assert error["message"]
    assert error["hint"]
    return answer.status_code, error["code"]


def words(page: str) -> str:
    """Return the text of a page, spaces folded."""
    bare = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", bare)).split())
