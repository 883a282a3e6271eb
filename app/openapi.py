"""The description of every route, as OpenAPI 3.1 (schemas are JSON Schema 2020-12)."""

from __future__ import annotations

from typing import Any, get_args

from app.export import EXPORTS
from retrieval.recipes import DEFAULT_RECIPE, RECIPES
from retrieval.types import LABELS, OPERATORS, FoundBy, Stopped
from worker.jobs import STATES

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer", "minimum": 0}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_URL: Schema = {"type": ["string", "null"]}
_TIME: Schema = {"type": "string", "format": "date-time"}
_TIME_OR_NULL: Schema = {"type": ["string", "null"], "format": "date-time"}
_LABEL: Schema = {"enum": list(LABELS)}
_LABEL_OR_NULL: Schema = {"enum": [*LABELS, None]}
_STATE: Schema = {"enum": list(STATES)}
_OFFSETS: Schema = {"type": "array", "items": _WHOLE, "minItems": 2, "maxItems": 2}
# Which sentence: its document's id and its number; with offsets, which words of it.
_SENTENCE: Schema = {"type": "array", "prefixItems": [_TEXT, _WHOLE], "minItems": 2, "maxItems": 2}
_WORDS: Schema = {
    "type": "array",
    "prefixItems": [_TEXT, _WHOLE, _WHOLE, _WHOLE],
    "minItems": 4,
    "maxItems": 4,
}
_NULL: Schema = {"type": "null"}


