"""What the tests' own language model speaks is what hosted ones speak."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest

from tests.language_models.local_server import shared_url

pytestmark = pytest.mark.language_model

SCHEMA = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "enum": ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]},
        "sentences": {"type": "array", "items": {"enum": [0, 1, 2]}, "maxItems": 2},
    },
    "required": ["label", "sentences"],
    "additionalProperties": False,
}
MESSAGES = [{"role": "user", "content": "Write a long story about a dragon, as plain text."}]


def chat(**parameters: Any) -> httpx.Response:
    """Ask for a completion, the same one every time."""
    body = {"model": "smollm2", "messages": MESSAGES, "temperature": 0, **parameters}
    return httpx.post(f"{shared_url()}/chat/completions", json=body, timeout=120)


def test_an_answer_has_the_form_that_a_schema_asks_for() -> None:
    form = {"name": "verdict", "schema": SCHEMA, "strict": True}
    answer = chat(
        response_format={"type": "json_schema", "json_schema": form}, max_tokens=200
    ).json()
    assert answer["choices"][0]["finish_reason"] == "stop"
    said = json.loads(answer["choices"][0]["message"]["content"])
    assert set(said) == {"label", "sentences"}
    assert said["label"] in SCHEMA["properties"]["label"]["enum"]  # type: ignore[index]
    assert set(said["sentences"]) <= {0, 1, 2}
    assert len(said["sentences"]) <= 2


def test_an_answer_says_how_many_tokens_it_took() -> None:
    answer = chat(max_tokens=5).json()
    assert answer["choices"][0]["finish_reason"] == "length"
    usage = answer["usage"]
    assert usage["completion_tokens"] == 5
    assert usage["total_tokens"] == usage["prompt_tokens"] + 5


def test_a_prompt_that_is_too_long_is_refused_with_a_reason() -> None:
    answer = chat(messages=[{"role": "user", "content": "word " * 5000}], max_tokens=5)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "exceed_context_size_error"


def test_a_client_that_leaves_stops_its_answer() -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{shared_url()}/chat/completions",
            json={"messages": MESSAGES, "max_tokens": 1500, "ignore_eos": True},
            timeout=httpx.Timeout(5, read=0.3),
        )
    # Each question about the slots puts off the moment at which the server looks who is left.
    time.sleep(3)
    slots = httpx.get(f"{shared_url().removesuffix('/v1')}/slots", timeout=30).json()
    assert not any(slot["is_processing"] for slot in slots)
