"""The log of the web server as JSON: which request, whose, about what."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from tests.app.web_process import WebProcess
from worker.user_store import UserStore


@pytest.mark.server
def test_a_line_has_the_request_its_user_and_its_claim_but_no_text(tmp_path: Path) -> None:
    web = WebProcess(tmp_path, ESOTERIC_LOG="json", ESOTERIC_ACCESS="tokens")
    try:
        token = UserStore(web.store.database).add("ida", "checker")
        request = urllib.request.Request(
            f"{web.address}/api/v1/claims",
            json.dumps({"claim": "Varnby has a harbour."}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            claim, request_id = json.load(answer)["id"], answer.headers["X-Request-Id"]
        cancel = urllib.request.Request(
            f"{web.address}/api/v1/claims/{claim}",
            headers={"Authorization": f"Bearer {token}"},
            method="DELETE",
        )
        urllib.request.urlopen(cancel, timeout=10).close()
        assert web.get("/claims/none")[0] in (303, 401)
    finally:
        web.close()
    log = (tmp_path / "web.log").read_text()
    events = [json.loads(line) for line in log.splitlines()]
    submitted, cancelled, *_ = [one for one in events if one["logger"] == "audit"]
    assert submitted["request"] == request_id != cancelled["request"]
    assert (submitted["did"], submitted["claim"]) == ("api.submit", claim)
    assert (cancelled["did"], cancelled["claim"]) == ("api.cancel", claim)
    assert submitted["user"] == cancelled["user"] == "ida"
    assert "user" not in events[0]
    assert "harbour" not in log
