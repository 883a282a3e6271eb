"""The web application: pages, files, the HTTP API and health checks.

``app.pages``, ``app.box``, ``app.lists``, ``app.texts``, ``app.compare``, ``app.api_page``,
``app.files``, ``app.api``, ``app.api_lists``, ``app.api_texts`` and ``app.health`` are blueprints.
``app.contexts`` defines the data that each template gets, ``app.filters`` how templates show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask
from jinja2 import StrictUndefined

import retrieval.words as words
from app import (
    api,
    api_lists,
    api_page,
    api_texts,
    box,
    compare,
    corpora,
    corpora_api,
    events,
    feedback,
    files,
    health,
    lists,
    login,
    pages,
    search_on,
    selection,
    texts,
    yours,
)
from app.access import install_access, lists_all
from app.asker import asker
from app.assets import Assets
from app.audit import install_audit
from app.compression import install_compression
from app.errors import install_error_handlers
from app.filters import install_filters
from app.guard import MOST_BYTES, install_guard
from app.limits import Limits
from app.metrics import Metrics
from app.openapi import document
from app.proxies import TrustedProxies
from app.request_log import install_request_log
from app.server_paths import ServerPaths
from app.services import Services, install_services
from app.shared_metrics import SharedMetrics
from app.streams import Streams
from app.visitor import may_change
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
    from retrieval.web.page_reader import PageReader


def create_app(settings: Settings) -> Flask:
    """Return the application; it opens no connection before the first request.

    Raises:
        BadRecipe: a file of ESOTERIC_RECIPES cannot be used.
    """
    recipes = recipes_with(settings.recipes)
    app = Flask(
        "esoteric",
        root_path=str(CHECKOUT),
        static_folder="static",
        template_folder="templates",
    )
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES
    # A name that is missing from a template's context is an error, not an empty string.
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    install_filters(app.jinja_env)
    app.jinja_env.globals["words"] = words
    app.jinja_env.globals |= {"asker": asker, "lists_all": lists_all, "changeable": may_change}
    app.jinja_env.globals["logs_in"] = settings.access == "tokens"
    app.jinja_env.globals["asset"] = Assets(CHECKOUT / "static").address
    database = Database(settings.database_url)
    store = JobStore(database)
    streams = Streams()
    metrics = Metrics(streams)
    services = Services(
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
        limits=Limits(settings),
        corpora=CorpusStore(settings.documents, settings.folders),
        streams=streams,
    )
    install_services(app, services)
    install_request_log(app)
    metrics.add(SharedMetrics(services))
    metrics.watch(app)
    install_guard(app, settings.trusted_hosts, settings.most_upload)
    install_access(app)
    install_audit(app)
    install_compression(app)
    install_error_handlers(app)
    app.register_blueprint(pages.blueprint)
    app.register_blueprint(login.blueprint)
    app.register_blueprint(box.blueprint)
    app.register_blueprint(api_page.blueprint)
    app.register_blueprint(search_on.blueprint)
    app.register_blueprint(feedback.blueprint)
    app.register_blueprint(selection.blueprint)
    app.register_blueprint(yours.blueprint)
    app.register_blueprint(compare.blueprint)
    app.register_blueprint(files.blueprint)
    app.register_blueprint(api.blueprint)
    app.register_blueprint(lists.blueprint)
    app.register_blueprint(api_lists.blueprint)
    app.register_blueprint(texts.blueprint)
    app.register_blueprint(api_texts.blueprint)
    app.register_blueprint(events.blueprint)
    app.register_blueprint(health.blueprint)
    app.register_blueprint(corpora.blueprint)
    app.register_blueprint(corpora_api.blueprint)
    app.wsgi_app = TrustedProxies(  # type: ignore[method-assign]
        app.wsgi_app, settings.proxies, settings.user_header
    )
    with app.app_context():  # made once, before several threads need it
        app.extensions["openapi"] = document(recipes)
    return app


def _page_reader(settings: Settings) -> PageReader | None:
    if not settings.fetch:
        return None
    from retrieval.web.page_reader import PageReader  # takes memory that others need not

    return PageReader()
