"""Answers as gzip, for clients that read it: texts are a third as long.

Pages repeat nothing secret beside what a visitor writes, so their lengths give nothing away.
"""

from __future__ import annotations

import gzip

from flask import Flask, Response, request

_TEXTS = {
    "application/json",
    "image/svg+xml",
    "text/css",
    "text/csv",
    "text/html",
    "text/javascript",
    "text/markdown",
}
_SHORT = 500  # bytes; below this, a packet is sent anyway
_LEVEL = 6


def install_compression(app: Flask) -> None:
    """Compress texts that are not streamed, also static files."""

    @app.after_request
    def compress(response: Response) -> Response:
        if response.mimetype not in _TEXTS:
            return response
        response.vary.add("Accept-Encoding")
        static = request.endpoint == "static"
        whole = response.status_code == 200 and (static or not response.is_streamed)
        # Of several encodings any may be taken; browsers prefer none.
        if not whole or not request.accept_encodings["gzip"] or response.content_encoding:
            return response
        sent = response.response
        response.direct_passthrough = False
        content = response.get_data()
        if close := getattr(sent, "close", None):  # a static file, which is no longer read
            close()
        if len(content) < _SHORT:
            return response
        response.set_data(gzip.compress(content, _LEVEL, mtime=0))
        response.content_encoding = "gzip"
        tag, _ = response.get_etag()
        if tag is not None:
            response.set_etag(tag, weak=True)  # of the same content in other bytes
        return response
