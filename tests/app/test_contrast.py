"""The colours of ``static/style.css`` against WCAG 2.2, success criteria 1.4.3 and 1.4.11."""

from __future__ import annotations

import re

import pytest

from settings import CHECKOUT

STYLE = (CHECKOUT / "static" / "style.css").read_text(encoding="utf-8")
TEXT, SHAPE = 4.5, 3.0
VERDICTS = ("supported", "refuted", "unsettled")
PAIRS = [
    *((ink, paper, TEXT) for ink in ("ink", "soft", "link") for paper in ("paper", "raised")),
    ("on-action", "action", TEXT),
    ("refuted", "paper", TEXT),  # the counter when there are too many characters
    *((look, f"{look}-tint", TEXT) for look in (*VERDICTS, "pending", "stopped")),
    *(("ink", f"{look}-tint", TEXT) for look in (*VERDICTS, "pending")),
    *(("paper", look, SHAPE) for look in VERDICTS),  # the sign cut out of an icon
    *((look, "paper", SHAPE) for look in VERDICTS),  # the lines under marked sentences
    ("unsettled", "raised", SHAPE),
    ("edge", "paper", SHAPE),
    ("edge", "raised", SHAPE),
    ("action", "raised", SHAPE),
    *(("focus", paper, SHAPE) for paper in ("paper", "raised", *(f"{v}-tint" for v in VERDICTS))),
]


def colours(scheme: str) -> dict[str, str]:
    """Return the custom properties that are colours; dark mode overrides light mode."""
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
    found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", light))
    if scheme == "dark":
        found |= dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", dark))
    return found


def luminance(colour: str) -> float:
    """Return the relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio as WCAG 2.2 defines it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_ratio_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("front", "back", "least"), PAIRS)
def test_colours_next_to_each_other_have_enough_contrast(
    front: str, back: str, least: float, scheme: str
) -> None:
    found = colours(scheme)
    assert contrast(found[front], found[back]) >= least


def test_dark_redefines_every_colour() -> None:
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
    pattern = r"--([a-z-]+): #"
    assert re.findall(pattern, light) == re.findall(pattern, dark)


def test_no_colour_is_outside_the_table() -> None:
    rest = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", rest) == []
