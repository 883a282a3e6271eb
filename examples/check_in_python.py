"""Check claims from Python and print what settles them.

Needs an index (``make run`` builds one). From the root of the checkout:

    .venv/bin/python examples/check_in_python.py .esoteric/index "Frankenstein was written in 1950."

The first run unpacks the models, which takes a minute.
"""

from __future__ import annotations

import sys

from retrieval import check, open_index
from retrieval.errors import EsotericError


def main(location: str, *claims: str) -> None:
    """Print the verdict on each claim, and the sentences that it is based on."""
    index = open_index(location)
    for claim in claims:
        result = check(claim, index)
        print(f"{result.verdict.label} ({result.verdict.confidence:.2f}): {result.claim}")
        for item in result.evidence:
            if item.selected:
                print(f"  {item.stance}: {item.sentence} [{item.title}]")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} INDEX CLAIM...")
    try:
        main(*sys.argv[1:])
    except EsotericError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
