"""Memories as files: what the Memory screen exports and imports."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path

from tui.console.memory_library import Library
from tui.console.reviewing import counted
from tui.console.screens.base import RoomScreen
from tui.console.widgets.shelf import Shelf


class MemoryFiles(RoomScreen):
    """Writes memories into a folder, and takes in those that another store wrote."""

    @property
    def library(self) -> Library | None:
        """The store's memories, where a store is open."""
        return self.console_app.library

    @property
    def shelf(self) -> Shelf:
        """The list."""
        return self.query_one(Shelf)

    def refused(self) -> bool:
        """Whether nothing can be changed here; then it was said."""
        raise NotImplementedError

    async def catch_up(self, library: Library) -> None:
        """Take in what changed in the library."""
        raise NotImplementedError

    def action_export(self) -> None:
        """Export the marked memories, or all on show."""
        library, shelf = self.library, self.shelf
        chosen = [each.id for each in (shelf.targets() if shelf.marks else shelf.shown)]
        if library is None or not chosen:
            self.tell("There is no memory to export.")
            return

        wrote: list[Path] = []

        async def work(folder: Path) -> None:
            self.tell(f"Exported {await library.write_out(folder, chosen)}.")
            wrote.append(folder)

        def write(typed: str) -> Awaitable[None] | None:
            folder = Path(typed.strip()).expanduser()
            return work(folder) if typed.strip() and not _memories_in(folder) else None

        def replace(typed: str | None) -> None:
            folder = Path((typed or "").strip()).expanduser()
            if typed and typed.strip() and not wrote and (there := _memories_in(folder)):
                self.console_app.confirm(
                    f"Replace {' and '.join(there)} there?",
                    f"{folder} holds memories already.",
                    lambda: self.console_app.start(work(folder)),
                )

        title = f"Export {counted(len(chosen))}"
        self.console_app.ask_words(title, "a folder; esc: not", replace, take=write)

    def action_import(self) -> None:
        """Import memories from a file or a folder."""
        library = self.library
        if library is None or self.refused():
            return

        async def work(path: Path) -> None:
            self.tell(await library.take_in([path]))
            await self.catch_up(library)

        def take_in(path: str) -> Awaitable[None] | None:
            return work(Path(path.strip()).expanduser()) if path.strip() else None

        self.console_app.ask_words(
            "Import memories", "a file, or a folder that an export wrote; esc: not", take=take_in
        )


def _memories_in(folder: Path) -> list[str]:
    from core.memory.jsonl import FILES

    return [name for name in FILES.values() if (folder / name).exists()]