def openapi_document() -> Schema:
    """Return the document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ESOTERIC",
            "version": "1",
            "description": "Finds sentences that support or refute a claim, and gives a verdict.",
        },
        "paths": {**_page_paths(), **_api_paths(), **_health_paths()},
        "components": {
            "schemas": {
                "Error": _object(error=_ref("Problem")),
                "Problem": _object(code=_TEXT, message=_TEXT, hint=_TEXT),
                "Ready": _object(
                    _added=("language_model", "degraded"),
                    status=_TEXT,
                    home=_TEXT,
                    language_model=_object(model=_TEXT, host={"type": ["string", "null"]}),
                    degraded=_list(_ref("Problem")),
                ),
                "NotReady": _object(error=_ref("Problem"), problems=_list(_ref("Problem"))),
                "Status": _object(status=_TEXT),
                "Submission": {
                    "type": "object",
                    "properties": {
                        "claim": _TEXT,
                        "recipe": {"enum": list(RECIPES), "default": DEFAULT_RECIPE},
                    },
                    "required": ["claim"],
                    "additionalProperties": False,
                },
                "Links": _object(self=_TEXT, progress=_TEXT, export=_TEXT, page=_TEXT),
                "Accepted": _object(id=_TEXT, state=_STATE, links=_ref("Links")),
                "Job": _object(
                    id=_TEXT,
                    claim=_TEXT,
                    recipe=_TEXT,
                    state=_STATE,
                    created_at=_TIME,
                    started_at=_TIME_OR_NULL,
                    finished_at=_TIME_OR_NULL,
                    attempts=_WHOLE,
                    result={"anyOf": [_ref("Result"), _NULL]},
                    error={"anyOf": [_ref("Problem"), _NULL]},
                    links=_ref("Links"),
                ),
                "Event": _object(
                    n=_WHOLE, at=_TIME, stage=_TEXT, message=_TEXT, done=_WHOLE, of=_WHOLE
                ),
                "Progress": _object(state=_STATE, events=_list(_ref("Event")), next=_WHOLE),
                "Result": _result(),
            }
        },
    }


def _page_paths() -> Schema:
    submission = {
        "type": "object",
        "properties": {"claim": _TEXT, "recipe": _TEXT},
        "required": ["claim"],
    }
    return {
        "/": {"get": _operation("The form and recent claims", {200: _page()})},
        "/claims": {
            "get": _operation(
                "The claims asked so far",
                {200: _page()},
                [_query("q", "Words of a claim", _TEXT), _query("page", "From 1", _WHOLE)],
            ),
            "post": {
                **_operation(
                    "Submit a claim from the form",
                    {
                        303: _leads_to("The claim's page"),
                        403: _page("From another site"),
                        413: _page("Too large"),
                        415: _page("Not a form"),
                        422: _page("The form again, saying what is wrong with the claim"),
                    },
                ),
                "requestBody": _body("application/x-www-form-urlencoded", submission),
            },
        },
        "/claims/{job_id}": {
            "parameters": [_job_id()],
            "get": _operation(
                "How far the claim is, and its result once there is one",
                {200: _page(), 404: _page("No such claim")},
                [_query("follow", "1: the page renews itself without scripts too", _TEXT)],
            ),
        },
        "/claims/{job_id}/cancel": {
            "parameters": [_job_id()],
            "post": _operation(
                "Cancel a pending claim",
                {
                    303: _leads_to("The claim's page"),
                    403: _page("From another site"),
                    404: _page("No such claim"),
                },
            ),
        },
    }


def _api_paths() -> Schema:
    missing = {404: _error("No such claim")}
    exports = {export.media_type.split(";")[0]: {"schema": _TEXT} for export in EXPORTS.values()}
    return {
        "/api/v1/claims": {
            "post": {
                **_operation(
                    "Submit a claim; the same one, while pending, is one job",
                    {
                        202: {
                            **_json("Accepted", "Accepted"),
                            "headers": {"Location": {"schema": _TEXT}},
                        },
                        400: _error("Malformed JSON"),
                        403: _error("From another site"),
                        413: _error("More than 64 KiB"),
                        415: _error("Not JSON"),
                        422: _error("Not something that can be checked"),
                    },
                ),
                "requestBody": _body("application/json", _ref("Submission")),
            }
        },
        "/api/v1/claims/{job_id}": {
            "parameters": [_job_id()],
            "get": _operation(
                "The claim with its result or error", {200: _json("Job", "The claim"), **missing}
            ),
            "delete": _operation(
                "Cancel the claim; what is finished stays",
                {
                    200: _json("Job", "The claim as it is now"),
                    403: _error("From another site"),
                    **missing,
                },
            ),
        },
        "/api/v1/claims/{job_id}/progress": {
            "parameters": [_job_id()],
            "get": _operation(
                "What happened to the claim since",
                {
                    200: _json("Progress", "State and events"),
                    400: _error("'since' is not a number"),
                    **missing,
                },
                [_query("since", "The 'next' of the answer before", _WHOLE)],
            ),
        },
        "/api/v1/claims/{job_id}/export": {
            "parameters": [_job_id()],
            "get": _operation(
                "The result as a file",
                {
                    200: {"description": "The file", "content": exports},
                    400: _error("No such format"),
                    409: _error("There is no result"),
                    **missing,
                },
                [_query("format", "Default: json", {"enum": list(EXPORTS)})],
            ),
        },
        "/api/v1/openapi.json": {
            "get": _operation(
                "This document",
                {
                    200: {
                        "description": "OpenAPI 3.1",
                        "content": {"application/json": {"schema": {"type": "object"}}},
                    }
                },
            )
        },
    }


def _health_paths() -> Schema:
    figures = {
        "description": "Prometheus's text format",
        "content": {"text/plain": {"schema": _TEXT}},
    }
    ready = _operation(
        "Would a claim submitted now be checked?",
        {
            200: _json("Ready", "Yes"),
            503: _json("NotReady", "No: what is missing, and how to fix it"),
        },
    )
    return {
        "/healthz": {"get": _operation("Does the process answer?", {200: _json("Status", "Yes")})},
        "/readyz": {"get": ready},
        "/metrics": {"get": _operation("Figures for Prometheus", {200: figures})},
    }


def _result() -> Schema:
    result = _object(
        _added=("proof_label", "usage"),
        claim=_TEXT,
        recipe=_TEXT,
        notices=_list(_TEXT),
        corpus=_object(name=_TEXT, documents=_WHOLE, built_at=_TEXT),
        verdict=_object(
            _added=("opinions",),
            label=_LABEL,
            confidence=_SHARE,
            judge=_TEXT,
            rationale=_TEXT,
            opinions=_list(
                _object(
                    judge=_TEXT,
                    label=_LABEL,
                    confidence=_SHARE,
                    rationale=_TEXT,
                    cites=_list(_WHOLE),
                    missing=_TEXT,
                )
            ),
        ),
        evidence=_list(
            _object(
                _added=("path",),
                document=_TEXT,
                title=_TEXT,
                url=_URL,
                sentence_id=_WHOLE,
                sentence=_TEXT,
                start=_WHOLE,
                end=_WHOLE,
                score=_SHARE,
                stance=_LABEL,
                stance_confidence=_SHARE,
                hop=_WHOLE,
                selected={"type": "boolean"},
                path=_list(_SENTENCE),
            )
        ),
        documents=_list(
            _object(
                _added=("led_by",),
                id=_TEXT,
                title=_TEXT,
                url=_URL,
                score={"type": "number"},
                found_by=_list({"enum": list(get_args(FoundBy))}),
                hop=_WHOLE,
                led_by={"anyOf": [_SENTENCE, _NULL]},
                text=_TEXT,
            )
        ),
        questions=_list(
            _object(
                text=_TEXT,
                answer_span={"type": ["string", "null"]},
                kind={"enum": ["wh", "polar"]},
            )
        ),
        proof=_list(
            _object(
                claim_span=_OFFSETS,
                operator={"enum": list(OPERATORS)},
                evidence={"anyOf": [_WORDS, _NULL]},
            )
        ),
        proof_label=_LABEL_OR_NULL,
        hops=_list(
            _object(
                _added=("label", "best", "stopped"),
                hop=_WHOLE,
                sufficient={"type": "boolean"},
                missing=_list(_OFFSETS),
                documents=_WHOLE,
                sentences=_WHOLE,
                label=_LABEL,
                best=_list(_SENTENCE),
                stopped={"enum": [*get_args(Stopped), None]},
            )
        ),
        seconds={"type": "object", "additionalProperties": {"type": "number"}},
        usage={
            "anyOf": [
                _object(model=_TEXT, calls=_WHOLE, prompt_tokens=_WHOLE, answer_tokens=_WHOLE),
                _NULL,
            ]
        },
    )
    result["description"] = (
        "Offsets count characters: of the claim, or of the document's text. A sentence is its"
        " document's id and its number; words of it have two offsets behind."
    )
    return result


def _object(_added: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """Return an object's schema; results that are kept from before lack what was ``_added``."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in _added],
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _operation(
    summary: str, responses: dict[int, Schema], parameters: list[Schema] | None = None
) -> Schema:
    described = {str(status): response for status, response in sorted(responses.items())}
    described.setdefault("503", _error("The database or the queue cannot be used"))
    described.setdefault("421", _error("The server does not go by this name (TRUSTED_HOSTS)"))
    operation: Schema = {"summary": summary, "responses": described}
    if parameters:
        operation["parameters"] = parameters
    return operation


def _json(name: str, description: str) -> Schema:
    return {
        "description": description,
        "content": {"application/json": {"schema": _ref(name)}},
    }


def _error(description: str) -> Schema:
    return _json("Error", description)


def _page(description: str = "A page") -> Schema:
    return {"description": description, "content": {"text/html": {"schema": _TEXT}}}


def _leads_to(description: str) -> Schema:
    return {"description": description, "headers": {"Location": {"schema": _TEXT}}}


def _body(media_type: str, schema: Schema) -> Schema:
    return {"required": True, "content": {media_type: {"schema": schema}}}


def _job_id() -> Schema:
    return {"name": "job_id", "in": "path", "required": True, "schema": _TEXT}


def _query(name: str, description: str, schema: Schema) -> Schema:
    return {"name": name, "in": "query", "description": description, "schema": schema}
