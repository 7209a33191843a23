"""`merito serve`: the same console in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from tui import options


@click.command("serve")
@click.argument("run", required=False)
@options.store
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port", type=click.IntRange(1, 65_535), default=8000, show_default=True, help="Its port."
)
@click.option("--writable", is_flag=True, help="Let every visitor review memories and start runs.")
@click.option("--theme", help="The theme to begin with.")
def command(
    run: str | None, store: Path | None, host: str, port: int, writable: bool, theme: str | None
) -> int:
    """Serve the console to browsers; each page gets a console of its own.

    Without further flags it listens on this machine alone, and its visitors look and change nothing.

    \b
    Examples:
      merito serve
      merito serve --store team.sqlite --port 8080
      merito serve --host 0.0.0.0 --writable
    """
    from core.errors import MeritoError

    try:
        from tui.serving.server import is_loopback, serve
    except ImportError:
        raise MeritoError(
            "Serving needs the package textual-serve.", "Run: pip install textual-serve"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    what = "visitors can change the store" if writable else "read-only"
    words = [f"The console is at http://{shown}:{port} ({what}). Ctrl+C ends it."]
    if not is_loopback(host):
        words.append(
            f"Warning: anybody who reaches {host}:{port} sees it; nobody is asked who they are."
        )
    if writable:
        words.append("Warning: every visitor may approve and reject memories, and start runs.")
    serve(_console(run, store, writable, theme), host, port, words)
    return 0


def _console(run: str | None, store: Path | None, writable: bool, theme: str | None) -> str:
    """The command line of one visitor's console, for a shell."""
    import shlex
    import sys

    from tui import settings

    path = settings.store_path(str(store) if store else None).absolute()
    words = [sys.executable, "-m", "tui.main", "console", "--store", str(path)]
    words += [] if writable else ["--read-only"]
    words += ["--theme", theme] if theme else []
    words += ["--", run] if run else []
    return shlex.join(words)
