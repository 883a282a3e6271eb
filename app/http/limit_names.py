"""The limits that refuse requests, by the names that ``/metrics`` counts them under."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

Limit: TypeAlias = Literal[
    "claims",
    "rows",
    "logins",
    "pages",
    "streams",
    "all_streams",
    "queue",
    "texts",
    "request_bytes",
    "upload_bytes",
]
LIMITS: tuple[Limit, ...] = get_args(Limit)
# Which limit refuses with which code of a problem; "too_many" is that of several.
LIMIT_OF: Mapping[str, Limit] = {
    "too_many_streams": "all_streams",
    "too_many_rows": "rows",
    "queue_full": "queue",
    "texts_busy": "texts",
    "too_large": "request_bytes",
    "upload_too_large": "upload_bytes",
    "zip_too_large": "upload_bytes",
}
