"""Private by default: who may open a claim, a list or a corpus, and the switch that shares it.

Nobody learns of what is not theirs to see: it is answered as if it did not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Literal, TypeAlias

from flask import Blueprint, Response, redirect, request, url_for
from pydantic import ConfigDict, ValidationError
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import Error, Model, answer
from app.api.openapi import describe
from app.http.errors import RequestRefused
from app.http.query import asked_in_json
from app.people.asker import asker, is_operator, logs_users_in, user_as_owner
from app.people.visitor import refuse_others, viewer, visitor
from app.services import services
from retrieval.errors import Problem
from worker.corpora.corpus_folders import Corpus
from worker.corpora.corpus_store import StoredCorpus
from worker.corpora.errors import UnknownCorpus
from worker.feedback_store import FeedbackStore, UnknownFeedback
from worker.jobs import Job, Shared, UnknownJob
from worker.lists import ClaimList, UnknownList
from worker.sharing import group_of

Kind: TypeAlias = Literal["claims", "lists", "corpora"]

blueprint = Blueprint("sharing", __name__)
_CORPORA = ("corpora", "api_corpora")


class Sharing(Model):
    """With whom something is shared."""

    model_config = ConfigDict(extra="forbid")

    shared: Shared
    """`everyone` who may use the service, `group:NAME` the members of a group that you are in, or
    only its `owner`; and operators."""


def refuse_unseen() -> None:
    """Refuse a request whose address names something that may not be seen.

    Raises:
        UnknownJob, UnknownList, UnknownCorpus, UnknownFeedback: so, or there is none.
    """
    named = request.view_args or {}
    if "job_id" in named:
        _refuse_unseen_claim(named["job_id"])
    if "list_id" in named:
        seen_list(named["list_id"])
    if "feedback_id" in named:
        feedback = FeedbackStore(services().database).get(named["feedback_id"])
        given = feedback.owner is not None and feedback.owner == visitor()
        if not given and not viewer().opens(*services().store.sharing(feedback.claim_id)):
            raise UnknownFeedback
    if request.blueprint in _CORPORA and "name" in named:
        refuse_unseen_corpus(named["name"])


def seen_job(job_id: str) -> Job:
    """Return the job, unless it may not be seen.

    Raises:
        UnknownJob: there is none with this id, or none to be seen.
    """
    _refuse_unseen_claim(job_id)
    return services().store.get(job_id)


def seen_list(list_id: str) -> ClaimList:
    """Return the list, unless it may not be seen.

    Raises:
        UnknownList: there is none with this id, or none to be seen.
    """
    found = services().lists.get(list_id)
    if not viewer().opens(found.owner, found.shared):
        raise UnknownList
    return found


def sees_corpus(corpus: Corpus | StoredCorpus) -> bool:
    """Return whether who asks may see and search a corpus beside the default one."""
    return viewer().opens(corpus.owner, corpus.shared)


def refuse_unseen_corpus(name: str) -> None:
    """Refuse a corpus that may not be seen.

    Raises:
        UnknownCorpus: so, or there is none of this name.
    """
    if not sees_corpus(services().corpora.corpus(name)):
        raise UnknownCorpus(name)


def owner_of_new_corpus() -> str | None:
    """Return the owner of a corpus that is made now, ``None`` where nobody logs in."""
    return user_as_owner()


def who_sees_a_new_corpus() -> str:
    """Return who can see and search what is uploaded now, as the page says it."""
    if logs_users_in():
        return "only you and the other operators, until you share it on its page."
    if services().settings.access is None:
        return "everybody who uses this service on this computer."
    return "everybody who can reach this service."


def groups_to_share_with() -> tuple[str, ...]:
    """Return with which groups who asks may share: her own, and for an operator all."""
    return tuple(services().users.groups()) if is_operator() else asker().groups


def _refuse_unseen_claim(job_id: str) -> None:
    if not viewer().opens(*services().store.sharing(job_id)):
        raise UnknownJob


# The switch: by a page, and by the API


@blueprint.post("/claims/<which>/share", defaults={"kind": "claims"})
@blueprint.post("/lists/<which>/share", defaults={"kind": "lists"})
@blueprint.post("/documents/<which>/share", defaults={"kind": "corpora"})
@describe(
    form=Sharing,
    HTTP_303=(None, "Its page"),
    HTTP_403=(None, "From another site, or somebody else's"),
    HTTP_404=(None, "There is none, or none to be seen"),
    HTTP_409=(None, "Nobody logs in here"),
    HTTP_422=(None, "Neither owner nor everyone, nor one of your groups"),
)
def switch(kind: Kind, which: str) -> BaseResponse:
    """Share a claim, a list or a corpus, or share it no more, and redirect to its page."""
    try:
        asked = Sharing(shared=request.form.get("shared", ""))
    except ValidationError as error:
        problem = Problem("bad_sharing", "It is not said with whom.", "Use the switch of its page.")
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, problem) from error
    _share(kind, which, asked.shared)
    pages = {
        "claims": lambda: url_for("pages.claim", job_id=which),
        "lists": lambda: url_for("lists.claims", list_id=which),
        "corpora": lambda: url_for("corpora.corpus", name=which),
    }
    return redirect(pages[kind](), HTTPStatus.SEE_OTHER)


@blueprint.put("/api/v1/claims/<which>/sharing", defaults={"kind": "claims"})
@blueprint.put("/api/v1/lists/<which>/sharing", defaults={"kind": "lists"})
@blueprint.put("/api/v1/corpora/<which>/sharing", defaults={"kind": "corpora"})
@describe(
    json=Sharing,
    HTTP_200=(Sharing, "As it is now"),
    HTTP_400=(Error, "Malformed JSON"),
    HTTP_403=(Error, "From another site, or somebody else's"),
    HTTP_404=(Error, "There is none, or none to be seen"),
    HTTP_409=(Error, "Nobody logs in here"),
    HTTP_415=(Error, "Not JSON"),
    HTTP_422=(Error, "Neither owner nor everyone, nor one of your groups"),
)
def share(kind: Kind, which: str) -> Response:
    """Share a claim, a list with its claims, or a corpus; or share it with nobody any more."""
    asked = asked_in_json(Sharing, '{"shared": "everyone"}')
    _share(kind, which, asked.shared)
    return answer(asked)


def _share(kind: Kind, which: str, shared: Shared) -> None:
    if not logs_users_in():
        raise RequestRefused(
            HTTPStatus.CONFLICT,
            Problem(
                "nobody_logs_in",
                "Nobody logs in here, so everybody sees everything.",
                "The operator can set ESOTERIC_ACCESS (docs/access.md).",
            ),
        )
    here = services()
    change: Callable[[str, Shared], None]
    if kind == "claims":
        _refuse_unseen_claim(which)
        owner, change = here.store.owner(which), here.store.share
    elif kind == "lists":
        owner, change = seen_list(which).owner, here.lists.share
    else:
        refuse_unseen_corpus(which)
        owner, change = here.corpora.corpus(which).owner, here.corpora.share
    refuse_others(owner)
    _refuse_group(shared)
    change(which, shared)


def _refuse_group(shared: Shared) -> None:
    """Refuse to share with a group that there is not, or that who asks is not in.

    Both in the same words, as nobody learns of the groups of others.
    """
    group, own = group_of(shared), groups_to_share_with()
    if group is not None and group not in own:
        said = "There is" if is_operator() else "You are in"
        named = f"Choose one of these: {', '.join(own)}." if own else "An operator makes groups."
        problem = Problem("unknown_group", f"{said} no group “{group}”.", named)
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, problem)
