"""What ``docs/data-model.md`` tells of the claim document, held against the code."""

from __future__ import annotations

import re
from typing import get_args

from retrieval.types import FoundBy
from settings import CHECKOUT


def test_every_way_to_a_document_is_described_and_no_other() -> None:
    text = (CHECKOUT / "docs" / "data-model.md").read_text(encoding="utf-8")
    described = re.search(r"`found_by` some of these: (.*?)\.", text, re.DOTALL)
    assert described is not None
    assert tuple(re.findall(r"`(\w+)`", described[1])) == get_args(FoundBy)
