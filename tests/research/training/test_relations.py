"""Pairs that are made from templates: the values are what the labels of a kind rely on."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from research.evaluation.claims import read_json_lines
from research.training.verifier import relations
from research.training.verifier.relations import TEMPLATES, drawn, load_relations
from retrieval.errors import BadSource


def _int(value: str | int) -> int:
    return int(re.sub(r"[^\d]", "", str(value)))


def _century(year: int) -> str:
    return f"{(year + 99) // 100}th"


KINDS: dict[str, Callable[[dict[str, int], dict[str, str]], bool]] = {
    "term": lambda n, _: n["a"] < n["in"] < n["b"] and not n["a"] <= n["out"] <= n["b"],
    "year": lambda n, s: (
        s["c"] == _century(n["y"]) == _century(n["y2"]) != _century(n["y3"])
        and s["d"] == f"{n['y'] // 10}0s" == f"{n['y2'] // 10}0s" != s["d2"]
        and (s["half"] == "first half") == (n["y"] % 100 <= 50) == (s["half2"] == "second half")
        and n["y"] != n["y2"]
        and s["c"] != s["c2"]
    ),
    "era": lambda n, _: n["n"] != n["n2"],
    "share-most": lambda n, _: n["n"] * 2 > n["m"] and abs(n["p"] - 100 * n["n"] / n["m"]) <= 0.5,
    "share-few": lambda n, _: n["n"] * 2 < n["m"] and n["n"] + n["rest"] == n["m"],
    "majority": lambda n, _: (
        n["m"] < 2 * n["n"] < 1.2 * n["m"]
        and n["n"] + n["rest"] == n["m"]
        and n["p2"] < n["rp"] < n["p"] == 100 - n["rp"]
    ),
    "fraction": lambda n, s: abs(n["p"] - n["p2"]) > 10 and s["f"] != s["f2"],
    "number": lambda n, _: n["n"] >= 300 and not 0.7 < n["n2"] / n["n"] < 1.5,
    "scale": lambda n, s: (
        n["full"] == 1_000 * n["v"] == round(1e6 * float(s["short"].split()[0]))
        and s["wrong"] != s["short"]
    ),
    "rate": lambda n, _: n["count"] * n["base"] == n["r"] * n["pop"] and n["r"] != n["r2"],
    "sum": lambda n, _: (
        n["a"] + n["b"] == n["total"] != n["wrong"] != n["a"] and n["a"] - n["b"] == n["diff"] > 0
    ),
    "age": lambda n, _: n["born"] + n["age"] == n["then"] != n["wrong"],
    "later": lambda n, _: (
        n["y"] < n["then"] <= n["y"] + 11 and n["wrong"] not in (n["y"], n["then"])
    ),
    "fall": lambda n, _: n["from"] - n["to"] == n["by"] and abs(n["pct"] - n["pct2"]) > 10,
    "rise": lambda n, _: n["to"] - n["from"] == n["by"] != n["by2"],
    "respective": lambda n, _: len({n["a"], n["b"], n["c"]}) == 3,
    "rows": lambda n, _: n["a"] > n["b"] > n["c"],
    "except": lambda _, s: s["day"] != s["day2"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_values_of_a_kind_make_its_labels_right(kind: str) -> None:
    for seed in range(300):
        values = {name: str(value) for name, value in drawn(kind, random.Random(seed)).items()}
        numbers = {name: _int(value) for name, value in values.items() if re.search(r"\d", value)}
        assert KINDS[kind](numbers, values), values


@pytest.mark.parametrize(
    ("kind", "convert"),
    [
        ("unit-length", {"metres": lambda x: x * 3.281, "feet": lambda x: x / 3.281}),
        ("unit-distance", {"kilometres": lambda x: x / 1.609, "miles": lambda x: x * 1.609}),
        ("unit-weight", {"kilograms": lambda x: x / 0.4536, "pounds": lambda x: x * 0.4536}),
        ("unit-heat", {"°C": lambda x: x * 9 / 5 + 32, "°F": lambda x: (x - 32) * 5 / 9}),
        ("unit-area", {"hectares": lambda x: x / 0.4047, "acres": lambda x: x * 0.4047}),
    ],
)
def test_a_value_in_another_unit_is_the_same_but_for_rounding(
    kind: str, convert: dict[str, Callable[[float], float]]
) -> None:
    for seed in range(100):
        values = drawn(kind, random.Random(seed))
        number, unit = str(values["x"]).split()
        expected = convert[unit](_int(number))
        assert abs(_int(values["x_eq"]) - expected) <= 1 + expected / 20
        assert abs(_int(values["x_off"]) - expected) > (12 if kind == "unit-heat" else expected / 4)


def test_a_template_is_read_below_its_heading_and_with_its_second_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relations, "TEMPLATES", tmp_path / "templates.jsonl")
    line = {
        "kind": "places",
        "heading": "Lamps, Rejected",
        "text": "A lamp for the pier.",
        "then": ["Pier", "It is dark."],
        "claims": [["The pier gets a lamp.", "REFUTES"]],
    }
    (tmp_path / "templates.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    evidence = {example.evidence for example in load_relations().examples}
    assert evidence == {"Lamps, Rejected : A lamp for the pier. [SEP] Pier : It is dark."}


def test_every_template_is_filled_and_those_held_out_are_not_trained_on() -> None:
    pairs = load_relations()
    texts = [example.claim + example.evidence for example in pairs.examples]
    assert not any("{" in text for text in texts)
    templates = {record["text"] for _, record in read_json_lines(TEMPLATES, ("kind", "text"))}
    assert len(templates) > 500
    held_out = {pair.evidence for pair in pairs.held_out}
    assert 40 < len(held_out) < len(templates) / 5
    assert held_out.isdisjoint(example.evidence for example in pairs.examples)
    assert load_relations().examples == pairs.examples


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"kind": "colour", "text": "It is red.", "claims": []}', "an unknown kind"),
        ('{"kind": "order", "text": "It is red."}', "no pairs of a claim and a label"),
        ('{"kind": "order", "text": "Red.", "claims": ["Blue."]}', "no pairs of a claim"),
        ('{"kind": "order", "text": "Red.", "claims": [["Blue.", "FALSE"]]}', "an unknown label"),
        ('{"kind": "order", "text": "{a}.", "claims": []}', "a place in braces"),
        ('{"kind": "order", "text": "Red.", "then": ["A"], "claims": []}', "no heading and text"),
        (
            '{"kind": "order", "heading": 5, "text": "Red.", "claims": []}',
            "no text under 'heading'",
        ),
        ('{"kind": "order", "heading": "{a}", "text": "Red.", "claims": []}', "a place in braces"),
    ],
)
def test_what_is_no_template_is_refused(
    line: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "templates.jsonl"
    monkeypatch.setattr(relations, "TEMPLATES", path)
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(BadSource, match=f"line 1: {why}"):
        load_relations()
