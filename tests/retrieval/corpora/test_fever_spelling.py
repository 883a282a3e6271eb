from __future__ import annotations

import pytest

from retrieval.corpora.wiki.fever_spelling import plain_text, plain_title


@pytest.mark.parametrize(
    ("page_id", "title"),
    [
        ("Savages_-LRB-band-RRB-", "Savages (band)"),
        ("Lamp-COLON-_A_Story", "Lamp: A Story"),
        ("Zoe\u0308", "Zoë"),
        ("Plain", "Plain"),
    ],
)
def test_a_page_id_becomes_the_title_a_reader_would_write(page_id: str, title: str) -> None:
    assert plain_title(page_id) == title


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("He did n't say `` no '' -LRB- twice -RRB- .", 'He didn\'t say "no" (twice).'),
        ("It 's the players ' hall , is n't it ?", "It's the players' hall, isn't it?"),
        (
            "A fee of $ 3 or 5 % ; more -LSB- sic -RSB- : none .",
            "A fee of $3 or 5%; more [sic]: none.",
        ),
        ("She left -- at last -- in 1999 .", "She left \u2013 at last \u2013 in 1999."),
        ("They 've seen what we 'll do .", "They've seen what we'll do."),
        ("", ""),
    ],
)
def test_tokens_become_the_sentence_a_reader_would_write(tokens: str, text: str) -> None:
    assert plain_text(tokens) == text
