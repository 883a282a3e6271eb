"""What the service searches during the campaign: invented texts, and claims without end."""

from __future__ import annotations

import json
from pathlib import Path

RECIPE = "quick"
_TEXTS = {
    "Tarn Weir": "Tarn Weir is a dam on the River Ode. It was planned by Edda Vance and was"
    " finished in 1911. Its wall is 40 metres high.",
    "Edda Vance": "Edda Vance was an engineer. She planned three dams and a canal. She died in"
    " Odeford in 1947.",
    "Odeford": "Odeford is a town on the River Ode. Its market is held on Thursdays. About 9,000"
    " people live there.",
    "River Ode": "The River Ode flows through Odeford into the sea.",
}
_CLAIMS = (
    "Tarn Weir was finished in {} days.",
    "Edda Vance planned {} dams.",
    "About {} people live in Odeford.",
    "The River Ode is {} metres wide.",
)
# One hop of a few stages: a claim takes a fraction of a second.
_RECIPE = f"""\
name: {RECIPE}
summary: text, relevance and a verdict, for the campaign of faults
first: [spans, texts, questions, ranking]
hop: [sentences, relevance, semantic, verification, selection, verdict]
next: []
ending: never
max_hops: 1
settings:
  verified_sentences: 2
"""


def write_source(path: Path) -> None:
    """Write the corpus as JSON lines."""
    lines = (json.dumps({"id": t, "title": t, "text": text}) for t, text in _TEXTS.items())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_recipe(folder: Path) -> None:
    """Write the recipe of the campaign into the folder of recipes."""
    (folder / f"{RECIPE}.yaml").write_text(_RECIPE, encoding="utf-8")


def claim(number: int) -> str:
    """Return a claim; no two numbers have the same."""
    return _CLAIMS[number % len(_CLAIMS)].format(number + 2)
