"""The characters of the font Symbol, which Word numbers in its own way."""

from __future__ import annotations

import re

# Of the font's numbers 0x20 to 0x7E and 0xA0 to 0xFE; a space stands for what has none.
_LOW = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟ"  # noqa: RUF001
    "ΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"  # noqa: RUF001
)
_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…   ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉"  # noqa: RUF001
    "∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑           〉∫⌠ ⌡         "  # noqa: RUF001
)
_SYMBOL = {0x20 + at: c for at, c in enumerate(_LOW)} | {0xA0 + at: c for at, c in enumerate(_HIGH)}
# Stands for a character of another such font, so that the reader knows of it.
UNKNOWN = "\N{WHITE SQUARE}"
_TYPED = re.compile("[\uf020-\uf0ff]")


def symbol(font: str, code: int) -> str:
    """Return a character by its number in a font, as in ``w:sym``."""
    if font.lower() == "symbol":
        return _SYMBOL.get(code & 0xFF, " ")
    if code < 0x20 or 0xD800 <= code < 0xF900:  # a number of the font's own
        return UNKNOWN
    return chr(code)


def typed_symbols(font: str, text: str) -> str:
    """Return a text in which characters of a font of symbols are written as Word numbers them."""
    return _TYPED.sub(lambda found: symbol(font, ord(found[0])), text)
