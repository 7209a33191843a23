"""What a gold query consists of, read from its syntax tree: which keys its specification has, which
constructs no key covers, and a specification made without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from core.database.schema import Schema
from core.selection.specification import (
    PARTS,
    Aggregation,
    ConditionalAndNull,
    ExtraKeyword,
    FilterSemantics,
    Format,
    JoinPath,
    NullConstruct,
    OrderingAndScope,
    OutputForm,
    QueryConstraints,
    ResultShape,
    SchemaGrounding,
    Specification,
)
from core.sql import fold, parsed, tokens, written

if TYPE_CHECKING:
    from sqlglot import exp

_MOST = 40
_WORD = re.compile(r"[a-z_]\w*\Z")
_COVERED_FUNCTIONS = frozenset(
    {"count", "sum", "avg", "min", "max", "iif", "coalesce", "ifnull", "nullif"}
)
_NO_FUNCTIONS = frozenset(
    """
    all and any as between by case cross distinct else except exists filter from glob group having
    in inner intersect is join left like limit match natural not offset on or order outer over partition
    regexp right select set then union using values when where with cast
    """.split()  # noqa: SIM905 - a table of words
)
"""Words before a parenthesis that call nothing, or that the tree tells better."""


class Anatomy:
    """One gold query, taken apart. `schema` helps to tell whose an unqualified column is."""

    def __init__(self, gold: str, question: str = "", schema: Schema | None = None) -> None:
        self._gold, self._question, self._schema = gold, question.casefold(), schema
        self._tree: Any = parsed(gold)
        self._words = list(tokens(gold))
        if self._tree is not None:
            self._qualify()

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of its specification, in the table's order. A query that cannot be parsed has
        those that every query has."""
        there = {"output_form", "query_constraints"}
        if self._tree is not None:
            there |= {key for key, kinds in _SIGNS.items() if self._tree.find(*_kinds(kinds))}
        if self._null_construct:
            there.add("conditional_and_null")
        return tuple(key for key in PARTS if key in there)

    @cached_property
    def constructs(self) -> tuple[str, ...]:
        """Constructs that no other key covers, in capitals, sorted."""
        if self._tree is None:
            return ()
        found = {name for name, kinds in _EXTRAS.items() if self._tree.find(*_kinds(kinds))}
        if self._has_subquery():
            found.add("SUBQUERY")
        return tuple(sorted(found | set(self._functions())))

    def rebuilt(self) -> Specification:
        """The specification as far as the tree tells it: deterministic, and always valid."""
        made = {key: getattr(self, f"_{key}")() for key in self.keys}
        extras = tuple(
            ExtraKeyword(keyword=name, usage=f"The correct query uses {name}.")
            for name in self.constructs
        )
        return Specification(**made, extra_keywords=extras)

    # The keys

    def _schema_grounding(self) -> SchemaGrounding:
        named = (column for column in self._all("Column") if not _is_text(column))
        columns = dict.fromkeys(map(_text, named))
        mappings = [f"{self._phrase(name)} -> {name}" for name in columns if name.strip("*")]
        if not mappings:
            mappings = [f"{self._phrase(each.name)} -> {each.name}" for each in self._all("Table")]
        return SchemaGrounding(mappings=tuple(mappings[:_MOST]))

    def _join_path(self) -> JoinPath:
        joins = list(self._all("Join"))
        kinds = [" ".join(filter(None, (each.side, each.kind))) or "INNER" for each in joins]
        return JoinPath(
            paths=tuple(self._path(join) for join in joins)[:_MOST], join_types=tuple(kinds)[:_MOST]
        )

    def _filter_semantics(self) -> FilterSemantics:
        parts = [part for where in self._all("Where") for part in _conjuncts(where.this)]
        return FilterSemantics(conditions=tuple(filter(None, map(_text, parts)))[:_MOST] or ("?",))

    def _aggregation(self) -> Aggregation:
        aggregates = list(self._tree.find_all(*_kinds(_AGGREGATES))) if self._tree else []
        havings = [_text(having.this) for having in self._all("Having")]
        return Aggregation(
            group_by_columns=tuple(_text(e) for g in self._all("Group") for e in g.expressions)[:_MOST],
            aggregate_functions=tuple(dict.fromkeys(map(_text, aggregates)))[:_MOST],
            having_condition=" AND ".join(havings),
            distinct_within_aggregate=any(
                type(each.this).__name__ == "Distinct" for each in aggregates
            ),
        )

    def _ordering_and_scope(self) -> OrderingAndScope:
        ordered = [_text(each) for order in self._all("Order") for each in order.expressions]
        limits, offsets = ([_text(e.expression) for e in self._all(k)] for k in ("Limit", "Offset"))
        return OrderingAndScope(
            order_by=tuple(ordered)[:_MOST],
            limit=limits[0] if limits else "",
            offset=offsets[0] if offsets else "",
        )

    def _conditional_and_null(self) -> ConditionalAndNull:
        assert self._null_construct
        return ConditionalAndNull(construct=self._null_construct)

    def _output_form(self) -> OutputForm:
        select = self._first_select()
        if select is None:
            return OutputForm(
                result_shape="multiple_rows", return_columns=("as the query selects them",)
            )
        columns = [_text(each.unalias()) or "*" for each in select.expressions]
        return OutputForm(
            result_shape=_shape(select, self._tree),
            return_columns=tuple(columns)[:_MOST] or ("*",),
            distinct=select.args.get("distinct") is not None,
            format=self._format(select),
        )

    def _query_constraints(self) -> QueryConstraints:
        """What the query does without, and what it has that is easily got wrong."""
        select = self._first_select()
        there = self.keys
        return QueryConstraints(
            avoid_unnecessary_distinct=select is not None and select.args.get("distinct") is None,
            avoid_extra_join="join_path" not in there,
            avoid_wrong_aggregation_column="aggregation" in there,
            avoid_extra_filter=True,
            prefer_schema_defined_columns=True,
        )

    # How

    @cached_property
    def _null_construct(self) -> NullConstruct | None:
        names: tuple[NullConstruct, ...] = get_args(NullConstruct)
        words = set(self._words)
        return next((name for name in names if name.casefold() in words), None)

    def _all(self, kind: str) -> Iterator[Any]:
        return iter(()) if self._tree is None else self._tree.find_all(*_kinds((kind,)))

    def _qualify(self) -> None:
        """Every column says its table's name in place of an alias."""
        tables = {each.alias_or_name: each.name for each in self._all("Table")}
        names = sorted(set(tables.values()))
        for column in [each for each in self._all("Column") if not _is_text(each)]:
            owner = tables.get(column.table) if column.table else self._owner(column.name, names)
            if owner:
                from sqlglot import exp

                column.set("table", exp.to_identifier(owner))

    def _owner(self, column: str, tables: list[str]) -> str | None:
        if len(tables) == 1:
            return tables[0]
        if self._schema is None:
            return None
        owners = {fold(table.name) for table in self._schema.tables_with(column)}
        having = [name for name in tables if fold(name) in owners]
        return having[0] if len(having) == 1 else None

    def _phrase(self, name: str) -> str:
        """The words of a name, as the question has them where it has them."""
        words = name.rpartition(".")[2].strip('`"').replace("_", " ")
        place = self._question.find(words.casefold())
        return self._question[place : place + len(words)] if place >= 0 else words

    def _path(self, join: Any) -> str:
        other = join.this.alias_or_name if join.this is not None else ""
        on = join.args.get("on")
        columns = [] if on is None else [c for c in on.find_all(*_kinds(("Column",))) if c.table]
        tables = list(dict.fromkeys(column.table for column in columns))
        if len(tables) >= 2:
            keys = " = ".join(dict.fromkeys(column.name for column in columns[:2]))
            return f"{tables[0]} --({keys})--> {tables[1]}"
        return f"--> {getattr(join.this, 'name', '') or other}"

    def _first_select(self) -> Any:
        return next(self._all("Select"), None)

    def _has_subquery(self) -> bool:
        return any(
            each.parent is not None and not isinstance(each.parent, _kinds(("SetOperation", "CTE")))
            for each in self._all("Select")
        )

    def _functions(self) -> Iterator[str]:
        defined = {each.alias for each in self._all("CTE")}
        for word, following in zip(self._words, self._words[1:], strict=False):
            known = _COVERED_FUNCTIONS | _NO_FUNCTIONS | defined
            if following == "(" and _WORD.match(word) and word not in known:
                yield word.upper()

    def _format(self, select: Any) -> Format:
        if not select.expressions:
            return "custom"
        first = select.expressions[0].unalias()
        name = str(getattr(first, "name", "")).casefold()
        if isinstance(first, _kinds((*_AGGREGATES, "Binary"))):
            return "number"
        for word, form in _FORMATS.items():
            if name == word or name.endswith(f"_{word}"):
                return form
        return "number" if self._is_number(first) else "text"

    def _is_number(self, column: Any) -> bool:
        table = self._schema.table(str(getattr(column, "table", ""))) if self._schema else None
        found = table.column(str(column.name)) if table else None
        kind = found.type.upper() if found else ""
        return any(mark in kind for mark in ("INT", "REAL", "NUM", "FLOA", "DOUB"))


