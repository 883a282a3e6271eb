"""Units of measurement in English texts, and what they are in base units (by pint).

Only unit words that mean one thing are converted. "Ton", "gallon", "pound" and the like mean
different things in different places, so each is a dimension of its own, and so is each currency.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import pint

_METRIC = {
    "kilometre": "kilo", "kilometer": "kilo", "centimetre": "centi", "centimeter": "centi",
    "millimetre": "milli", "millimeter": "milli", "metre": "", "meter": "",
}  # fmt: skip
_PLAIN = {
    **{name: f"{prefix}meter" for name, prefix in _METRIC.items()},
    "km": "kilometer", "cm": "centimeter", "mm": "millimeter", "m": "meter",
    "mile": "mile", "mi": "mile", "feet": "foot", "foot": "foot", "ft": "foot", "inch": "inch",
    "inche": "inch", "yard": "yard", "nautical mile": "nautical_mile", "light-year": "light_year",
    "light year": "light_year", "astronomical unit": "astronomical_unit",
    "AU": "astronomical_unit", "hectare": "hectare", "ha": "hectare", "acre": "acre",
    "litre": "liter", "liter": "liter", "millilitre": "milliliter", "milliliter": "milliliter",
    "kilogram": "kilogram", "kilogramme": "kilogram", "kilo": "kilogram", "kg": "kilogram",
    "gram": "gram", "gramme": "gram", "g": "gram", "tonne": "metric_ton", "t": "metric_ton",
    "metric tonne": "metric_ton", "metric ton": "metric_ton", "long ton": "long_ton",
    "lb": "pound", "lbs": "pound", "ounce": "ounce",
    "second": "second", "minute": "minute", "hour": "hour", "day": "day", "week": "week",
    "month": "month", "year": "year", "decade": "decayear",
    "century": "century", "centurie": "century", "mph": "mile / hour",
    "km/h": "kilometer / hour", "kph": "kilometer / hour", "m/s": "meter / second",
    "km/s": "kilometer / second", "knot": "knot",
    "kilowatt": "kilowatt", "megawatt": "megawatt", "gigawatt": "gigawatt", "kW": "kilowatt",
    "MW": "megawatt", "GW": "gigawatt",
}  # fmt: skip
_SQUARES = {
    f"{square} {name}": f"{unit} ** 2"
    for name, unit in (*((name, f"{prefix}meter") for name, prefix in _METRIC.items()),
                       ("mile", "mile"), ("feet", "foot"), ("foot", "foot"), ("yard", "yard"),
                       ("km", "kilometer"), ("mi", "mile"), ("ft", "foot"), ("m", "meter"))
    for square in ("square", "sq", "sq.")
}  # fmt: skip
_POWERS = {
    f"{name}{power}": f"{unit} ** {exponent}"
    for name, unit in (("km", "kilometer"), ("m", "meter"), ("cm", "centimeter"))
    for power, exponent in (("2", 2), ("²", 2), ("3", 3), ("³", 3))
}
_CUBES = {
    f"cubic {name}": f"({unit}) ** 3"
    for name, unit in (*((name, f"{prefix}meter") for name, prefix in _METRIC.items()),
                       ("feet", "foot"), ("foot", "foot"))
}  # fmt: skip
_SPEEDS = {
    f"{length} {per} {time}": f"{unit} / {time}"
    for length, unit in (*((name, f"{prefix}meter") for name, prefix in _METRIC.items()),
                         ("kilometres", "kilometer"), ("kilometers", "kilometer"),
                         ("metres", "meter"), ("meters", "meter"), ("km", "kilometer"),
                         ("mile", "mile"), ("miles", "mile"))
    for time, pers in (("hour", ("per", "an", "in an", "every")),
                       ("second", ("per", "a", "in a", "every")))
    for per in pers
}  # fmt: skip
_TEMPERATURES = {
    f"{degree}{name}": unit
    for degree in ("degrees ", "degree ", "°", "° ")
    for name, unit in (("celsius", "degC"), ("fahrenheit", "degF"), ("C", "degC"), ("F", "degF"))
}
_UNITS = {**_PLAIN, **_SQUARES, **_POWERS, **_CUBES, **_SPEEDS, **_TEMPERATURES}
PERCENT = "percent"
_OWN = {
    "%": PERCENT, "per cent": PERCENT, "percent": PERCENT,
    "percentage point": "percentage points", "ton": "ton", "gallon": "gallon", "pint": "pint",
    "stone": "stone", "pound": "pound",
    "US dollar": "US dollar", "Canadian dollar": "Canadian dollar",
    "Australian dollar": "Australian dollar", "dollar": "dollar", "euro": "euro",
    "cent": "cent", "penny": "penny", "pence": "penny", "franc": "franc", "yen": "yen",
    "rupee": "rupee", "crown": "crown", "kronor": "krona", "kroner": "krone", "rouble": "rouble",
    "ruble": "rouble", "yuan": "yuan", "peso": "peso",
}  # fmt: skip
_SYMBOLS = {
    "$": "dollar", "US$": "US dollar", "C$": "Canadian dollar", "A$": "Australian dollar",
    "€": "euro", "£": "pound sterling", "¥": "yen",
}  # fmt: skip
# An abbreviation in this case only, and never with an "s": "6 has" is no area.
_CASED = {"m", "g", "t", "kW", "MW", "GW", "mi", "ha", "AU"}
_NAMES = sorted((*_UNITS, *_OWN), key=len, reverse=True)
_AFTER = re.compile(
    r"[ \u00a0-]?(?P<name>" + "|".join(map(re.escape, _NAMES)) + r")s?(?![\w²³/])", re.IGNORECASE
)
_CURRENCY = re.compile(r"(?:US\$|C\$|A\$|[$€£¥]) ?$")
_DIMENSIONS = {
    "[length]": "length", "[length] ** 2": "area", "[length] ** 3": "volume", "[mass]": "mass",
    "[time]": "time", "[length] / [time]": "speed", "[temperature]": "temperature",
    "[mass] * [length] ** 2 / [time] ** 3": "power",
}  # fmt: skip
TEMPERATURE = "temperature"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: a value in it is ``factor`` times the value, plus ``shift``, in base units.

    ``dimension``: "length", "time" and so on; units of one dimension are converted. ``name``: as
    people read it.
    """

    name: str
    dimension: str
    factor: float = 1.0
    shift: float = 0.0

    def in_base(self, value: float) -> float:
        """Return a value of this unit in base units (SI; degrees Celsius)."""
        return value * self.factor + self.shift

    def from_base(self, value: float) -> float:
        """Return a value in base units in this unit."""
        return (value - self.shift) / self.factor


