"""Checks every request before a view gets it, and sets the headers of every answer."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence
from http import HTTPStatus

from flask import Flask, Response, request
from werkzeug.exceptions import RequestEntityTooLarge

from app.http.errors import RequestRefused, refusal
from worker.corpora.uploads import too_large

MOST_BYTES = 64 * 1024
# A list of claims or a text may be longer: 5,000 claims of 500 characters have less than 4 MB.
MOST_BYTES_OF_A_LIST = 6 * 1024 * 1024
_TAKE_LISTS = (
    *("pages.submit", "box.says", "lists.submit", "api_lists.submit"),
    *("texts.read", "texts.check", "api_texts.read", "compare.submit"),
)
# Uploads of documents may be larger, by what a form adds to them.
_UPLOADS = ("corpora.make", "corpora.upload", "api_corpora.upload")
_BYTES_OF_A_FORM = 1_000_000
_CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    # With "no-referrer" browsers would send our own forms with "Origin: null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # The pages use none of what a browser could offer them.
    "Permissions-Policy": ", ".join(
        f"{feature}=()"
        for feature in (
            *("accelerometer", "autoplay", "browsing-topics", "camera"),
            *("display-capture", "encrypted-media", "fullscreen", "geolocation", "gyroscope"),
            *("hid", "magnetometer", "microphone", "midi", "payment", "picture-in-picture"),
            *("publickey-credentials-get", "screen-wake-lock", "serial", "usb"),
        )
    ),
}
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]*)?")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_YEAR = 365 * 24 * 3600


def install_guard(app: Flask, trusted_hosts: Sequence[str], most_upload: int) -> None:
    """Refuse unknown host names, requests from other sites and large bodies; set the headers.

    ``most_upload``: the largest upload of documents, in bytes.
    """

    @app.before_request
    def refuse() -> None:
        if not _is_trusted(request.headers.get("Host", ""), trusted_hosts):
            raise refusal(
                HTTPStatus.MISDIRECTED_REQUEST,
                "unknown_host",
                "This server does not accept requests for this host name or address.",
                "Use an address of its machine, or add this to TRUSTED_HOSTS and restart it.",
            )
        if request.method not in _SAFE_METHODS and _from_another_site():
            raise refusal(
                HTTPStatus.FORBIDDEN,
                "cross_site",
                "This request came from a page of another site.",
                "Open ESOTERIC itself and send the claim from there.",
            )
        if request.endpoint in _UPLOADS:
            request.max_content_length = most_upload + _BYTES_OF_A_FORM
            if (request.content_length or 0) > request.max_content_length:
                raise RequestRefused(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large(most_upload).problem
                )
        else:
            most = MOST_BYTES_OF_A_LIST if request.endpoint in _TAKE_LISTS else MOST_BYTES
            if (request.content_length or 0) > most:
                raise RequestEntityTooLarge
            request.max_content_length = request.max_form_memory_size = most

    @app.after_request
    def set_headers(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)  # a view may set a stricter one
        if request.endpoint == "static" and "v" in request.args:
            response.headers["Cache-Control"] = f"public, max-age={_YEAR}, immutable"
        elif not response.cache_control.no_store:
            response.headers["Cache-Control"] = "private, no-cache"
        return response


def _is_trusted(host: str, trusted: Sequence[str]) -> bool:
    """Return whether the Host header names this server.

    Another site can make its own name point to this machine ("DNS rebinding"); its pages would
    then have the same origin as ours. With an IP address it cannot, but links in pages and exports
    would lead where a request says: so only addresses of this machine are taken. Every browser
    sends the header; a health check may not.
    """
    if not host:
        return True
    parts = _HOST.fullmatch(host.casefold())
    if parts is None:
        return False
    name = parts["name"].strip("[]").removesuffix(".")
    return name in trusted or _is_of_this_machine(name)


def _is_of_this_machine(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
        family = socket.AF_INET if found.version == 4 else socket.AF_INET6
        with socket.socket(family, socket.SOCK_DGRAM) as sender:
            sender.bind((address, 0))  # the system refuses those of others
    except (ValueError, OSError):
        return False
    return True


def _from_another_site() -> bool:
    """Return whether a browser sent this request from a page of another site.

    Programs other than browsers send neither header.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("Origin")
    return origin is not None and origin != request.host_url.rstrip("/")