_AGGREGATES = ("Count", "Sum", "Avg", "Min", "Max")
"""Those that the key `aggregation` covers; others are extra constructs."""

_OTHER_AGGREGATE = "total"
"""SQLite's own, in which the library sees no aggregate."""

_FORMATS: dict[str, Format] = {"year": "year", "id": "id", "percentage": "percentage"}

_SIGNS: dict[str, tuple[str, ...]] = {
    "schema_grounding": ("Table",),
    "join_path": ("Join",),
    "filter_semantics": ("Where",),
    "aggregation": (*_AGGREGATES, "Group", "Having"),
    "ordering_and_scope": ("Order", "Limit", "Offset"),
}
"""Key -> the nodes that it is there for."""

_EXTRAS: dict[str, tuple[str, ...]] = {
    "UNION": ("Union",),
    "INTERSECT": ("Intersect",),
    "EXCEPT": ("Except",),
    "EXISTS": ("Exists",),
    "WITH": ("CTE",),
    "OVER": ("Window",),
    "CAST": ("Cast",),
    "||": ("DPipe",),
    "GLOB": ("Glob",),
    "COLLATE": ("Collate",),
}


def _kinds(names: tuple[str, ...]) -> tuple[type[exp.Expression], ...]:
    """sqlglot's classes of those names; the library is loaded with the first query."""
    from sqlglot import exp

    return tuple(getattr(exp, name) for name in names)


