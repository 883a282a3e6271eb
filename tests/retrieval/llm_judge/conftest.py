from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.retrieval.llm_judge.chat_server import ChatServer, chat_server


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server
