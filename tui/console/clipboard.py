"""Copying: the machine's own clipboard tool where there is one, else the terminal's (OSC 52)."""

from __future__ import annotations

import asyncio
import os
import shutil

_TOOLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("", ("clip.exe",)),
)
"""(variable that must be set, command that reads the text) in the order in which they are tried."""
_SECONDS = 2.0


async def native_copy(text: str) -> bool:
    """Give the text to the first clipboard tool that takes it; False where none does."""
    for variable, command in _TOOLS:
        if (variable and not os.environ.get(variable)) or shutil.which(command[0]) is None:
            continue
        if await _piped(command, text):
            return True
    return False


async def _piped(command: tuple[str, ...], text: str) -> bool:
    nowhere = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=nowhere, stderr=nowhere
        )
    except OSError:
        return False
    try:
        async with asyncio.timeout(_SECONDS):
            await process.communicate(text.encode("utf-8", "replace"))
    except (TimeoutError, OSError):
        process.kill()
        return False
    return process.returncode == 0
