"""Two queries compared clause by clause, in lines that read well to a person and a small model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs
from sqlglot import exp

from core.memory.clauses import (
    Chain,
    Clauses,
    Part,
    Source,
    Tail,
    chain,
    clauses,
    rename,
    spelled_out,
    subqueries,
)
from core.memory.matching import Text, moves, pairs, take_shared, without
from core.memory.token_delta import clipped, token_delta
from core.sql import written


def compared(old: exp.Query, new: exp.Query) -> tuple[str, ...]:
    """The changes from `old` to `new`; both trees are spelled out in place.

    Two queries that differ in aliases or qualifiers alone give one line that says so; where parts
    differ that are no clause of `Clauses`, the lines are those of a token delta.
    """
    was, became = spelled_out(old), spelled_out(new)
    lines = tuple(_queries(was, became))
    if lines:
        return lines
    before, after = _without_output_names(was), _without_output_names(became)
    if before == after:
        return ("replaced aliases or qualifiers, and nothing else",)
    return token_delta(before, after)


def _without_output_names(query: exp.Query) -> str:
    for select in chain(query).queries:
        if isinstance(select, exp.Select):
            select.set("expressions", [column.unalias() for column in select.expressions])
    return written(query)


def _queries(old: exp.Query, new: exp.Query) -> Iterator[str]:
    yield from _chains(chain(old), chain(new))


def _chains(old: Chain, new: Chain) -> Iterator[str]:
    yield from _ctes(old, new)
    first = _kept(old, new)
    for index, (was, became) in enumerate(
        zip(old.queries[first[0] :], new.queries[first[1] :], strict=False)
    ):
        where = f"in query {index + 1}: " if max(len(old.queries), len(new.queries)) > 1 else ""
        if min(len(old.queries), len(new.queries)) == 1:
            where = ""
        yield from (where + line for line in _selects(was, became))
    yield from _operators(old, new, first)
    yield from _tails(old.tail, new.tail)


def _kept(old: Chain, new: Chain) -> tuple[int, int]:
    """Where both chains begin to be compared: a single query may have become the second of two."""
    if len(old.queries) == 1 and len(new.queries) == 2 and old.queries[0] == new.queries[1]:
        return 0, 1
    if len(new.queries) == 1 and len(old.queries) == 2 and new.queries[0] == old.queries[1]:
        return 1, 0
    return 0, 0


def _operators(old: Chain, new: Chain, first: tuple[int, int]) -> Iterator[str]:
    for was, became in zip(old.operators, new.operators, strict=False):
        if was != became:
            yield f"replaced {was} -> {became}"
    for verb, longer, other, start in (
        ("removed", old, new, first[0]),
        ("inserted", new, old, first[1]),
    ):
        if start:
            yield f"{verb} {_shown(longer.queries[0])} {longer.operators[0]} in front"
            continue
        for index in range(len(other.queries), len(longer.queries)):
            yield f"{verb} {longer.operators[index - 1]} with {_shown(longer.queries[index])}"


def _ctes(old: Chain, new: Chain) -> Iterator[str]:
    for name, query in old.ctes.items():
        if name in new.ctes:
            yield from (f"in WITH {name}: {line}" for line in _queries(query, new.ctes[name]))
        else:
            yield f"removed WITH {name} AS ({_shown(query)})"
    for name, query in new.ctes.items():
        if name not in old.ctes:
            yield f"inserted WITH {name} AS ({_shown(query)})"


def _tails(old: Tail, new: Tail) -> Iterator[str]:
    yield from _parts("order by", old.order, new.order, in_order=True)
    yield from _setting("limit", old.limit, new.limit)
    yield from _setting("offset", old.offset, new.offset)


def _setting(name: str, was: str, became: str) -> Iterator[str]:
    if was and became and was != became:
        yield f"replaced {name} {was} -> {became}"
    elif became and not was:
        yield f"inserted {name} {became}"
    elif was and not became:
        yield f"removed {name} {was}"


def _selects(old: exp.Query, new: exp.Query) -> Iterator[str]:
    if not isinstance(old, exp.Select) or not isinstance(new, exp.Select):
        if old != new:
            yield f"replaced query {_shown(old)} -> {_shown(new)}"
        return
    was, became = _aligned(old, new)
    if was.distinct != became.distinct:
        yield "inserted distinct" if became.distinct else "removed distinct"
    yield from _parts("column", was.columns, became.columns, in_order=True)
    yield from _conditions(was, became)
    yield from _parts("grouping by", was.grouping, became.grouping, in_order=True)


def _aligned(old: exp.Select, new: exp.Select) -> tuple[Clauses, Clauses]:
    """Both clauses. Where one table took another's place, a part that differs by that alone counts
    as the same, so that the change is told once."""
    was, became = clauses(old), clauses(new)
    gone = without(was.sources, became.sources)
    come = without(became.sources, was.sources)
    if len(gone) != 1 or len(come) != 1 or gone[0].name == come[0].name:
        return was, became
    renamed = old.copy()
    rename(renamed, gone[0].name, come[0].name)
    moved = clauses(renamed)
    sources = tuple(
        structs.replace(s, conditions=_settled(s.conditions, m.conditions, _on(became.sources)))
        for s, m in zip(was.sources, moved.sources, strict=True)
    )
    settled = structs.replace(
        was,
        sources=sources,
        columns=_settled(was.columns, moved.columns, became.columns),
        predicates=_settled(was.predicates, moved.predicates, became.predicates),
        grouping=_settled(was.grouping, moved.grouping, became.grouping),
        having=_settled(was.having, moved.having, became.having),
    )
    return settled, became


def _settled(parts: Sequence[Part], renamed: Sequence[Part], new: Sequence[Part]) -> tuple[Part, ...]:
    known = {part.text for part in new}
    both = zip(parts, renamed, strict=True)
    return tuple(other if other.text in known else part for part, other in both)


def _on(sources: Iterable[Source]) -> tuple[Part, ...]:
    return tuple(part for source in sources for part in source.conditions)


def _conditions(old: Clauses, new: Clauses) -> Iterator[str]:
    """Sources, and the predicates of ON, WHERE and HAVING: these move between each other."""
    lines, joined_before, joined_after = _joins(old.sources, new.sources)
    yield from lines
    before = {"join condition": joined_before, "predicate": old.predicates, "having": old.having}
    after = {"join condition": joined_after, "predicate": new.predicates, "having": new.having}
    removed = {place: without(before[place], after[place]) for place in before}
    inserted = {place: without(after[place], before[place]) for place in after}
    for source in removed:
        for target in inserted:
            for part in take_shared(removed[source], inserted[target]):
                yield f"moved {clipped(part.text)} from {_PLACES[source]} to {_PLACES[target]}"
    for place in removed:
        yield from _changes(place, removed[place], inserted[place])


_PLACES = {"join condition": "ON", "predicate": "WHERE", "having": "HAVING"}


def _joins(
    old: Sequence[Source], new: Sequence[Source]
) -> tuple[list[str], tuple[Part, ...], tuple[Part, ...]]:
    """Lines about the sources, and the join conditions of those that both queries have."""
    old, new = _newest_last(old, new), _newest_last(new, old)
    gone = without(old, new)
    come = without(new, old)
    lines: list[str] = []
    if len(gone) == len(come) == 1:
        lines += _source_change(gone[0], come[0])
        gone, come = [], []
    lines += [f"removed {_joined(source, old)}" for source in gone]
    lines += [f"inserted {_joined(source, new)}" for source in come]
    lines += _kinds(old, new)
    if not lines:
        lines += _moved("table", old, new)
    kept_before = _on(source for source in old if source not in gone)
    kept_after = _on(source for source in new if source not in come)
    return lines, kept_before, kept_after


def _newest_last(sources: Sequence[Source], others: Sequence[Source]) -> Sequence[Source]:
    """`new JOIN known ON c` read as `known JOIN new ON c`, so that the condition tells of the table
    that only one query has."""
    if len(sources) < 2 or sources[1].join != "JOIN":
        return sources
    known = {source.text for source in others}
    first, second = sources[0], sources[1]
    if first.text in known or second.text not in known:
        return sources
    head = structs.replace(second, join="", conditions=())
    return (
        head,
        structs.replace(first, join="JOIN", conditions=second.conditions),
        *sources[2:],
    )


def _source_change(gone: Source, come: Source) -> Iterator[str]:
    if gone.query is not None and come.query is not None:
        where = f" {come.name}" if come.name else ""
        yield from (f"in the sub-query{where}: {line}" for line in _queries(gone.query, come.query))
    else:
        yield f"replaced table {clipped(gone.text)} -> {clipped(come.text)}"


def _joined(source: Source, among: Sequence[Source]) -> str:
    if len(among) == 1 or (source.join == "" and not source.conditions):
        return f"table {clipped(source.text)}"
    kind = source.join.lower() or "join"
    return f"{kind} {clipped(source.clause)}"


def _kinds(old: Sequence[Source], new: Sequence[Source]) -> Iterator[str]:
    """Joins of the same source in another way. The first source has no join of its own, so a mere
    change of order is no change of kind."""
    before = {source.text: source for source in old if source.join}
    for source in new:
        was = before.get(source.text)
        if was is None or not source.join or was.join == source.join:
            continue
        if {was.join, source.join} != {"CROSS JOIN", "JOIN"}:
            yield f"replaced {was.join} -> {source.join} of {clipped(source.text)}"


def _parts(name: str, old: Sequence[Part], new: Sequence[Part], *, in_order: bool) -> Iterator[str]:
    removed, inserted = without(old, new), without(new, old)
    if removed or inserted:
        yield from _changes(name, removed, inserted)
    elif in_order:
        yield from _moved(name, old, new)


def _changes(name: str, removed: list[Part], inserted: list[Part]) -> Iterator[str]:
    """Replacements of parts that are alike, then what is left of each side."""
    paired = pairs(removed, inserted, loose=name in ("column", "grouping by", "order by"))
    for was, became in paired:
        yield from _replacement(name, was, became)
    left = {id(part) for pair in paired for part in pair}
    yield from (f"removed {name} {clipped(p.text)}" for p in removed if id(p) not in left)
    yield from (f"inserted {name} {clipped(p.text)}" for p in inserted if id(p) not in left)


def _moved(name: str, old: Sequence[Text], new: Sequence[Text]) -> Iterator[str]:
    for text, before, after in moves(old, new):
        yield f"moved {name} {clipped(text)} from place {before} to {after}"


def _replacement(name: str, was: Part, became: Part) -> Iterator[str]:
    old, new = was.node, became.node
    inner_old, inner_new = subqueries(old), subqueries(new)
    if len(inner_old) == len(inner_new) == 1 and was.shell == became.shell:
        where = f"in the sub-query of {clipped(became.shell)}: "
        yield from (where + line for line in _queries(inner_old[0], inner_new[0]))
    elif _call(new) and new.this == old:
        yield f"inserted function {_function(new)} around {name} {clipped(was.text)}"
    elif _call(old) and old.this == new:
        yield f"removed function {_function(old)} around {name} {clipped(became.text)}"
    elif _call(old) and _call(new) and _function(old) != _function(new):
        yield f"replaced function {clipped(was.text)} -> {clipped(became.text)}"
    else:
        yield f"replaced {name} {clipped(was.text)} -> {clipped(became.text)}"


def _call(node: exp.Expr) -> bool:
    """Whether the node reads NAME(...): the library counts OR and CASE as functions, too."""
    return isinstance(node, exp.Func) and not isinstance(node, exp.Binary | exp.Case | exp.Cast)


def _function(node: exp.Expr) -> str:
    return written(node).split("(", 1)[0]


def _shown(query: exp.Query) -> str:
    return clipped(written(query))
