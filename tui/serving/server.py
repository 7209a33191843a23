"""The console in a browser: textual-serve with its doors closed to whoever was not invited.

A page of somebody else's that is open in the same browser may also send requests to this machine:
whoever asks for a console must come from a page of ours, and, while only this machine is served, must
have asked for it by a name of this machine.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import click
from aiohttp import web
from textual_serve.server import Server

from core.errors import MeritoError
from tui.settings import log_file

MOST = 8
"""Consoles at a time; each is a process of about 100 MB."""
_GOODBYE = 2.0
"""Seconds that open pages get when the server ends."""

_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine alone."""
    if host in ("localhost", ""):
        return host == "localhost"
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class ConsoleServer(Server):
    """Serves one console process a page."""

    def __init__(self, command: str, host: str, port: int, words: list[str]) -> None:
        """`words` are printed once the server listens."""
        shown = f"[{host}]" if ":" in host else host
        super().__init__(
            command,
            host=host,
            port=port,
            title="Merito",
            public_url=f"http://{shown}:{port}",
            templates_path=Path(__file__).parent,
        )
        self._words = words
        self._open = 0

    async def on_startup(self, app: web.Application) -> None:
        """Nothing is said before the address is had."""

    async def until_interrupted(self) -> None:
        """Listen until Ctrl-C or SIGTERM. Raises OSError where the address cannot be had."""
        runner = web.AppRunner(await self._make_app(), access_log=None, shutdown_timeout=_GOODBYE)
        await runner.setup()
        try:
            await web.TCPSite(runner, self.host, self.port).start()
            for words in self._words:
                click.echo(words)
            enough = asyncio.Event()
            for name in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(name, enough.set)
            await enough.wait()
        finally:
            await runner.cleanup()

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        asked = _host_of(f"//{request.host}")
        if is_loopback(self.host) and not is_loopback(asked):
            raise web.HTTPForbidden(text="This console is served to its own machine alone.")
        if request.path == "/ws":
            if request.headers.get("Origin") != f"{request.scheme}://{request.host}":
                raise web.HTTPForbidden(text="Consoles are opened from their own page alone.")
            if self._open >= MOST:
                raise web.HTTPServiceUnavailable(text=f"{MOST} consoles are open; close one.")
        elif request.path == "/":
            # The page names its own address: behind 0.0.0.0 or a name, only the request knows it.
            self.public_url = f"{request.scheme}://{request.host}"
        response = await handler(request)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """One console, for as long as the page is open."""
        self._open += 1
        try:
            return await super().handle_websocket(request)
        finally:
            self._open -= 1


def _host_of(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def serve(command: str, host: str, port: int, words: list[str]) -> None:
    """Serve until interrupted. Raises MeritoError where the address cannot be had."""
    logging.basicConfig(filename=log_file(), level="WARNING")
    try:
        asyncio.run(ConsoleServer(command, host, port, words).until_interrupted())
    except OSError as wrong:
        if wrong.errno == errno.EADDRINUSE:
            raise MeritoError(f"Port {port} of {host} is taken.", "Choose another: --port.") from None
        raise MeritoError(
            f"Nothing can be served at {host}:{port}: {wrong.strerror or wrong}.",
            "Choose another --host or --port.",
        ) from None
