"""The web application: pages, files, the HTTP API and health checks.

One folder for each subject: ``claims``, ``lists``, ``texts``, ``documents`` and ``comparisons``
have the pages, ``result`` what they show of a result, ``api`` the API; ``people`` decides who may
do what, ``http`` serves requests, ``monitoring`` says whether all works. Templates read results and
jobs as they are, through ``app.filters``; their texts come unchanged from the corpus or from a user
and may be hostile; Jinja escapes all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Flask
from jinja2 import StrictUndefined

import retrieval.words as words
from app.api import claims as claims_api
from app.api import comparisons as comparisons_api
from app.api import corpora as corpora_api
from app.api import feedback as feedback_api
from app.api import lists as lists_api
from app.api import page as api_page
from app.api import texts as texts_api
from app.api.openapi import document
from app.claims import box, feedback, history
from app.claims import pages as claim_pages
from app.comparisons import pages as comparison_pages
from app.documents import files
from app.documents import pages as document_pages
from app.documents.corpus import also_searched
from app.filters import install_filters
from app.http.assets import Assets
from app.http.compression import install_compression
from app.http.errors import install_error_handlers
from app.http.guard import MOST_BYTES, install_guard
from app.http.limits import Limits
from app.http.proxies import TrustedProxies
from app.http.request_log import install_request_log
from app.http.server_paths import ServerPaths
from app.http.streams import Streams
from app.lists import pages as list_pages
from app.monitoring import health
from app.monitoring.metrics import Metrics
from app.monitoring.shared_metrics import SharedMetrics
from app.people import account, login, sharing, yours
from app.people.access import allowed, install_access, lists_all
from app.people.asker import asker, client
from app.people.audit import install_audit
from app.people.hints import shown_hint
from app.people.sharing import groups_to_share_with, who_sees_a_new_corpus
from app.people.visitor import may_change
from app.services import Services, install_services
from app.texts import pages as text_pages
from retrieval.checkable.reader import ReaderOnDemand
from retrieval.recipes.recipe_files import recipes_with
from settings import CHECKOUT, Settings
from worker.broker import Queue
from worker.corpora.corpus_store import CorpusStore
from worker.database import Database
from worker.job_store import JobStore
from worker.list_store import ListStore
from worker.user_store import UserStore
from worker.worker_store import WorkerStore

if TYPE_CHECKING:
    from retrieval.recipes.recipes import Recipe
    from retrieval.web.page_reader import PageReader

# Each has a blueprint.
_MODULES = (
    *(claim_pages, box, history, feedback, list_pages, text_pages, document_pages, files),
    *(comparison_pages, login, yours, sharing, account, claims_api, feedback_api, lists_api),
    *(texts_api, corpora_api, comparisons_api, api_page, health),
)


def create_app(settings: Settings) -> Flask:
    """Return the application; it opens no connection before the first request.

    Raises:
        BadRecipe: a file of ESOTERIC_RECIPES cannot be used.
        StoreUnavailable: ESOTERIC_DATABASE_URL cannot be used.
    """
    recipes = recipes_with(settings.recipes)
    app = _App(
        "esoteric",
        root_path=str(CHECKOUT),
        static_folder="static",
        template_folder="templates",
    )
    app.public_url = settings.public_url
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES
    _install_templates(app, settings)
    services = _services(settings, recipes)
    install_services(app, services)
    install_request_log(app)
    services.metrics.add(SharedMetrics(services))
    services.metrics.watch(app)
    published = settings.published_host.casefold()
    install_guard(app, (*settings.trusted_hosts, published), settings.most_upload)
    install_access(app)
    install_audit(app)
    install_compression(app)
    install_error_handlers(app)
    for module in _MODULES:
        app.register_blueprint(module.blueprint)
    app.wsgi_app = TrustedProxies(  # type: ignore[method-assign]
        app.wsgi_app, settings.proxies, settings.user_header
    )
    with app.app_context():  # made once, before several threads need it
        app.extensions["openapi"] = document(recipes)
    return app


class _App(Flask):
    """Gives every link that leaves the service, and every export, the public address."""

    public_url = ""

    def url_for(self, endpoint: str, *, _external: bool | None = None, **values: Any) -> str:
        """Return the address of a page; ``_external``: with the host at which others reach it."""
        if not _external or not self.public_url:
            return super().url_for(endpoint, _external=_external, **values)
        return self.public_url + super().url_for(endpoint, _external=False, **values)


def _install_templates(app: Flask, settings: Settings) -> None:
    # A name that is missing from a template's context is an error, not an empty string.
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    install_filters(app.jinja_env)
    app.jinja_env.globals["words"] = words
    app.jinja_env.globals |= {"asker": asker, "lists_all": lists_all, "changeable": may_change}
    app.jinja_env.globals |= {"allowed": allowed, "shown_hint": shown_hint}
    app.jinja_env.globals["also_searched"] = also_searched
    app.jinja_env.globals["who_sees_a_new_corpus"] = who_sees_a_new_corpus
    app.jinja_env.globals["groups_to_share_with"] = groups_to_share_with
    app.jinja_env.globals["logs_in"] = settings.access == "tokens"
    app.jinja_env.globals["people_log_in"] = settings.access in ("tokens", "proxy")
    app.jinja_env.globals["asset"] = Assets(CHECKOUT / "static").address


def _services(settings: Settings, recipes: dict[str, Recipe]) -> Services:
    database = Database(settings.database_url)
    store = JobStore(database)
    streams = Streams()
    metrics = Metrics(streams)
    return Services(
        settings=settings,
        database=database,
        store=store,
        lists=ListStore(database),
        texts=ReaderOnDemand(settings.model_folders.networks, settings.threads),
        pages=_page_reader(settings),
        workers=WorkerStore(database),
        queue=Queue(settings, store, recipes),
        metrics=metrics,
        recipes=recipes,
        paths=ServerPaths(settings),
        users=UserStore(database),
        limits=Limits(settings, client),
        corpora=CorpusStore(settings.documents, settings.folders),
        streams=streams,
    )


def _page_reader(settings: Settings) -> PageReader | None:
    if not settings.fetch:
        return None
    from retrieval.web.page_reader import PageReader  # takes memory that others need not

    return PageReader()
