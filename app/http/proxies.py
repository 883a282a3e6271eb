"""What proxies before the web server say: who asks, from where, by which name of this server."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from werkzeug.middleware.proxy_fix import ProxyFix

from settings import Network

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_FORWARDED = ("FOR", "PROTO", "HOST", "PORT", "PREFIX", "BY")


class TrustedProxies:
    """Believes the headers of the proxies of the settings, and removes those of all others.

    Anybody can send such a header. So a header that is still there was set by a proxy, which must
    remove what it got under that name.
    """

    def __init__(self, app: WSGIApplication, proxies: Sequence[Network], user_header: str) -> None:
        self._app = app
        self._behind = ProxyFix(app, x_for=1, x_proto=1, x_host=1)
        self._proxies = proxies
        self._headers = (
            *(f"HTTP_X_FORWARDED_{name}" for name in _FORWARDED),
            "HTTP_FORWARDED",
            f"HTTP_{user_header.upper().replace('-', '_')}",
        )

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        if self._is_proxy(environ.get("REMOTE_ADDR", "")):
            return self._behind(environ, start_response)
        for header in self._headers:
            environ.pop(header, None)
        return self._app(environ, start_response)

    def _is_proxy(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in proxies for proxies in self._proxies)