def load_units() -> None:
    """Load pint's definitions, about 0.1 s."""
    _registry()


def unit_after(text: str, end: int) -> tuple[Unit, int] | None:
    """Return the unit that follows the number ending at ``end``, and where the unit ends."""
    found = _AFTER.match(text, end)
    if found is None:
        return None
    name = found["name"]
    abbreviates = name.lower() in {cased.lower() for cased in _CASED}
    if abbreviates and (name not in _CASED or found.end() > found.end("name")):
        return None
    return _unit(next(known for known in _NAMES if known.lower() == name.lower())), found.end()


def currency_before(text: str, start: int) -> tuple[Unit, int] | None:
    """Return the currency whose sign stands before ``start``, and where the sign starts."""
    found = _CURRENCY.search(text, max(0, start - 4), start)
    if found is None or (found.start() and text[found.start() - 1].isalpha()):
        return None
    name = _SYMBOLS[found[0].strip()]
    return Unit(name, name), found.start()


@cache
def _unit(name: str) -> Unit:
    if name in _OWN:
        return Unit(_OWN[name], _OWN[name])
    registry = _registry()
    one = registry.Quantity(1, _UNITS[name])
    dimension = _DIMENSIONS[str(one.dimensionality)]
    if dimension == TEMPERATURE:
        zero, ten = (registry.Quantity(v, _UNITS[name]).to("degC").magnitude for v in (0, 10))
        return Unit("°C" if _UNITS[name] == "degC" else "°F", dimension, (ten - zero) / 10, zero)
    plural = {"century": "centurie"}.get(name, name)
    shown = f"{plural}s" if dimension == "time" else f"{one.units:~P}"
    return Unit(shown, dimension, float(one.to_base_units().magnitude))


@cache
def _registry() -> pint.UnitRegistry[float]:
    return pint.UnitRegistry(cache_folder=None)
