"""Names: how hints write them, and which of the schema's are nearest to a wrong one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest

from core.database.schema import ForeignKey, Schema, Table, quoted

MOST_NAMES = 6
"""A list of guesses that is longer is not read."""
MOST_OWNERS = 30
"""Owners are facts, and the one that was meant must be among them."""
PREFERENCE = 20.0
"""What similarity a column gains where the query uses its table already."""
NEAR = 60.0
"""Similarity in percent below which a name is not called near."""
PART = 70.0
"""Similarity of a name that is a part of another: name in CountryName."""
SHORTEST_PART = 3
SPREAD = 30.0
"""How far behind the nearest a name may be and still be named."""

_JOINING = " _-."


def shown(*parts: str) -> str:
    """A name as SQL may write it, its parts joined by dots: back-quotes where it is odd, because
    SQLite reads a wrong name in double quotes as a text."""
    return ".".join(part if quoted(part) == part else f"`{part}`" for part in parts)


def listed(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """Some names as a list, with the number of those left out."""
    every = list(dict.fromkeys(names))
    left_out = len(every) - most
    return ", ".join(every[:most]) + (f" (and {left_out} more)" if left_out > 0 else "")


def folded(names: Sequence[str]) -> list[str]:
    """The names without case and without what joins their words."""
    return [_run_together(name).casefold() for name in names]


def _run_together(name: str) -> str:
    # `str.translate` takes five times as long, and a schema has thousands of names.
    for joining in _JOINING:
        name = name.replace(joining, "")
    return name


def nearest(wrong: str, names: Sequence[str]) -> dict[int, float]:
    """Indexes of the names like `wrong`, best first, each with its similarity in percent."""
    from rapidfuzz import fuzz, process

    wanted, own = folded([wrong])[0], folded(names)
    scores = {
        index: score
        for _, score, index in process.extract(
            wanted, own, scorer=fuzz.ratio, score_cutoff=NEAR, limit=None
        )
    }
    if len(wanted) >= SHORTEST_PART:
        for index, name in enumerate(own):
            if wanted in name:
                scores[index] = max(scores.get(index, 0.0), PART)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def nearest_columns(wrong: str, schema: Schema, first: Sequence[str]) -> list[tuple[Table, str]]:
    """The columns most like `wrong`, also read as table and column in one word (stadium_name);
    those of the tables named in `first` before others that are about as near."""
    places = [(table, column.name) for table in schema.tables for column in table.columns]
    own = nearest(wrong, [name for _, name in places])
    whole = nearest(wrong, [table.name + name for table, name in places])
    best = {
        index: max(own.get(index, 0.0), whole.get(index, 0.0))
        + (PREFERENCE if places[index][0].name in first else 0.0)
        for index in own | whole
    }
    ranked = nlargest(MOST_NAMES, best, key=lambda index: (best[index], -index))
    return [places[index] for index in ranked if best[index] > best[ranked[0]] - SPREAD]


def nearest_first(schema: Schema, tables: Iterable[Table], starts: Sequence[Table]) -> list[Table]:
    """Tables by how many joins lead to them from one of `starts`, which come first themselves."""

    def distance(table: Table) -> int:
        paths = (schema.join_path(start.name, table.name) for start in starts)
        return min((len(path) for path in paths if path is not None), default=len(schema.tables))

    return sorted(tables, key=distance)


def join_sentence(path: Sequence[ForeignKey], start: str, end: str) -> str:
    """How two tables join along a chain of foreign keys."""
    steps = " and ".join(
        f"{shown(key.table, column)} = {shown(key.to_table, other)}"
        for key in path
        for column, other in zip(key.columns, key.to_columns, strict=False)
    )
    return f"{shown(start)} and {shown(end)} join by {steps}."
