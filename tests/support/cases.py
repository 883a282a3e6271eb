"""Cases of tests as data: ``tests/cases/SUBJECT.jsonl`` has one a line.

A case has ``why``, the sentence that it shows, and a value for each argument of its test.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parents[1] / "cases"


def cases(subject: str, *arguments: str) -> pytest.MarkDecorator:
    """Parametrize a test with all cases of a subject that have these arguments, and no others."""
    lines = (_FOLDER / f"{subject}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [
        pytest.param(*(case[name] for name in arguments), id=case["why"])
        for case in map(json.loads, lines)
        if case.keys() == {"why", *arguments}
    ]
    assert found, f"{subject} has no case with {arguments}"
    return pytest.mark.parametrize(arguments, found)
