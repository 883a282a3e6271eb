"""Cases of tests as data: ``tests/cases/SUBJECT.jsonl`` has one a line.

A case has ``why``, the sentence that it shows, and a value for each argument of its test.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

_FOLDER = Path(__file__).resolve().parents[1] / "cases"


def cases(subject: str, *arguments: str) -> pytest.MarkDecorator:
    """Parametrize a test with all cases of a subject that have these arguments, and no others."""
    found = [pytest.param(*given, id=why) for why, given, _ in rows(subject, arguments)]
    return pytest.mark.parametrize(arguments, found)


def whole_cases(subject: str, *arguments: str) -> pytest.MarkDecorator:
    """The same for a test with many arguments: it gets them as attributes of ``case``."""
    found = [
        pytest.param(SimpleNamespace(**dict(zip(arguments, given, strict=True))), id=why)
        for why, given, _ in rows(subject, arguments)
    ]
    return pytest.mark.parametrize("case", found)


def rows(
    subject: str, arguments: Sequence[str], expected: str = ""
) -> Iterator[tuple[str, list[Any], Any]]:
    """Yield the same cases: why, the values of the arguments, and what is expected.

    ``expected``: the key of that, or several, which make a list; True without any.
    """
    keys = expected.split()
    lines = (_FOLDER / f"{subject}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [case for case in map(json.loads, lines) if case.keys() == {"why", *arguments, *keys}]
    assert found, f"{subject} has no case with {arguments} and {keys}"
    for case in found:
        values = [case[key] for key in keys]
        said = values if len(keys) > 1 else values[0] if keys else True
        yield case["why"], [case[name] for name in arguments], said


def rules(*table: tuple[str, str, str, Callable[..., object]]) -> pytest.MarkDecorator:
    """Parametrize a test with the cases of several subjects, each with what computes its result.

    A rule of the table: subject, arguments, what is expected (see ``rows``), and the function.
    The test gets ``rule``, ``given`` and ``expected``.
    """
    found = [
        pytest.param(rule, given, said, id=f"{subject}: {why}")
        for subject, arguments, expected, rule in table
        for why, given, said in rows(subject, arguments.split(), expected)
    ]
    return pytest.mark.parametrize(("rule", "given", "expected"), found)
