"""Statements that a hostile model might write, each with the outcome it must have.

`cases()` yields them, `build(path)` makes the database that they are meant for, and
`untouched(database)` proves that running them left no trace; so any path that executes SQL can
be put through the same corpus.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.database.rows import Execution, Outcome
from tests.core.database.hostile_bombs import BOMBS, STOPPED_FAMILIES
from tests.core.database.hostile_refusals import REFUSALS

SHORT, PATIENT = 0.2, 10.0
"""Deadlines in seconds: for what must be stopped, and for what ends by itself."""


@dataclass(frozen=True)
class Case:
    """One statement; `says` must be in the error."""

    family: str
    sql: str
    outcomes: frozenset[Outcome]
    says: str = ""
    deadline: float = PATIENT

    def problem(self, execution: Execution, seconds: float) -> str:
        """What is wrong with how it ended, in one line; "" where all is as written."""
        ended = f"{execution.outcome.value} {execution.error[:80]!r} after {seconds:.2f} s"
        right = execution.outcome in self.outcomes and self.says in execution.error
        in_time = seconds < self.deadline + 1.0
        return "" if right and in_time else f"{self.family}: {self.sql[:80]!r} ended as {ended}"


def cases() -> Iterator[Case]:
    """Every hostile statement with what must become of it."""
    for family, (outcomes, says, statements) in (REFUSALS | BOMBS).items():
        deadline = SHORT if family in STOPPED_FAMILIES else PATIENT
        for sql in statements:
            yield Case(family, sql, outcomes, says, deadline)


def build(path: Path) -> Path:
    """The small real database that the corpus names: customers, orders, a view, an index, a
    trigger."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            """
            BEGIN;
            CREATE TABLE customers (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, city TEXT);
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id), amount REAL,
                note TEXT
            );
            CREATE VIEW totals AS SELECT customer, sum(amount) AS total FROM orders GROUP BY customer;
            CREATE INDEX by_customer ON orders (customer);
            CREATE TRIGGER note_orders AFTER INSERT ON orders BEGIN
                UPDATE orders SET note = 'noted' WHERE id = new.id AND note IS NULL;
            END;
            """
        )
        customers = [(f"Customer {n}", f"City {n % 7}") for n in range(50)]
        connection.executemany("INSERT INTO customers (name, city) VALUES (?, ?)", customers)
        orders = [(n % 50 + 1, n * 1.5, f"order number {n}") for n in range(1_000)]
        connection.executemany("INSERT INTO orders (customer, amount, note) VALUES (?, ?, ?)", orders)
    return path


@contextmanager
def untouched(database: Path, *folders: Path) -> Iterator[None]:
    """The database keeps its bytes, and no file appears in its folder or in `folders`."""
    watched = (database.parent, *folders)
    before = _digest(database), [_listing(folder) for folder in watched]
    yield
    assert (_digest(database), [_listing(folder) for folder in watched]) == before


def _digest(database: Path) -> str:
    return hashlib.sha256(database.read_bytes()).hexdigest()


def _listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
