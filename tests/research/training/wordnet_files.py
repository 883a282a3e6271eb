"""A few words in the files that WordNet's database has (wndb(5WN))."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
LICENCE = "  1 Nobody has rights in this database of a few words.  \n"


@dataclass(frozen=True)
class Meaning:
    """A synset: ``pointers`` are symbol, name of another one, and the places of both words."""

    part: str
    words: Sequence[str]
    pointers: Sequence[tuple[str, str, int, int]] = ()


MEANINGS = {
    "direct": Meaning("v", ("direct",), (("+", "director", 1, 1),)),
    "director": Meaning("n", ("director", "theater_director"), (("+", "direct", 1, 1),)),
    "film": Meaning("n", ("movie", "film", "motion_picture")),
    "begin": Meaning("v", ("begin", "start"), (("!", "end", 1, 1),)),
    "end": Meaning("v", ("end", "stop"), (("!", "begin", 1, 1),)),
    "norway": Meaning("n", ("Norway", "Kingdom_of_Norway"), (("+", "norwegian", 1, 1),)),
    "norwegian": Meaning("a", ("Norwegian", "Norse"), (("\\", "norway", 1, 1),)),
    "denmark": Meaning("n", ("Denmark",)),
    "danish": Meaning("a", ("Danish",), (("\\", "denmark", 1, 1),)),
    "oslo": Meaning("n", ("Oslo",), (("#p", "norway", 0, 0),)),
    "person": Meaning("n", ("person",)),
    "artist": Meaning("n", ("artist",), (("@", "person", 0, 0),)),
    "painter": Meaning("n", ("painter",), (("@", "artist", 0, 0),)),
    "sculptor": Meaning("n", ("sculptor",), (("@", "artist", 0, 0),)),
    "kilometre": Meaning("n", ("kilometer", "kilometre", "km")),
    "percent": Meaning("n", ("percentage", "percent")),
    "set": Meaning("n", ("set", "circle")),
    "put": Meaning("v", ("put", "set")),
    "close": Meaning("a", ("near(a)", "close")),
}


def write_wordnet(folder: Path, meanings: Mapping[str, Meaning] = MEANINGS) -> Path:
    """Write ``data.*`` and ``index.*`` and return the folder; a word's first meaning is first."""
    offsets = dict.fromkeys(meanings, 0)
    for part in FILES:
        # Every line is as long whatever offsets it names.
        at = len(LICENCE)
        for name, meaning in meanings.items():
            if meaning.part == part:
                offsets[name] = at
                at += len(_line(meaning, at, meanings, offsets))
    for part, file in FILES.items():
        mine = {name: m for name, m in meanings.items() if m.part == part}
        lines = [_line(m, offsets[name], meanings, offsets) for name, m in mine.items()]
        (folder / f"data.{file}").write_text(LICENCE + "".join(lines))
        senses: dict[str, list[str]] = defaultdict(list)
        for name, meaning in mine.items():
            for word in meaning.words:
                senses[word.lower().partition("(")[0]].append(name)
        index = [
            f"{word} {part} {len(names)} 2 @ ~ {len(names)} 0"
            f" {' '.join(f'{offsets[name]:08d}' for name in names)}  \n"
            for word, names in sorted(senses.items())
        ]
        (folder / f"index.{file}").write_text(LICENCE + "".join(index))
    return folder


def _line(
    meaning: Meaning, offset: int, meanings: Mapping[str, Meaning], offsets: Mapping[str, int]
) -> str:
    words = " ".join(f"{word} 0" for word in meaning.words)
    pointers = "".join(
        f" {symbol} {offsets[to]:08d} {meanings[to].part} {source:02x}{target:02x}"
        for symbol, to, source, target in meaning.pointers
    )
    frames = " 01 + 02 00" if meaning.part == "v" else ""
    return (
        f"{offset:08d} 03 {meaning.part} {len(meaning.words):02x} {words}"
        f' {len(meaning.pointers):03d}{pointers}{frames} | what it means; "an example"  \n'
    )
