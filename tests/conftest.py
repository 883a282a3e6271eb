from __future__ import annotations

import pytest

from retrieval.language.english import EnglishParser


@pytest.fixture(scope="session")
def parser() -> EnglishParser:
    """The real parser, loaded once for all tests."""
    parser = EnglishParser()
    parser.warm_up()
    return parser