def _is_text(column: Any) -> bool:
    """Whether a bare name in double quotes stands for a text, as in most of Spider's queries."""
    return bool(column.this.meta.get("doubtful"))


def _conjuncts(condition: Any) -> list[Any]:
    """The parts of a condition that all must hold."""
    if not isinstance(condition, _kinds(("And",))):
        return [condition]
    return [*_conjuncts(condition.this), *_conjuncts(condition.expression)]


def _text(node: Any) -> str:
    """A node as SQL; whatever trouble the library has with one, the rest is still told."""
    with suppress(Exception):
        return str(written(node))
    return ""


def _shape(select: Any, tree: Any) -> ResultShape:
    """One row comes of LIMIT 1, of an aggregate over everything (in SQLite with plain columns beside
    it, too), and of a SELECT without a table; what is combined of several queries has more."""
    limit = tree.args.get("limit")
    one = limit is not None and _text(limit.expression) == "1"
    if not one and not isinstance(tree, _kinds(("SetOperation",))):
        alone = not (select.args.get("from_") or select.args.get("from"))
        one = select.args.get("group") is None and (alone or _aggregates(select))
    if not one:
        return "multiple_rows"
    return "single_value" if len(select.expressions) == 1 else "single_row"


def _aggregates(select: Any) -> bool:
    """Whether what it selects is an aggregate of all its rows: not of a window, which has a value
    for each row, and not of a query within."""
    return any(
        not _is_windowed(each) and each.find_ancestor(*_kinds(("Select",))) is select
        for selected in select.expressions
        for each in selected.find_all(*_kinds(("AggFunc", "Anonymous")))
        if type(each).__name__ != "Anonymous" or each.name.casefold() == _OTHER_AGGREGATE
    )


def _is_windowed(aggregate: Any) -> bool:
    holder = aggregate.parent
    if isinstance(holder, _kinds(("Filter",))):
        holder = holder.parent
    return isinstance(holder, _kinds(("Window",)))
