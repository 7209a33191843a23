"""The seeded choices that generated rows are made of."""

from __future__ import annotations

import json
import random
from datetime import date, timedelta
from pathlib import Path

Row = tuple[object, ...]
Tables = dict[str, list[Row]]


class Draw(random.Random):
    """A random source; the same seed gives the same rows with every version of Python."""

    def odds(self, probability: float) -> bool:
        """True with the given probability."""
        return self.random() < probability

    def low(self, count: int) -> int:
        """A number below `count`, the smaller of two: so a few things happen often, most rarely."""
        return min(self.randrange(count), self.randrange(count))

    def day(self, first: date, days: int) -> date:
        """One of the `days` days from `first` on."""
        return first + timedelta(days=self.randrange(days))

    def people(self, count: int) -> list[tuple[str, str]]:
        """`count` different pairs of an invented person's given name and family name."""
        names = json.loads(Path(__file__).with_name("people.json").read_text(encoding="utf-8"))
        pairs = [(given, family) for given in names["given"] for family in names["family"]]
        return [pairs.pop(self.randrange(len(pairs))) for _ in range(count)]
