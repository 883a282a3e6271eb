from __future__ import annotations

from retrieval.models.encoders import PlacedSentence, Window, windows

# A title of two tokens and a text of eight, each two characters wide with a space behind it.
TOKENS = [90, 91, 1, 2, 3, 4, 5, 6, 7, 8]
OFFSETS = [(3 * n, 3 * n + 2) for n in range(10)]
HEAD = 6


def tokens_from(first: int, last: int) -> tuple[int, int]:
    """Return the characters of these tokens of the text, both included and counted from 1."""
    return HEAD + 3 * (first - 1), HEAD + 3 * (last - 1) + 2


def test_what_fits_is_one_window() -> None:
    sentences = [tokens_from(1, 3), tokens_from(4, 8)]
    assert windows(TOKENS, OFFSETS, HEAD, sentences, 10) == [
        Window(TOKENS, [PlacedSentence(0, 2, 5), PlacedSentence(1, 5, 10)])
    ]


def test_a_sentence_that_does_not_fit_whole_is_read_after_the_title_in_another_window() -> None:
    sentences = [tokens_from(1, 3), tokens_from(4, 6), tokens_from(7, 7), tokens_from(8, 8)]
    assert windows(TOKENS, OFFSETS, HEAD, sentences, 6) == [
        Window([90, 91, 1, 2, 3, 4], [PlacedSentence(0, 2, 5)]),
        Window([90, 91, 4, 5, 6, 7], [PlacedSentence(1, 2, 5), PlacedSentence(2, 5, 6)]),
        Window([90, 91, 8], [PlacedSentence(3, 2, 3)]),
    ]


def test_a_sentence_longer_than_a_window_is_cut_and_the_next_one_is_not() -> None:
    sentences = [tokens_from(1, 7), tokens_from(8, 8)]
    assert windows(TOKENS, OFFSETS, HEAD, sentences, 5) == [
        Window([90, 91, 1, 2, 3], []),
        Window([90, 91, 1, 2, 3], [PlacedSentence(0, 2, 5)]),
        Window([90, 91, 8], [PlacedSentence(1, 2, 3)]),
    ]


def test_a_long_title_takes_half_of_a_further_window_at_most() -> None:
    # Here the title is the first eight tokens, and the text the two behind them.
    found = windows(TOKENS, OFFSETS, 24, [(24, 29)], 4)
    assert found == [
        Window([90, 91, 1, 2], []),
        Window([90, 91, 7, 8], [PlacedSentence(0, 2, 4)]),
    ]


def test_a_sentence_without_a_token_is_in_no_window() -> None:
    sentences = [(HEAD + 2, HEAD + 3), tokens_from(8, 8)]
    (window,) = windows(TOKENS, OFFSETS, HEAD, sentences, 10)
    assert window.sentences == [PlacedSentence(1, 9, 10)]


def test_a_text_without_tokens_is_a_window_without_any() -> None:
    assert windows([], [], 2, [], 254) == [Window([], [])]
