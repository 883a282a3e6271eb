"""What the box takes a text for."""

from __future__ import annotations

import pytest

from app.claims.entered import entered


@pytest.mark.parametrize(
    ("text", "kind", "rows"),
    [
        ("Tea is hot.", "claim", ["Tea is hot."]),
        ("\n  Tea is hot.\n\n", "claim", ["Tea is hot."]),
        ("", "claim", []),
        ("J. K. Rowling met Dr. No in St. Ives.", "claim", 1),
        ("Tea is hot.\nIce is cold.", "list", ["Tea is hot.", "Ice is cold."]),
        ("Tea is hot\n\nice is cold", "list", 2),
        ("tea is hot.\nice is cold.\nsnow is white.", "list", 3),
        ("Tea is hot. Ice is cold.", "text", ["Tea is hot.", "Ice is cold."]),
        ("Tea is hot. Ice is cold.\nSnow is white.", "text", 3),
        ("paris is the capital of france\nberlin is that of germany", "list", 2),
        # What only names the lines below it is none of them.
        ("Claims:\nTea is hot.\nIce is cold.", "list", ["Tea is hot.", "Ice is cold."]),
        ("claim\nTea is hot.", "claim", ["Tea is hot."]),
        ("statement;speaker\nTea is hot. It is.;Ann\nIce is cold;Bo", "list", 2),
        (
            *('claim,speaker\n"Tea is\nhot, he said.",Ann\n\nIce is cold,Bo', "list"),
            ["Tea is\nhot, he said.", "Ice is cold"],
        ),
        ("claim,claim\nTea is hot,Ice is cold", "list", 1),  # it is unclear which are meant
        # A sentence with commas names no columns.
        (
            "Claim, as he said, is simple\nA, b, c",
            "list",
            ["Claim, as he said, is simple", "A, b, c"],
        ),
        ("Text, which is what people write most, is old\nIce is cold, wet, old", "list", 2),
        # As a mail or a PDF breaks lines.
        ("Tea that was poured into a cup of china by\nthe queen is hot.", "claim", 1),
        ("Tea is hot. Ice that was taken out of the sea\nby a whaler is cold.", "text", 2),
    ],
)
def test_lines_make_a_list_and_sentences_a_text(
    text: str, kind: str, rows: int | list[str]
) -> None:
    found = entered(text)
    assert found.kind == kind
    assert (len(found.rows) if isinstance(rows, int) else list(found.rows)) == rows
