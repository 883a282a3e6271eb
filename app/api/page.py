"""The page about the API, and what it leads to: the client in Python and the description."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, jsonify, request

from app.api.contexts import ApiPage, Endpoint
from app.api.openapi import describe
from app.contexts import render
from app.http.guard import MOST_BYTES
from app.services import services
from retrieval.claim import LONGEST
from settings import CHECKOUT

blueprint = Blueprint("api_page", __name__)

# ADDRESS, ID and NAME stand for those of the reader. The Python lines use
# examples/esoteric_client.py.
ENDPOINTS = (
    Endpoint(
        "submit",
        "POST /api/v1/claims",
        "Submits a claim and answers at once, with its id, its state and its addresses. A recipe"
        " may be named, and the corpora to search. With “anyway”, also a link, a text in another"
        " language, or a question that yes or no does not answer is checked.",
        "curl -s ADDRESS/api/v1/claims -H 'Content-Type: application/json' -d '{\"claim\":"
        ' "Sputnik 1 was launched by the United States.", "recipe": "esoteric"}\'',
        'job = service.submit("Sputnik 1 was launched by the United States.", "esoteric")',
    ),
    Endpoint(
        "progress",
        "GET /api/v1/claims/ID/progress",
        "The state, and the events after number “since”: each names a stage and what it found."
        " Send the “next” of one answer as the “since” of the following request.",
        "curl -s 'ADDRESS/api/v1/claims/ID/progress?since=0'",
        'for event in service.progress("ID"):\n    print(event["stage"], event["message"])',
    ),
    Endpoint(
        "events",
        "GET /api/v1/claims/ID/events",
        "The same events as they are made, as server-sent events: “progress” with what the stage"
        " found, “state” with the state and how many claims wait before it. It ends with the claim."
        " Where too many streams are open it is refused with 503, or with 429 if they are yours;"
        " ask for the progress then.",
        "curl -s -N ADDRESS/api/v1/claims/ID/events",
        "import urllib.request\nwith urllib.request.urlopen("
        '"ADDRESS/api/v1/claims/ID/events") as stream:\n    for line in stream:\n'
        '        print(line.decode(), end="")',
    ),
    Endpoint(
        "claim",
        "GET /api/v1/claims/ID",
        "The claim. Its state is queued, running, done, failed or cancelled. Once it is done, the"
        " result has the verdict, the evidence and the documents.",
        "curl -s ADDRESS/api/v1/claims/ID",
        'print(service.claim("ID")["state"])\nprint(service.result("ID")["verdict"])  # waits',
    ),
    Endpoint(
        "export",
        "GET /api/v1/claims/ID/export",
        "The result as a file; the format is json, md, csv or claimreview. A claimreview is of the"
        " person who has agreed with the verdict under a name; without one there is none.",
        "curl -s 'ADDRESS/api/v1/claims/ID/export?format=md'",
        'print(service.export("ID", "md").decode())',
    ),
    Endpoint(
        "claims",
        "GET /api/v1/claims",
        "The claims that contain the words “q”, or all of them, newest first, with their verdicts."
        " “verdict”, “level”, “recipe” and “state” choose among them, and “whose=yours” your own."
        " A page has 20, or as many as “limit” says, at most 100.",
        "curl -s 'ADDRESS/api/v1/claims?q=sputnik&page=1&limit=20'",
        'for claim in service.claims("sputnik")["claims"]:\n    print(claim["claim"],'
        ' claim["verdict"])',
    ),
    Endpoint(
        "cancel",
        "DELETE /api/v1/claims/ID",
        "Cancels a claim that is pending; a finished one stays as it is. With “forget=1” the claim"
        " is deleted, with its events, its result and its feedback. Only its owner can do this: a"
        " user or, where nobody logs in, the browser that has its cookie.",
        "curl -s -X DELETE ADDRESS/api/v1/claims/ID\n"
        "curl -s -X DELETE 'ADDRESS/api/v1/claims/ID?forget=1'",
        'service.cancel("ID")\nservice.delete("ID")',
    ),
    Endpoint(
        "say",
        "POST /api/v1/claims/ID/feedback",
        "Says what the verdict should be. “label” is needed without agreement; “wrong” are the"
        " numbers of the evidence that is labelled wrongly; “note” and “name” are optional. It"
        " stays in this service.",
        "curl -s ADDRESS/api/v1/claims/ID/feedback -H 'Content-Type: application/json' -d"
        ' \'{"agrees": false, "label": "NOT ENOUGH INFO", "wrong": [1]}\'',
        'service.say("ID", agrees=True, name="Ida Holm")\n'
        'print(service.export("ID", "claimreview").decode())',
    ),
    Endpoint(
        "feedback",
        "GET /api/v1/feedback",
        "What people say about verdicts, newest first; with “whose=yours” only what you said.",
        "curl -s 'ADDRESS/api/v1/feedback?page=1&limit=20'",
        'for said in service.feedback()["feedback"]:\n    print(said["claim"], said["label"])',
    ),
    Endpoint(
        "export-feedback",
        "GET /api/v1/feedback/export",
        "The same as JSON lines: “claims” for esoteric evaluate --claims and for trainings,"
        " “pairs” for esoteric evaluate --pairs.",
        "curl -s 'ADDRESS/api/v1/feedback/export?format=claims'",
        'print(service.export_feedback("pairs").decode())',
    ),
    Endpoint(
        "one-feedback",
        "GET /api/v1/feedback/FEEDBACK",
        "One piece of feedback; FEEDBACK is its id.",
        "curl -s ADDRESS/api/v1/feedback/FEEDBACK",
        'print(service.one_feedback("FEEDBACK")["note"])',
    ),
    Endpoint(
        "delete-feedback",
        "DELETE /api/v1/feedback/FEEDBACK",
        "Deletes it. Only its owner can do this: a user or, where nobody logs in, the browser that"
        " has its cookie.",
        "curl -s -X DELETE -w '%{http_code}' ADDRESS/api/v1/feedback/FEEDBACK",
        'service.delete_feedback("FEEDBACK")',
    ),
    Endpoint(
        "submit-list",
        "POST /api/v1/lists",
        "Submits up to 5,000 claims, which the service then checks one after the other. A claim is"
        " a text, or an object with the key “claim” whose other keys come back. A file (CSV, Excel,"
        " JSON, JSON lines, text) can be sent as the field “file” of a form instead.",
        "curl -s ADDRESS/api/v1/lists -H 'Content-Type: application/json' -d '{\"claims\":"
        ' ["Sputnik 1 was launched by the United States.", "Dundee lies on the Tay."]}\'',
        "sent = service.submit_list(\n"
        '    [{"claim": "Dundee lies on the Tay.", "speaker": "Smith"}], "Speech"\n)',
    ),
    Endpoint(
        "list",
        "GET /api/v1/lists/ID",
        "How far a list is: running, paused, done or cancelled, how many rows each filter shows,"
        " and about how many seconds are left.",
        "curl -s ADDRESS/api/v1/lists/ID",
        'print(service.list_status("ID")["finished"])',
    ),
    Endpoint(
        "list-events",
        "GET /api/v1/lists/ID/events",
        "How far a list is, as the server-sent event “state”. An EventSource asks again"
        " every two seconds, until the list is done or cancelled.",
        "curl -s ADDRESS/api/v1/lists/ID/events",
        'print(service.list_status("ID")["counts"])',
    ),
    Endpoint(
        "list-results",
        "GET /api/v1/lists/ID/results",
        "The rows with their verdicts, 100 a page or as many as “limit” says, at most 500. “show”"
        " is all, supported, refuted, unsettled, unsure, errors or unfinished.",
        "curl -s 'ADDRESS/api/v1/lists/ID/results?show=all&page=1'",
        'for row in service.list_results("ID"):\n    print(row["claim"], row["verdict"])',
    ),
    Endpoint(
        "list-export",
        "GET /api/v1/lists/ID/export",
        "The list as a file, with the columns that came in; the format is csv, xlsx or jsonl.",
        "curl -s 'ADDRESS/api/v1/lists/ID/export?format=jsonl'",
        'print(service.export_list("ID", "csv").decode())',
    ),
    Endpoint(
        "pause-list",
        "POST /api/v1/lists/ID/pause",
        "Pauses a list that is running. The claims that already wait in the queue are checked.",
        "curl -s -X POST ADDRESS/api/v1/lists/ID/pause",
        'service.pause_list("ID")',
    ),
    Endpoint(
        "go-on-list",
        "POST /api/v1/lists/ID/go-on",
        "Continues a list that is paused.",
        "curl -s -X POST ADDRESS/api/v1/lists/ID/go-on",
        'service.go_on_list("ID")',
    ),
    Endpoint(
        "cancel-list",
        "DELETE /api/v1/lists/ID",
        "Cancels what is left of a list; what has a verdict stays. With “forget=1” the list is"
        " deleted, but not its claims.",
        "curl -s -X DELETE ADDRESS/api/v1/lists/ID",
        'service.cancel_list("ID")',
    ),
    Endpoint(
        "text",
        "POST /api/v1/texts",
        "The sentences of a text of up to 20,000 characters: which are facts that can be checked,"
        " and what each claims, with its pronouns replaced by what the text names. Nothing is"
        " kept; send the claims as a list to check them. Where the operator allows it, the text may"
        " be the address of a web page, which is then read.",
        "curl -s ADDRESS/api/v1/texts -H 'Content-Type: application/json' -d '{\"text\":"
        ' "Dundee lies on the Tay. Its bridge fell in 1879. Who built it?"}\'',
        'for sentence in service.sentences("Dundee lies on the Tay. Who knew?"):\n'
        '    print(sentence["kind"], [claim["text"] for claim in sentence["claims"]])',
    ),
    Endpoint(
        "compare",
        "GET /api/v1/compare",
        "Up to 200 checks side by side, by at most five recipes: for each claim the verdicts, and"
        " the rank of each sentence with each recipe. Submit the claim once with each recipe"
        " before.",
        "curl -s 'ADDRESS/api/v1/compare?claims=ID,ID'",
        'print(service.compare(["ID", "ID"])["agreement"])',
    ),
    Endpoint(
        "compare-export",
        "GET /api/v1/compare/export",
        "The same as a file, once all checks have ended; the format is csv, latex, trec (runs in a"
        " zip) or json.",
        "curl -s 'ADDRESS/api/v1/compare/export?claims=ID,ID&format=csv'",
        'print(service.export_comparison(["ID", "ID"], "csv").decode())',
    ),
    Endpoint(
        "recipes",
        "GET /api/v1/recipes",
        "The recipes with their stages: which is the default one, which can run here, and why"
        " others cannot.",
        "curl -s ADDRESS/api/v1/recipes",
        'print([recipe["name"] for recipe in service.recipes() if recipe["can_run"]])',
    ),
    Endpoint(
        "corpora",
        "GET /api/v1/corpora",
        "What claims can be checked against: how many documents, of which date; or why the default"
        " corpus cannot be searched.",
        "curl -s ADDRESS/api/v1/corpora",
        'print([corpus["title"] for corpus in service.corpora()])',
    ),
    Endpoint(
        "make-corpus",
        "POST /api/v1/corpora",
        "Makes a corpus for documents of your own. With “folder”, one of the folders that the"
        " operator allows is indexed instead. Where users log in, only operators may do this and"
        " all else that changes documents; elsewhere the operator may have to allow it.",
        "curl -s ADDRESS/api/v1/corpora -H 'Content-Type: application/json' -d '{\"title\":"
        ' "Norvik papers"}\'',
        'name = service.make_corpus("Ostrea papers")["name"]',
    ),
    Endpoint(
        "upload",
        "POST /api/v1/corpora/NAME/files",
        "Uploads files, each as “files”; a zip is unpacked, and a file replaces one of its name. A"
        " worker indexes them after the answer.",
        "curl -s ADDRESS/api/v1/corpora/NAME/files -F 'files=@-;filename=pier.txt' <<END\n"
        "The pier of Norvik cost 4 million crowns.\nEND",
        'service.upload("NAME", {"pier.txt": b"The pier of Norvik cost 4 million crowns."})',
    ),
    Endpoint(
        "corpus",
        "GET /api/v1/corpora/NAME",
        "A corpus with its files: how far their indexing is, and what could not be read. When its"
        " state is ready, claims that name it are checked against these files.",
        "curl -s ADDRESS/api/v1/corpora/NAME",
        'print(service.corpus("NAME")["state"])',
    ),
    Endpoint(
        "rename-corpus",
        "PATCH /api/v1/corpora/NAME",
        "Gives a corpus another title. Its name stays.",
        "curl -s -X PATCH ADDRESS/api/v1/corpora/NAME -H 'Content-Type: application/json' -d"
        ' \'{"title": "Minutes of Norvik"}\'',
        'service.rename_corpus("NAME", "Minutes of Ostrea")',
    ),
    Endpoint(
        "index-corpus",
        "POST /api/v1/corpora/NAME/index",
        "Lets all files be indexed again, such as those of a folder that has changed.",
        "curl -s -X POST ADDRESS/api/v1/corpora/NAME/index",
        'service.index_corpus("NAME")',
    ),
    Endpoint(
        "remove-file",
        "DELETE /api/v1/corpora/NAME/files/FILE",
        "Removes a file.",
        "curl -s -X DELETE ADDRESS/api/v1/corpora/NAME/files/pier.txt",
        'service.remove_file("NAME", "pier.txt")',
    ),
    Endpoint(
        "remove-corpus",
        "DELETE /api/v1/corpora/NAME",
        "Removes a corpus with its files and its index. Results of claims stay.",
        "curl -s -X DELETE ADDRESS/api/v1/corpora/NAME -w 'removed: %{http_code}'",
        'service.remove_corpus("NAME")',
    ),
    Endpoint(
        "openapi",
        "GET /api/v1/openapi.json",
        "The whole description of the API, as OpenAPI 3.1: every field, every status, the names of"
        " the recipes.",
        "curl -s ADDRESS/api/v1/openapi.json",
        'import json, urllib.request\nwith urllib.request.urlopen("ADDRESS/api/v1/openapi.json")'
        " as answer:\n    description = json.load(answer)",
    ),
)


@blueprint.get("/api")
@describe(HTTP_200=(None, "The page"))
def api() -> str:
    """Show what programs can ask."""
    keep_for = services().settings.keep_for
    return render(
        ApiPage(
            address=request.host_url.rstrip("/"),
            endpoints=ENDPOINTS,
            most_characters=LONGEST,
            most_kib=MOST_BYTES // 1024,
            claims_per_minute=services().settings.claims_per_minute or 0,
            most_rows=services().settings.most_rows or 0,
            keep_days=0 if keep_for is None else keep_for.days,
        )
    )


@blueprint.get("/api/esoteric_client.py")
@describe(HTTP_200=(None, "The file"))
def client() -> Response:
    """Return the client in Python, which needs nothing else."""
    file = CHECKOUT / "examples" / "esoteric_client.py"
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return Response(file.read_bytes(), mimetype="text/x-python", headers=headers)


@blueprint.get("/api/v1/openapi.json")
@describe(HTTP_200=(None, "This document"))
def openapi() -> Response:
    """Return the description of all routes."""
    return jsonify(current_app.extensions["openapi"])
