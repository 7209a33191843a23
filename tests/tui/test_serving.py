"""The console in a browser: who is let in, what a page gets, and all of it in headless Chromium."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest
from click.testing import CliRunner

from core.errors import MeritoError
from stores.store import Store
from tests.streams import run_events
from tui.commands.serve import command
from tui.serving.server import is_loopback

PROJECT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        ("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.9.1", True),
        ("0.0.0.0", False), ("192.168.0.7", False), ("example.org", False), ("", False),
        ("localhost.example.org", False),
    ],
)  # fmt: skip
def test_what_means_this_machine_alone(host: str, alone: bool) -> None:
    assert is_loopback(host) is alone


@pytest.mark.parametrize(
    ("words", "said", "warnings"),
    [
        ([], ["--read-only"], 0),
        (["--host", "0.0.0.0"], ["--read-only"], 1),
        (["--writable"], [], 1),
        (["--writable", "--host", "::"], [], 2),
    ],
)
def test_a_console_changes_nothing_and_stays_at_home_unless_told_otherwise(
    words: list[str], said: list[str], warnings: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served: list[tuple[str, str, list[str]]] = []
    monkeypatch.setattr(
        "tui.serving.server.serve",
        lambda console, host, port, lines: served.append((console, host, lines)),
    )
    result = CliRunner().invoke(command, [*words, "--store", str(tmp_path / "a b'.sqlite"), "run;rm"])
    assert result.exit_code == 0
    console, host, lines = served[0]
    assert ("--read-only" in console) is bool(said)
    assert "'run;rm'" in console, "nothing of a command line is the shell's"
    assert host == ("127.0.0.1" if "--host" not in words else words[words.index("--host") + 1])
    assert sum(line.startswith("Warning:") for line in lines) == warnings


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tui.serving.server", None)
    result = CliRunner().invoke(command, [])
    assert isinstance(result.exception, MeritoError)
    assert "pip install textual-serve" in str(result.exception)


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[str]:
    """The real program over a store with one run; yields its address."""
    store = folder / "store.sqlite"
    if not store.exists():
        with Store.open(store, create=True) as made:
            made.append(run_events(8))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "tui.main", "serve", "--store", store, "--port", str(port), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=PROJECT,
        env={**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder)},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        found = re.search(r"http://\S+", line)
        assert found is not None, line
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
async def test_only_its_own_page_on_this_machine_gets_a_console(tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        async with aiohttp.ClientSession() as client:
            async with client.get(address) as page:
                text = await page.text()
                assert page.status == 200
                assert "default-src 'self'" in page.headers["Content-Security-Policy"]
                assert f"ws:{address.removeprefix('http:')}/ws" in text
                assert "https://" not in text, "nothing is asked of another machine"
            async with client.get(address, headers={"Host": "evil.example"}) as page:
                assert page.status == 403
            for origin in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await client.ws_connect(f"{address}/ws", headers=origin)
                assert refused.value.status == 403
            async with client.ws_connect(f"{address}/ws", headers={"Origin": address}) as console:
                seen = b""
                while b"read-only" not in seen:
                    seen += (await console.receive(30)).data
    with Store.open(tmp_path / "store.sqlite") as store:
        assert len(store.runs()) == 1, "and the store is free again"


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = CliRunner().invoke(
            command, ["--port", str(port), "--store", str(tmp_path / "none.sqlite")]
        )
    assert isinstance(result.exception, MeritoError)
    assert f"Port {port} of 127.0.0.1 is taken." in str(result.exception)


@pytest.fixture
def browser() -> str:
    """A Chromium on this machine; the test is skipped where there is none."""
    pytest.importorskip("playwright", reason="no playwright (pip install playwright)")
    for name in BROWSERS:
        if (found := shutil.which(name)) is not None:
            return found
    pytest.skip("no Chromium on this machine (apt-get install chromium)")


@pytest.mark.slow
async def test_in_headless_chromium_it_is_seen_steered_and_left(tmp_path: Path, browser: str) -> None:
    from playwright.async_api import async_playwright

    with serving(tmp_path) as address:
        async with async_playwright() as driver:
            chromium = await driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            page = await chromium.new_page(viewport={"width": 1200, "height": 700})
            asked: list[str] = []
            heard: list[bytes] = []
            page.on("request", lambda request: asked.append(request.url))
            page.on(
                "websocket",
                lambda socket: socket.on(
                    "framereceived",
                    lambda frame: heard.append(frame if isinstance(frame, bytes) else b""),
                ),
            )

            async def until(words: bytes) -> None:
                for _ in range(600):
                    if words in b"".join(heard):
                        return
                    await page.wait_for_timeout(50)
                raise AssertionError(f"{words!r} was never sent; the last was {heard[-1:]!r}")

            await page.goto(address)
            await page.wait_for_selector("body.-first-byte", timeout=30_000)
            await until(b"8/8")
            await page.keyboard.type("?")
            await until(b"Hold the run at its next attempt")
            await page.keyboard.type("q")
            await page.keyboard.type("2")
            await until(b"near-duplicates")
            await page.keyboard.type("a")
            await until(b"This console is read-only")
            picture = await page.screenshot(path=tmp_path / "page.png")
            assert len(picture) > 20_000, "something is drawn"
            await page.keyboard.type("q")
            await page.wait_for_selector("body.-closed", timeout=20_000)
            assert {url.split("/")[2] for url in asked} == {address.removeprefix("http://")}
            await chromium.close()
