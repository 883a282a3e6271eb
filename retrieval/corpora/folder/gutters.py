"""Gutters: stretches of white that several lines of a page in a row leave free."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.corpora.folder.segments import Segment

Gap = tuple[float, float]  # left and right
SUPPORT = 2  # lines on each side of a gutter
_NARROWEST = 0.6  # of a gutter, in parts of the size of letters
_DETACHED = 1.8  # the height from which on a line stands apart


def best_band(found: Sequence[Segment], start: int, edges: Gap) -> tuple[int, list[Gap]]:
    """Return where the part that begins at a segment ends, and its gutters, if it has any.

    A line before a table is not part of it, although it may leave some of its gutters free.
    """
    end, gutters = _band(found, start, edges)
    if gutters and start + 1 < end and found[start + 1].base < found[start].base:
        later_end, later = _band(found, start + 1, edges)
        if len(later) > len(gutters) or later_end > end:
            return start + 1, []
    return end, gutters


def _band(found: Sequence[Segment], start: int, edges: Gap) -> tuple[int, list[Gap]]:
    gaps = [edges]
    end = start
    while end < len(found):
        one = found[end]
        left = [gap for whole in gaps for gap in _without(whole, one)]
        died = [whole for whole in gaps if not any(_within(gap, whole) for gap in left)]
        if not left or any(_is_gutter(gap, found[start:end]) for gap in died):
            break
        gaps = left
        end += 1
    if end < len(found):  # the segments of one line stay together
        while end > start and found[end - 1].base == found[end].base:
            end -= 1
    band = found[start:end]
    gutters = _gutters(gaps, band)
    if not gutters:
        return start, []
    end = start + _attached(band, gutters)
    return end, _gutters(gutters, found[start:end])


def _gutters(gaps: Sequence[Gap], band: Sequence[Segment]) -> list[Gap]:
    """Return the gaps between columns from left to right, one between two columns."""
    gutters: list[Gap] = []
    for gap in sorted(gap for gap in gaps if _is_gutter(gap, band)):
        if not gutters or any(gutters[-1][1] <= one.left and one.right <= gap[0] for one in band):
            gutters.append(gap)
    return gutters


def _without(gap: Gap, one: Segment) -> list[Gap]:
    if one.right <= gap[0] or one.left >= gap[1]:
        return [gap]
    pieces = [(gap[0], one.left), (one.right, gap[1])]
    return [piece for piece in pieces if piece[1] - piece[0] >= _NARROWEST * one.size]


def _within(gap: Gap, whole: Gap) -> bool:
    return whole[0] <= gap[0] and gap[1] <= whole[1]


def _is_gutter(gap: Gap, band: Sequence[Segment]) -> bool:
    """Return whether lines stand on both sides, at the same height."""
    left = [one.base for one in band if one.right <= gap[0]]
    right = [one.base for one in band if one.left >= gap[1]]
    if not left or not right:
        return False
    top, bottom = min(left[0], right[0]), max(left[-1], right[-1])
    size = band[0].size
    return all(
        len({base for base in side if bottom - size <= base <= top + size}) >= SUPPORT
        for side in (left, right)
    )


def _attached(band: Sequence[Segment], gutters: Sequence[Gap]) -> int:
    """Return how many segments belong to the columns: not those of the first one far below."""
    columns = in_columns(band, gutters)
    bottom = max(column[-1].base for column in columns[1:])
    for number, one in enumerate(band):
        before = band[number - 1] if number else one
        if one.base < bottom and before.base - one.base > _DETACHED * one.size:
            return number
    return len(band)


def in_columns(band: Sequence[Segment], gutters: Sequence[Gap]) -> list[list[Segment]]:
    """Return the segments of each column."""
    columns: list[list[Segment]] = [[] for _ in range(len(gutters) + 1)]
    for one in band:
        columns[column_of(one, gutters)].append(one)
    return columns


def column_of(one: Segment, gutters: Sequence[Gap]) -> int:
    """Return the number of the column that a segment stands in, from 0."""
    return sum(gap[1] <= one.left for gap in gutters)
