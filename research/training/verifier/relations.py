"""Claims that follow from a text by a step of arithmetic or simple logic, made from templates.

A template of ``research/datasets/relations/templates.jsonl`` is a text and claims about it, written
by hand, with places for names and numbers: ``{"kind", "text", "claims": [[claim, label], …]}``.
The numbers of a kind are drawn so that the labels are right: in the kind ``term``, ``{in}`` is a
year between ``{a}`` and ``{b}``. With ``"heading"`` the text stands below that title or heading,
else below one of ``_TITLES``. ``"then"``: heading and text of a second place that is read with it.
About every eighth template is held out.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from research.evaluation.claims import Pair, bad_line, read_json_lines
from research.training.data import PairData
from research.training.loop import labelled
from retrieval.system.files import digest_of
from retrieval.text.context import evidence_set_text
from retrieval.types import LABELS, Label

TEMPLATES = Path(__file__).resolve().parents[2] / "datasets" / "relations" / "templates.jsonl"
_HELD_OUT = 8  # every eighth
_TEXTS = 5  # that are made of a template
_PLACE = re.compile(r"\{(\w+)\}")
_NAMES: Mapping[str, list[str]] = {
    part: names.split()
    for part, names in {
        "first": "Ada Bram Chiara Dov Elif Femi Greta Hamid Ines Jarek Kaja Luan Mirel Nadia Oskar"
        " Petra Ravi Signe Tomas Ursel",
        "last": "Abreu Brandt Castellan Dahl Eriksen Fontaine Gruber Haldane Ivanov Jansma Koval"
        " Lindqvist Moreau Nwosu Okafor Pereira Quist Rahmani Sato Tanner Ulrich Varga Weiss Zeman",
        "start": "Ash Bel Cor Dun Elm Fal Gar Hol Ister Kar Lan Mar Nor Os Pel Rav Sel Tor Ul Vel"
        " Wex Zar",
        "end": "bridge bury dale field ford gate ham haven holm ley mere mouth nau port sand stad"
        " ton vik",
        "trade": "Mills Freight Foods Glass Textiles Energy Timber Shipping Paper Motors Tools",
    }.items()
}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Files of people have any title, and a sentence is read with it.
_TITLES = ("{place}", "notes", "Minutes", "{place}, report", "press-text", "overview", "Facts")
_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_NUMBERS = dict(enumerate(_WORDS, start=2))
_SHARES = {
    "a tenth": 0.1, "a fifth": 0.2, "a quarter": 0.25, "a third": 1 / 3, "two fifths": 0.4,
    "half": 0.5, "three fifths": 0.6, "two thirds": 2 / 3, "three quarters": 0.75,
    "four fifths": 0.8, "nine tenths": 0.9,
}  # fmt: skip
_APART = 0.12  # shares that differ by more than this are different however they are rounded

Values: TypeAlias = Mapping[str, str | int]


class _Template(NamedTuple):
    kind: str
    heading: str  # "" for a drawn title
    text: str
    then: tuple[str, ...]  # a heading and a text, or nothing
    claims: list[tuple[str, Label]]
    held_out: bool


def load_relations() -> PairData:
    """Read the templates and fill them, always in the same way.

    Raises:
        BadSource: the file is missing, or a line is no such template.
    """
    templates = list(_templates(TEMPLATES))
    examples = [
        labelled(pair.claim, pair.evidence, pair.label)
        for template in templates
        for pair in _pairs(template, _TEXTS)
        if not template.held_out
    ]
    held_out = [pair for t in templates for pair in _pairs(t, 1) if t.held_out]
    others = sum(t.held_out for t in templates)
    name = f"research/datasets/relations/{TEMPLATES.name}"
    return PairData(
        examples,
        held_out,
        {name: digest_of(TEMPLATES)},
        f"{len(examples)} pairs, many about arithmetic or simple logic, of"
        f" {len(templates) - others} templates of `{name}`; the {len(held_out)} pairs held out are"
        f" of {others} other templates",
    )


def _templates(path: Path) -> Iterator[_Template]:
    for number, record in read_json_lines(path, ("kind", "text")):
        kind, text, where = record["kind"], record["text"], f"{path}, line {number}"
        if kind not in _DRAWN:
            raise bad_line(where, "an unknown kind")
        heading = record.get("heading", "")
        if not isinstance(heading, str):
            raise bad_line(where, "no text under 'heading'")
        known = drawn(kind, random.Random()).keys()
        try:
            claims = [(str(claim), label) for claim, label in record["claims"]]
        except (KeyError, TypeError, ValueError) as error:
            raise bad_line(where, "no pairs of a claim and a label under 'claims'") from error
        if any(label not in LABELS for _, label in claims):
            raise bad_line(where, "an unknown label")
        match record.get("then", ()):
            case [] | [str(), str()]:
                then = tuple(record.get("then", ()))
            case _:
                raise bad_line(where, "no heading and text under 'then'")
        texts = [heading, text, *then, *(claim for claim, _ in claims)]
        if not known >= set(_PLACE.findall(" ".join(texts))):
            raise bad_line(where, "a place in braces that its kind does not have")
        held_out = zlib.crc32(text.encode()) % _HELD_OUT == 0
        yield _Template(kind, heading, text, then, claims, held_out)


def _pairs(template: _Template, texts: int) -> Iterator[Pair]:
    """Yield the claims of a template with its text, for so many draws of its values.

    The draws depend on the template alone.
    """
    chance = random.Random(template.text)
    for _ in range(texts):
        values = drawn(template.kind, chance)
        heading = template.heading or chance.choice(_TITLES)
        read = [_filled(text, values) for text in (heading, template.text, *template.then)]
        evidence = evidence_set_text(list(zip(read[::2], read[1::2], strict=True)))
        for claim, label in template.claims:
            typed = claim.islower() and not claim.endswith(".")  # as in a search box
            filled = _filled(claim, values)
            filled = filled.lower() if typed else filled[:1].upper() + filled[1:]
            yield Pair(filled, evidence, label, None, "relations", template.kind)


def drawn(kind: str, chance: random.Random) -> Values:
    """Return names, and the values of a kind."""
    return {**_names(chance), **_DRAWN[kind](chance)}


def _filled(text: str, values: Values) -> str:
    return _PLACE.sub(lambda found: str(values[found[1]]), text)


def _names(chance: random.Random) -> dict[str, str | int]:
    first, last, start, end, trade = (chance.sample(names, 5) for names in _NAMES.values())
    named = {
        "person": [f"{one} {other}" for one, other in zip(first[:3], last, strict=False)],
        "place": [one + other for one, other in zip(start[:3], end, strict=False)],
        "firm": [f"{one} {other}" for one, other in zip(last[3:], trade, strict=False)],
    }
    return {
        f"{kind}{number if number > 1 else ''}": name
        for kind, names in named.items()
        for number, name in enumerate(names, start=1)
    }


def _term(chance: random.Random) -> Values:
    begin, length = chance.randint(1805, 2004), chance.randint(4, 18)
    end = begin + length
    outside = begin - chance.randint(3, 25)
    if end < 2000 and chance.random() < 0.5:
        outside = end + chance.randint(3, 25)
    inside = chance.randint(begin + 1, end - 1)
    return {"a": begin, "b": end, "in": inside, "out": outside, "length": length}


def _year(chance: random.Random) -> Values:
    """Draw a year clearly within its century and its half, since those of 1900 are disputed."""
    hundreds = chance.randint(15, 19)
    first = chance.random() < 0.5
    decade = hundreds * 100 + 10 * (chance.randint(1, 3) if first else chance.randint(6, 9))
    year, other = chance.sample(range(decade + 1, decade + 10), 2)
    others = [each for each in range(14, 20) if each != hundreds]
    away = chance.choice([each for each in range(1, 10) if abs(each * 10 - decade % 100) > 10])
    far = chance.choice(others)
    halves = ("first half", "second half") if first else ("second half", "first half")
    return {
        "y": year, "y2": other, "y3": far * 100 + chance.randint(11, 89),
        "c": f"{hundreds + 1}th", "c2": f"{far + 1}th",
        "d": f"{decade}s", "d2": f"{hundreds * 100 + away * 10}s",
        "half": halves[0], "half2": halves[1],
    }  # fmt: skip


def _era(chance: random.Random) -> Values:
    year = chance.randint(21, 790)
    return {"n": year, "n2": year + chance.choice((-1, 1)) * chance.randint(10, 20)}


def _share(chance: random.Random, shares: Sequence[str]) -> Values:
    """Draw a part of a whole that is one of these shares, rounded."""
    whole = chance.choice((chance.randint(60, 99), chance.randint(100, 999)))
    whole = chance.choice((whole, whole * 10))
    name = chance.choice(shares)
    part = round(whole * _SHARES[name])
    others = [each for each in _SHARES if abs(_SHARES[each] - part / whole) > _APART]
    wrong, percent = chance.choice(others), round(100 * part / whole)
    return {
        "n": _figure(part), "m": _figure(whole), "rest": _figure(whole - part),
        "p": percent, "rp": 100 - percent, "f": name,
        "f2": wrong, "p2": round(100 * _SHARES[chance.choice(others)]),
    }  # fmt: skip


def _majority(chance: random.Random) -> Values:
    """Draw a part that is a little more than half of a whole."""
    whole = chance.choice((chance.randint(60, 990), chance.randint(11, 99) * 100))
    part = round(whole * chance.randint(515, 585) / 1000)
    return {
        "n": _figure(part), "m": _figure(whole), "rest": _figure(whole - part),
        "p": round(100 * part / whole), "rp": 100 - round(100 * part / whole),
        "p2": chance.randint(20, 35),
    }  # fmt: skip


def _fraction(chance: random.Random) -> Values:
    name = chance.choice(list(_SHARES))
    wrong = chance.choice([o for o in _SHARES if abs(_SHARES[o] - _SHARES[name]) > _APART])
    percents = {"p": round(100 * _SHARES[name]), "p2": round(100 * _SHARES[wrong])}
    return {"f": name, "f2": wrong, **percents}


def _number(chance: random.Random) -> Values:
    written = {
        "half a million": 500_000, "a quarter of a million": 250_000,
        "one and a half million": 1_500_000, "three quarters of a million": 750_000,
    }  # fmt: skip
    tenths, tens = chance.randint(12, 95), chance.randint(13, 95) * 10
    small = chance.randint(3, 11)
    written |= {
        f"{tenths / 10:g} million": tenths * 100_000, f"{tenths / 10:g}m": tenths * 100_000,
        f"{tenths / 10:g} billion": tenths * 100_000_000, f"{tens}k": tens * 1_000,
        f"{tens} thousand": tens * 1_000, f"{_NUMBERS[small]} thousand": small * 1_000,
        f"{_NUMBERS[small]} million": small * 1_000_000,
        f"{_NUMBERS[small]} hundred": small * 100,
    }  # fmt: skip
    name = chance.choice(list(written))
    number = written[name]
    other = chance.choice([o for o, n in written.items() if not number / 2 < n < number * 2])
    wrong = chance.choice((number * 10, number // 10, number * 3, written[other]))
    return {"w": name, "n": _figure(number), "n2": _figure(wrong), "w2": other}


def _scale(chance: random.Random) -> Values:
    thousands = chance.randint(105, 985) * chance.choice((10, 100))
    wrong = chance.choice((f"{thousands / 100:g} million", f"{thousands / 1000:g} billion"))
    return {
        "v": _figure(thousands), "full": f"{thousands * 1_000:,}",
        "short": f"{thousands / 1_000:g} million", "wrong": wrong,
    }  # fmt: skip


def _unit(one: str, other: str, by: float, values: Sequence[int], plus: int = 0) -> _Draw:
    """Return what draws a value in one of two units: a value times ``by`` is that in the other.

    ``plus``: what is added then, for temperatures. A wrong temperature differs by some degrees,
    another wrong value by a factor.
    """

    def draw(chance: random.Random) -> Values:
        value = chance.choice(values)
        converted = round(value * by + plus)
        converted = converted if converted < 200 else round(converted, -1)
        here, there = (value, one), (converted, other)
        if chance.random() < 0.5:
            here, there = there, here
        off = round(there[0] * chance.choice((0.55, 1.6, 2.1)))
        off = there[0] + chance.choice((15, 25, 40)) if plus else off
        return {
            "x": _with_unit(*here), "x_eq": _with_unit(*there),
            "x_wrong": _with_unit(here[0], there[1]), "x_off": _with_unit(off, there[1]),
        }  # fmt: skip

    return draw


def _with_unit(value: int, unit: str) -> str:
    return f"{_figure(value)} {unit}"


def _rate(chance: random.Random) -> Values:
    base = chance.choice((1_000, 10_000, 100_000))
    times = chance.choice((0.5, 2, 3, 4, 6, 8))
    rate = chance.randint(3, 60) * 2
    wrong = chance.choice((rate * 3, rate // 2 + 1 if rate > 8 else rate + 9))
    return {
        "r": rate, "r2": wrong, "base": f"{base:,}", "pop": _figure(round(base * times)),
        "count": _figure(round(rate * times)),
    }  # fmt: skip


def _sum(chance: random.Random) -> Values:
    scale = chance.choice((1, 1, 10, 100))
    large, small = chance.randint(14, 60) * scale, chance.randint(3, 11) * scale
    total = large + small
    wrong = total + chance.choice((-1, 1)) * max(2, round(total * chance.choice((0.1, 0.2))))
    wrong = wrong if wrong != large else total + small
    parts = {"a": large, "b": small, "total": total, "wrong": wrong, "diff": large - small}
    return {name: _figure(value) for name, value in parts.items()}


def _age(chance: random.Random) -> Values:
    born, age = chance.randint(1790, 1940), chance.randint(18, 84)
    wrong = born + age + chance.choice((-1, 1)) * chance.randint(4, 17)
    return {"born": born, "age": age, "then": born + age, "wrong": wrong}


def _later(chance: random.Random) -> Values:
    year, gap = chance.randint(1805, 2010), chance.randint(2, 11)
    wrong = year + gap + chance.choice((-1, 1)) * chance.randint(2, 14)
    wrong = wrong if wrong != year else wrong + gap + 3
    return {"y": year, "gap": f"{_NUMBERS[gap]} years", "then": year + gap, "wrong": wrong}


def _change(chance: random.Random, falls: bool) -> Values:
    percent = chance.randint(8, 70)
    begin = chance.randint(110, 990) * chance.choice((1, 10))
    by = round(begin * percent / 100)
    end = begin - by if falls else begin + by
    far = percent + 15 if percent < 40 else percent - 15
    return {
        "from": _figure(begin), "to": _figure(end), "by": _figure(by),
        "by2": _figure(round(begin * far / 100)), "pct": round(100 * by / begin), "pct2": far,
    }  # fmt: skip


def _three(chance: random.Random) -> Values:
    scale = chance.choice((1, 10, 100))
    return dict(zip("abc", map(_figure, _apart(chance, scale)), strict=True))


def _falling(chance: random.Random) -> Values:
    scale = chance.choice((1, 10, 100))
    largest = sorted(_apart(chance, scale), reverse=True)
    return dict(zip("abc", map(_figure, largest), strict=True))


def _apart(chance: random.Random, scale: int) -> list[int]:
    return [each * scale + chance.randrange(scale) for each in chance.sample(range(12, 98, 4), 3)]


def _days(chance: random.Random) -> Values:
    day, other = chance.sample(_DAYS, 2)
    return {"day": day, "day2": other}


def _figure(value: int) -> str:
    return f"{value:,}"


_Draw: TypeAlias = Callable[[random.Random], Values]
_LESS = [name for name, share in _SHARES.items() if share < 0.5]
_MORE = [name for name, share in _SHARES.items() if share > 0.5]
_DRAWN: Mapping[str, _Draw] = {
    "term": _term,
    "year": _year,
    "era": _era,
    "share-most": lambda chance: _share(chance, _MORE),
    "share-few": lambda chance: _share(chance, _LESS),
    "majority": _majority,
    "fraction": _fraction,
    "number": _number,
    "scale": _scale,
    "unit-length": _unit("metres", "feet", 3.281, (6, 9, 12, 20, 30, 45, 60, 90, 150)),
    "unit-distance": _unit("kilometres", "miles", 0.6214, (8, 16, 25, 40, 80, 120, 160, 320)),
    "unit-weight": _unit("kilograms", "pounds", 2.2046, (5, 9, 20, 35, 50, 70, 90, 120)),
    "unit-heat": _unit("°C", "°F", 1.8, (5, 10, 15, 20, 25, 30, 35, 40, 55, 80), plus=32),
    "unit-area": _unit("hectares", "acres", 2.471, (4, 12, 20, 40, 60, 85, 200, 500)),
    "rate": _rate,
    "sum": _sum,
    "age": _age,
    "later": _later,
    "fall": lambda chance: _change(chance, falls=True),
    "rise": lambda chance: _change(chance, falls=False),
    "order": lambda _: {},
    "inverse": lambda _: {},
    "respective": _three,
    "except": _days,
    "heading": _three,
    "status": _three,
    "said": _three,
    "places": _three,
    "row": _three,
    "rows": _falling,
}
