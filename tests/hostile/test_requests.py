"""Requests with any values: an answer that is described, and never an error of the program."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from flask import Flask
from hypothesis import example, given
from hypothesis import strategies as st

from app import create_app
from app.services import services_of
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.index import describe_index
from tests.app.test_escaping import assert_harmless
from tests.app.worker_by_hand import WorkerByHand
from tests.hostile.conftest import ASKED
from tests.hostile.strategies import quickly, texts, values


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    home: Path = tmp_path_factory.mktemp("home")
    describe_index(home)
    app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(home)}))
    if ASKED:  # the first text takes the time in which models are loaded
        services_of(app).texts.statements_of("Varnby has a harbour.")
    yield app
    services_of(app).close()


@pytest.fixture(scope="module")
def done(app: Flask) -> str:
    """The id of a claim that has a verdict."""
    store = services_of(app).store
    job, _ = store.submit("Varnby has a harbour.", "esoteric")
    WorkerByHand(store).finish(job, claim_document("Varnby has a harbour."))
    return job.id


Ask: TypeAlias = Callable[..., None]


@pytest.fixture(scope="module")
def ask(app: Flask, done: str) -> Ask:
    """Send a request in which ``DONE`` is the claim that has a verdict, and look at its answer."""

    def asked(method: str, path: str, **sent: Any) -> None:
        with quickly(10):
            answer = app.test_client().open(path.replace("DONE", done), method=method, **sent)
        assert answer.status_code < 500, answer.text[:500]
        if answer.mimetype == "text/html" and "<main" in answer.text:
            assert_harmless(answer.text)
        if answer.status_code >= 400 and answer.mimetype == "application/json":
            assert {"code", "message", "hint"} <= json.loads(answer.text)["error"].keys()

    return asked


_BODIES = (
    ("/api/v1/claims", ("claim", "recipe", "anyway", "corpora", "edited_from")),
    ("/api/v1/lists", ("claims", "column", "corpora", "name", "recipe")),
    ("/api/v1/texts", ("text",)),
    ("/api/v1/corpora", ("title", "folder")),
    ("/api/v1/claims/DONE/feedback", ("agrees", "label", "wrong", "note", "name")),
)


@given(st.sampled_from(_BODIES), st.data())
@example(("/api/v1/lists", ()), {"claims": ["\ud800 is half.", "\\u0000"], "name": "\ud800\x00"})
@example(("/api/v1/texts", ()), {"text": "\ud800 was born in 1900. \x00 was born in 1901."})
@example(("/api/v1/claims", ()), {"claim": "\ud800 was born in 1900.", "recipe": "\ud800"})
@example(("/api/v1/claims", ()), {"claim": "Tea is hot.", "corpora": ["\ud800", "\x00", "../.."]})
@example(("/api/v1/corpora", ()), {"title": "\ud800\x00", "folder": "\ud800"})
@example(
    ("/api/v1/claims/DONE/feedback", ()),
    {"agrees": False, "label": "REFUTES", "wrong": [10**400], "note": "\ud800", "name": "\x00"},
)
def test_any_object_that_a_program_sends_is_answered(
    ask: Ask, route: tuple[str, tuple[str, ...]], data: Any
) -> None:
    path, keys = route
    ask("post", path, json=data if isinstance(data, dict) else data.draw(_objects(keys)))


def _objects(keys: tuple[str, ...]) -> st.SearchStrategy[Any]:
    plain = st.one_of(texts, st.booleans(), st.none(), st.lists(texts, max_size=4))
    some = st.fixed_dictionaries({}, optional={key: st.one_of(plain, values) for key in keys})
    return st.one_of(some, values)


_TEXT = texts.map(lambda text: text.encode("utf-8", "replace").decode())
_FORMS = (
    ("/claims", ("claim", "recipe", "anyway", "corpora")),
    ("/box", ("claim",)),
    ("/lists", ("claims", "name", "column", "recipe")),
    ("/texts", ("text",)),
    ("/texts/claims", ("text", "picked", "recipe")),
    ("/compare", ("claim", "recipe")),
    ("/claims/selected", ("do", "claims")),
    ("/claims/DONE/feedback", ("agrees", "label", "wrong", "note", "name")),
)


@given(st.sampled_from(_FORMS), st.data())
def test_any_form_is_answered_by_a_page(
    ask: Ask, route: tuple[str, tuple[str, ...]], data: Any
) -> None:
    path, keys = route
    ask(
        "post", path, data=data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(keys, _TEXT)))
    )


_QUERIES = (
    ("/", ("q",)),
    ("/claims", ("q", "verdict", "recipe", "state", "whose", "page", "since")),
    ("/claims/DONE", ("follow", "level")),
    ("/compare", ("claims", "recipe", "claim")),
    ("/feedback", ("whose", "page")),
    ("/api/v1/claims", ("q", "verdict", "recipe", "state", "page", "limit")),
    ("/api/v1/claims/DONE/progress", ("since",)),
    ("/api/v1/claims/DONE/export", ("format",)),
    ("/api/v1/compare", ("claims",)),
    ("/api/v1/compare/export", ("claims", "format")),
    ("/api/v1/feedback", ("limit", "since", "whose")),
    ("/api/v1/feedback/export", ("format",)),
)
_SHORT = st.one_of(
    texts.map(lambda text: text[:2000]), st.integers().map(str), st.floats().map(str)
)


@given(st.sampled_from(_QUERIES), st.data())
@example(("/claims", ()), {"page": "9" * 30, "q": "\x00"})
@example(("/api/v1/claims", ()), {"page": "-1", "limit": "9" * 5000, "q": "%" * 500})
@example(("/api/v1/claims/DONE/progress", ()), {"since": "9" * 30})
def test_queries_are_answered(ask: Ask, route: tuple[str, tuple[str, ...]], data: Any) -> None:
    path, names = route
    some = st.fixed_dictionaries({}, optional=dict.fromkeys(names, _SHORT))
    asked = data if isinstance(data, dict) else data.draw(some)
    sent = {name: value.encode("utf-8", "replace") for name, value in asked.items()}
    ask("get", path, query_string=sent)


@given(_TEXT)
def test_any_address_is_answered(ask: Ask, text: str) -> None:
    for before in ("/claims/", "/lists/", "/documents/", "/api/v1/corpora/", "/static/", "/"):
        ask("get", before + text[:500])
