"""A small corpus of our own for whatever needs the real models."""

import json
from pathlib import Path

TEXTS = {
    "Skerrow Light": "Skerrow Light is a lighthouse on the island of Skerrow. It was designed by"
    " Ann Lee and was first lit in 1871. The tower is painted red and white.",
    "Ann Lee": "Ann Lee was a Scottish engineer. She designed four lighthouses and two bridges."
    " She died in Dundee in 1902.",
    "Skerrow": "Skerrow is a small island in the north. About forty people live there. Most of"
    " them keep sheep.",
    "Dundee": "Dundee is a city in Scotland. It lies on the River Tay.",
    "Lighthouse": "A lighthouse is a tower with a lamp that guides ships at night.",
    "Lee (song)": "Lee is a song about a river.",
}


def write_source(path: Path) -> None:
    """Write the corpus as JSON lines."""
    path.write_text(
        "".join(
            json.dumps({"id": title.replace(" ", "_"), "title": title, "text": text}) + "\n"
            for title, text in TEXTS.items()
        ),
        encoding="utf-8",
    )
