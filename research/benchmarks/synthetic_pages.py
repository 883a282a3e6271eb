"""Synthetic pages of an encyclopaedia in any number: for measuring scale, never quality.

They have the properties of a real encyclopaedia that matter for an index: word frequencies by
Zipf's law, about five sentences and a hundred words a page, titles that share their first words or
differ only in parentheses, disambiguation pages, and pages that mention others, some of them very
often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WORDS_A_SENTENCE = 17
SENTENCES_A_PAGE = 5
MADE_UP = 200_000  # invented words after the common ones
FIRST_NAMES, LAST_NAMES = 5_000, 20_000
EXPONENT, SHIFT = 1.05, 2.7  # of Zipf's and Mandelbrot's law
MENTIONING = 0.6  # share of the sentences that mention another page
AROUND = 0.5  # share of these that mention a real one, if there are real ones

_HERE = Path(__file__).parent
COMMON = (_HERE / "common_words.txt").read_text(encoding="utf-8").split()  # most frequent first
_KINDS = (_HERE / "kinds_of_things.txt").read_text(encoding="utf-8").split()
_OF_ANOTHER = ("discography", "Street", "Cup", "railway_station", "High_School", "F.C.")
_ONSETS = (*"bdfghjklmnprstvwz", "br", "dr", "fr", "gr", "kl", "pr", "sh", "st", "tr")
_VOWELS = (*"aeiouaeio", "ai", "ea")
_CODAS = ("", "", "", "", "n", "r", "l", "s", "m", "t")


@dataclass(frozen=True, slots=True)
class SyntheticPage:
    """A page in FEVER's format; every sentence with the words that are links and their titles."""

    id: str
    sentences: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    def record(self) -> dict[str, str]:
        """Return the content of a line of FEVER's wiki-pages."""
        lines = (
            "\t".join((str(number), text, *(word for link in links for word in link)))
            for number, (text, links) in enumerate(self.sentences)
        )
        text = " ".join(sentence for sentence, _ in self.sentences)
        return {"id": self.id, "text": text, "lines": "\n".join(lines)}


class Encyclopaedia:
    """Pages from number 0 on; the content of a range depends only on the range and the seed.

    Overlapping ranges have the same titles, but not the same texts.
    """

    def __init__(
        self,
        size: int,
        seed: int,
        titles: Sequence[str] = (),
        words: Sequence[str] = COMMON,
    ) -> None:
        """Make the words.

        ``size``: the number of pages that can be mentioned. ``titles``: those of real pages, in
        FEVER's spelling; synthetic pages mention them and share their names, but none has the same
        title. ``words``: of real pages, most frequent first; invented ones follow.
        """
        self._size = size
        self._seed = seed
        self._titles = tuple(titles)
        rng = np.random.default_rng(seed)
        self._made_up = _made_up_words(rng, set(words))
        self._words = np.array([*words, *self._made_up], dtype=object)
        ranks = np.arange(1, len(self._words) + 1)
        weights = np.cumsum(1 / (ranks + SHIFT) ** EXPONENT)
        self._cumulative = weights / weights[-1]

    def pages(self, start: int, stop: int) -> Iterator[SyntheticPage]:
        """Yield the pages of these numbers."""
        rng = np.random.default_rng((self._seed, start, stop))
        sentences = rng.geometric(1 / SENTENCES_A_PAGE, stop - start)
        total = int(sentences.sum())
        # Lengths vary as in real sentences: from a few words to more than fifty.
        lengths = 5 + rng.poisson(rng.gamma(3, (WORDS_A_SENTENCE - 5) / 3, total))
        drawn = np.searchsorted(self._cumulative, rng.random(int(lengths.sum())))
        words = iter(np.split(self._words[drawn], np.cumsum(lengths)[:-1]))
        mentioned = iter(self._mentioned(rng, total))
        for number, count in zip(range(start, stop), sentences, strict=True):
            title = self.title(number)
            opening = [_name_of(title), "is", "a", _kind(number)]
            yield SyntheticPage(
                title,
                tuple(
                    _sentence(next(words).tolist(), next(mentioned), () if position else opening)
                    for position in range(count)
                ),
            )

    def title(self, number: int) -> str:
        """Return the title of a page; no two pages have the same.

        The pages of a name are consecutive: the name alone, with words in parentheses and with
        words before and after it.
        """
        group, form = divmod(number, 10)
        name, kind = self._name(group), _kind(group)
        forms = (
            name,
            f"{name}_-LRB-disambiguation-RRB-",
            f"{name}_-LRB-{kind}-RRB-",
            f"{name}_-LRB-{1900 + group % 117}_{kind}-RRB-",
            f"{name}_{_OF_ANOTHER[group % len(_OF_ANOTHER)]}",
            f"List_of_{name}_{kind}s",
        )
        if form < len(forms):
            return forms[form]
        return f"{name}_{self._made_up[(10 * group + form) % MADE_UP].title()}"

    def _name(self, group: int) -> str:
        """Return two words that no other group has: of a real title, or invented."""
        turn, place = divmod(group, 3)
        if place == 0 and self._titles:
            again, which = divmod(turn, len(self._titles))
            # One word more, so that no page has the title of a real one.
            return f"{_name_of(self._titles[which]).replace(' ', '_')}_{self._surname(again)}"
        turn, first = divmod(group, FIRST_NAMES)
        # Neighbours share no name, and no pair is repeated in LAST_NAMES turns.
        return f"{self._made_up[first].title()}_{self._surname(turn + 37 * first)}"

    def _surname(self, number: int) -> str:
        return self._made_up[FIRST_NAMES + number % LAST_NAMES].title()

    def _mentioned(self, rng: np.random.Generator, sentences: int) -> list[str | None]:
        """Return for each sentence the title that it mentions; a few are mentioned very often."""
        popular = (self._size ** rng.random(sentences)).astype(np.int64) - 1
        chance = rng.random(sentences)
        real = rng.integers(0, max(len(self._titles), 1), sentences)
        titles: list[str | None] = []
        for number, share, which in zip(popular.tolist(), chance, real.tolist(), strict=True):
            if share >= MENTIONING:
                titles.append(None)
            elif self._titles and share < MENTIONING * AROUND:
                titles.append(self._titles[which])
            else:
                titles.append(self.title(number))
        return titles


def _sentence(
    words: list[str], mentioned: str | None, opening: Sequence[str]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    links: tuple[tuple[str, str], ...] = ()
    if mentioned is not None:
        name = _name_of(mentioned)
        words[len(words) // 2] = name
        links = ((name, mentioned),)
    words[0] = words[0] if opening else words[0].capitalize()
    return f"{' '.join((*opening, *words))} .", links


def _kind(number: int) -> str:
    return _KINDS[number % len(_KINDS)]


def _name_of(title: str) -> str:
    """Return a title as used in sentences, without its words in parentheses."""
    return title.partition("_-LRB-")[0].replace("_", " ")


def _made_up_words(rng: np.random.Generator, taken: set[str]) -> list[str]:
    """Return ``MADE_UP`` words of one to four syllables that are not ``taken``."""
    syllables = [onset + vowel + coda for onset in _ONSETS for vowel in _VOWELS for coda in _CODAS]
    words: dict[str, None] = {}
    while len(words) < MADE_UP:
        sizes = np.minimum(rng.geometric(0.5, MADE_UP), 4)
        drawn = rng.integers(0, len(syllables), (MADE_UP, 4))
        made = ("".join(syllables[i] for i in row[:n]) for n, row in zip(sizes, drawn, strict=True))
        words.update((word, None) for word in made if word not in taken)
    return list(words)[:MADE_UP]
