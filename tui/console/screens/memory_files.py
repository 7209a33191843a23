"""Memories as files: what the Memory screen exports and imports."""

from __future__ import annotations

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

        def write(folder: str | None) -> None:
            if folder and folder.strip():
                self._write_out(library, Path(folder.strip()).expanduser(), chosen)

        self.console_app.ask_words(f"Export {counted(len(chosen))}", "a folder; esc: not", write)

    def _write_out(self, library: Library, folder: Path, chosen: list[str]) -> None:
        from core.memory.jsonl import FILES

        async def work() -> None:
            self.tell(f"Exported {await library.write_out(folder, chosen)}.")

        there = [name for name in FILES.values() if (folder / name).exists()]
        if there:
            self.console_app.confirm(
                f"Replace {' and '.join(there)} there?",
                f"{folder} holds memories already.",
                lambda: self.console_app.start(work()),
            )
        else:
            self.console_app.start(work())

    def action_import(self) -> None:
        """Import memories from a file or a folder."""
        library = self.library
        if library is None or self.refused():
            return

        async def work(path: Path) -> None:
            self.tell(await library.take_in([path]))
            await self.catch_up(library)

        def take_in(path: str | None) -> None:
            if path and path.strip():
                self.console_app.start(work(Path(path.strip()).expanduser()))

        self.console_app.ask_words(
            "Import memories", "a file, or a folder that an export wrote; esc: not", take_in
        )
