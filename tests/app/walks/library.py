"""Thirty short documents with plain facts, which the walks search."""

from __future__ import annotations

import json
from pathlib import Path

TEXTS = {
    "Norway": "Norway is a country in northern Europe. Its capital is Oslo. About five and a half"
    " million people live there.",
    "Oslo": "Oslo is the capital and the largest city of Norway. It lies at the end of a fjord.",
    "Bergen": "Bergen is a city on the west coast of Norway. It rains there on most days.",
    "Canada": "Canada is a country in North America. The capital of Canada is Ottawa.",
    "Ottawa": "Ottawa is the capital city of Canada. It lies on the south bank of the Ottawa"
    " River.",
    "Toronto": "Toronto is the largest city of Canada. It is the capital of the province of"
    " Ontario.",
    "Marie Curie": "Marie Curie was a physicist and chemist. She was born in Warsaw in 1867. With"
    " her husband Pierre Curie she discovered radium in 1898.",
    "Pierre Curie": "Pierre Curie was a French physicist. He was the husband of Marie Curie, and"
    " died in Paris in 1906.",
    "Radium": "Radium is a chemical element with the symbol Ra. It is radioactive.",
    "Warsaw": "Warsaw is the capital of Poland. It stands on the river Vistula.",
    "Eiffel Tower": "The Eiffel Tower is an iron tower in Paris. It was completed in 1889. It is"
    " 330 metres tall.",
    "Paris": "Paris is the capital of France. The river Seine flows through it.",
    "Danube": "The Danube is a river in Europe. It rises in Germany and flows into the Black Sea.",
    "Vienna": "Vienna is the capital of Austria. It lies on the Danube.",
    "Blue whale": "The blue whale is a marine mammal. It is the largest animal known. It feeds on"
    " krill.",
    "Mount Everest": "Mount Everest is the highest mountain on Earth above sea level. Its summit is"
    " 8,849 metres high.",
    "Moon": "The Moon is the only natural satellite of the Earth. It takes about 27 days to go"
    " around the Earth.",
    "Apollo 11": "Apollo 11 was the first flight that landed people on the Moon. Neil Armstrong"
    " walked on the Moon in July 1969.",
    "Neil Armstrong": "Neil Armstrong was an American astronaut. He commanded Apollo 11.",
    "Penicillin": "Penicillin is an antibiotic. Alexander Fleming discovered it in London in 1928.",
    "Alexander Fleming": "Alexander Fleming was a Scottish doctor. He was born in Ayrshire.",
    "Mona Lisa": "The Mona Lisa is a portrait that Leonardo da Vinci painted. It hangs in the"
    " Louvre in Paris.",
    "Leonardo da Vinci": "Leonardo da Vinci was an Italian painter and engineer. He died in France"
    " in 1519.",
    "Hamlet": "Hamlet is a tragedy by William Shakespeare. It is set in Denmark.",
    "William Shakespeare": "William Shakespeare was an English playwright. He was born in"
    " Stratford-upon-Avon in 1564.",
    "Honey": "Honey is a sweet food that bees make from nectar.",
    "Tea": "Tea is a hot drink made from the leaves of a shrub. It came to Europe from China.",
    "Chess": "Chess is a game for two players on a board with 64 squares.",
    "Violin": "The violin is a wooden instrument with four strings. It is played with a bow.",
    "Penguin": "Penguins are birds that cannot fly. They live mostly in the southern half of the"
    " Earth.",
}


def write_library(path: Path) -> None:
    """Write the documents as JSON lines."""
    path.write_text(
        "".join(
            json.dumps({"id": title.replace(" ", "_"), "title": title, "text": text}) + "\n"
            for title, text in TEXTS.items()
        ),
        encoding="utf-8",
    )
