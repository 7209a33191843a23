"""Databases by hand: what a person reads and tries while a question is open. It has a sandbox of its
own, so that nobody waits for the run's statements."""

from __future__ import annotations

import asyncio

from core.database.files import DatabaseFolder
from core.database.rows import ResultTable, clipped
from core.database.sandbox import DISPLAY, Sandbox
from core.database.schema import Schema, Table, quoted, read_schema

_SAMPLE = 6
"""Rows that give an idea of a table."""


class Workbench:
    """Schemas, sample rows, and statements of one's own. Nothing is ever written."""

    def __init__(self, folder: DatabaseFolder, deadline: float = 10.0) -> None:
        """`deadline` is in seconds."""
        self.folder = folder
        self._deadline = deadline
        self._schemas: dict[str, Schema] = {}
        self._sandbox: Sandbox | None = None

    async def schema(self, database: str) -> Schema:
        """A database's schema. Raises MeritoError where it cannot be read."""
        if database not in self._schemas:
            path = self.folder.path(database)
            self._schemas[database] = await asyncio.to_thread(read_schema, path)
        return self._schemas[database]

    async def run(self, database: str, sql: str) -> ResultTable:
        """What one reading statement returns, or why it does not run. Raises MeritoError where the
        database cannot be used."""
        if self._sandbox is None:
            self._sandbox = Sandbox()
        path = self.folder.path(database)
        execution = await self._sandbox.execute(path, sql, deadline=self._deadline, caps=DISPLAY)
        return clipped(execution)

    async def sample(self, database: str, table: Table) -> ResultTable:
        """The first rows of a table."""
        return await self.run(database, f"SELECT * FROM {quoted(table.name)} LIMIT {_SAMPLE}")

    async def close(self) -> None:
        """End the sandbox."""
        if self._sandbox is not None:
            await self._sandbox.close()
            self._sandbox = None
