"""How many edits lead from one word to another."""

from __future__ import annotations


def edit_distance(one: str, other: str) -> int:
    """Return the number of letters to insert, remove, replace or swap with the next one.

    Damerau-Levenshtein; no letter is edited twice.
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, meant in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != meant))
            if i > 1 and j > 1 and (letter, one[i - 2]) == (other[j - 2], meant):
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def is_near(word: str, other: str, edits: int) -> bool:
    """Return whether at most so many edits lead from one to the other, with the same first letter.

    A word is not near itself.
    """
    if word[:1] != other[:1] or word == other or abs(len(word) - len(other)) > edits:
        return False
    return edit_distance(word, other) <= edits
