"""All that one visitor has here: as a file, and deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, redirect, stream_with_context, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.api.openapi import describe
from app.claims.feedback import feedback_of
from app.people.visitor import forget_visitor, visitor
from app.result.export import jobs_as_json
from app.services import services
from worker.feedback_store import FeedbackStore
from worker.lists import ClaimList

blueprint = Blueprint("yours", __name__)


@blueprint.get("/yours.json")
@describe(HTTP_200=(None, "The file"))
def export() -> Response:
    """Return all that the visitor has submitted, as one file; nothing without a cookie."""
    owner = visitor()
    store = services().store
    ids = [] if owner is None else store.ids_of(owner)
    said = [] if owner is None else feedback_of(owner)
    lists = [] if owner is None else services().lists.all_of(owner)

    def written() -> Iterator[str]:
        yield '{"claims": '
        yield from jobs_as_json(map(services().paths.hidden_in_job, store.one_by_one(ids)))
        yield ', "lists": ['
        for number, one in enumerate(lists):
            yield (", " if number else "") + json.dumps(_list(one), ensure_ascii=False)
        yield f'], "feedback": {json.dumps(said, ensure_ascii=False)}}}\n'

    return Response(
        stream_with_context(written()),
        mimetype="application/json",
        headers={"Content-Disposition": 'attachment; filename="esoteric-yours.json"'},
    )


@blueprint.post("/yours/delete")
@describe(HTTP_303=(None, "The history"), HTTP_403=(None, "From another site"))
def delete() -> BaseResponse:
    """Delete all that the visitor has submitted, and the cookie."""
    owner = visitor()
    if owner is not None:
        services().lists.delete_all_of(owner)  # first, as lists hand claims to the queue
        services().store.delete_all_of(owner)
        FeedbackStore(services().database).delete_all_of(owner)
    response = redirect(url_for("pages.history"), HTTPStatus.SEE_OTHER)
    forget_visitor(response)
    return response


def _list(one: ClaimList) -> dict[str, Any]:
    """Return a list as it was submitted; its rows name their claims."""
    lists = services().lists
    source = lists.source_text(one.id)
    return {
        "id": one.id,
        "name": one.name,
        "recipe": one.recipe,
        "created_at": one.created_at.isoformat(),
        "text": None if source is None else source.text,
        "page": None if source is None or source.page is None else asdict(source.page),
        "rows": [
            {"claim": row.claim, "others": dict(row.others), "claim_id": row.claim_id}
            for row in lists.all_entries(one.id)
        ],
    }
