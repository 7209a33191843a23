"""When two SQL texts are the same: the canonical text behind repeats, deltas and hashes.

sqlglot serves comparison alone and is never a gate: what it cannot read is compared token by
token. Where equality is in doubt two texts stay different, since a wrong "equal" would withhold
a query from the judge while a wrong "different" costs one execution.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST_PARSED = 20_000
"""Characters; sqlglot reads about 130 kB a second, so longer texts are compared by tokens."""

DEEPEST_PARSED = 20
"""Levels of nesting; sqlglot recurses some 25 frames a level, and how many frames are free depends
on the caller. A fixed bound makes the same text give the same answer everywhere."""

_QUERY_STARTS = ("select", "with", "values", "(")
_OPENERS = frozenset({"(", "case"})
_CLOSERS = frozenset({")", "end"})
_PREFIXES = frozenset({"not", "-", "+", "~"})
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")

_RESERVED_WORDS = """
    add all alter and any as asc autoincrement between by case cast check collate commit
    connect_by_root constraint create cross cube current_date current_time current_timestamp
    current_user default deferrable delete desc describe distinct drop else end escape except
    exists false fetch filter for foreign from full glob grant group having if ilike in index
    indexed inner insert intersect interval into is isnull join lateral left like limit lock match
    natural not nothing notnull null offset on or order outer over partitioned_by primary qualify
    recursive references regexp returning revoke right rlike rollback rollup select set table
    tablesample then to transaction true uncache union unique update using values when where
    window with xor
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())
"""Names that keep their quotes: SQLite's reserved words, and what sqlglot reads as something else
than a name when it stands bare."""

_DOUBTFUL = "\ue000"
"""Marks a name in double quotes on its way through the parser; a text that contains this private
character already is compared by tokens."""

_TOKEN = re.compile(
    r"""
      (?P<space> \s+ | --[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<string> '(?:[^']|'')*(?:'|\Z) | "(?:[^"]|"")*(?:"|\Z) )
    | (?P<tick> `(?:[^`]|``)*` )
    | (?P<bracket> \[[^\]]*\] )
    | (?P<open> [`\[].* )
    | (?P<blob> [xX]'[^']*' )
    | (?P<number> (?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\w* )
    | (?P<word> [^\W\d][\w$]* | [?:@$]\w+ )
    | (?P<operator> \|\| | <> | <= | >= | == | != | << | >> | ->> | -> | . )
    """,
    re.VERBOSE | re.DOTALL,
)

_FOLDED = frozenset({"word", "number", "blob", "tick"})

_IDLE = frozenset({"inner", "outer", "asc", "as", "isnull", "notnull", "nulls", "first", "last"})
"""Words that may be left out, or are written as others, where that changes nothing."""
_SAME_WORD = {
    "integer": "int", "float": "real", "double": "real", "numeric": "decimal",
    "substr": "substring", "ifnull": "coalesce",
}  # fmt: skip
"""Words that SQLite itself takes for each other."""

_SAME_OPERATOR = {"!=": "<>", "==": "="}


def normalised(sql: str) -> str:
    """The canonical text of `sql`: two texts are the same query iff these are equal.

    Keywords and names are folded as SQLite folds them (ASCII case only), comments, spacing and a
    closing semicolon are gone, `!=` reads `<>`, quotes around plain names are dropped. Literals
    keep every character, and so does a bare "name" in double quotes, which SQLite reads as a
    string where no column has that name. Never raises; linear in the length of the text.
    """
    return _normalised(sql)


def parsed(sql: str) -> exp.Query | None:
    """The syntax tree of one query, names folded; None where sqlglot cannot or should not read it.

    The tree is the caller's own. A double-quoted bare name has `meta["doubtful"]`.
    """
    tree = shared_tree(sql)
    return None if tree is None else tree.copy()


def written(node: exp.Expr) -> str:
    """The canonical text of a part of a tree. Raises what sqlglot raises, RecursionError included."""
    return str(_generator().generate(node))


def tokens(sql: str) -> Iterator[str]:
    """The folded tokens of any text at all, comments and spacing left out. Never raises."""
    return (token for token, _, _ in spans(sql))


def spans(sql: str) -> Iterator[tuple[str, int, int]]:
    """As `tokens`, each with where it begins and ends in the text."""
    for match in _TOKEN.finditer(sql):
        kind, text = match.lastgroup, match.group()
        if kind == "space":
            continue
        token = _SAME_OPERATOR.get(text, text)
        if kind in _FOLDED:
            token = fold(text)
        elif kind == "bracket":
            token = _ticked(fold(text[1:-1]))
        yield token, match.start(), match.end()


def fold(name: str) -> str:
    """A name as SQLite compares it: ASCII letters in lower case, all others as they are."""
    # `lower` alone is ten times as fast, and nearly every name is ASCII; a schema has thousands.
    return name.lower() if name.isascii() else name.translate(_ASCII_LOWER)


@lru_cache(maxsize=4096)
def _normalised(sql: str) -> str:
    tree, by_tokens = shared_tree(sql), _by_tokens(sql)
    if tree is not None:
        # Whatever trouble the library has, the text can still be compared by tokens.
        with suppress(Exception):
            canonical = written(tree)
            # It writes other dialects' words as SQLite's: LEN as LENGTH, which fails where that runs.
            if _Words.of(canonical).hold(_Words.of(by_tokens)):
                return canonical
    return by_tokens


class _Words(NamedTuple):
    """What a text's names and keywords are, each as often as it stands there."""

    every: Counter[str]
    called: Counter[str]
    """Those with a bracket after them."""

    @classmethod
    def of(cls, sql: str) -> _Words:
        """The words of a text."""
        words: list[str] = []
        called: list[str] = []
        for token in tokens(sql):
            if token == "(" and words and words[-1]:
                called.append(words[-1])
            word = token.strip("`") if token[0] in "_`" or token[0].isalpha() else ""
            words.append(_SAME_WORD.get(word, word))
        return cls(Counter(filter(None, words)), Counter(called))

    def hold(self, others: _Words) -> bool:
        """Whether these are all of the others, but for words that change nothing."""
        missing = {*(others.every - self.every), *(others.called - self.called)}
        return missing <= _IDLE


def _by_tokens(sql: str) -> str:
    folded = list(tokens(sql))
    while folded and folded[-1] == ";":
        folded.pop()
    return " ".join(folded)


@lru_cache(maxsize=1024)
def shared_tree(sql: str) -> exp.Query | None:
    """As `parsed`, without the copy: for readers that change nothing."""
    # The folded text is what gets parsed, so that a text and its canonical form meet the same fate.
    text = _by_tokens(sql)
    if not _readable(text):
        return None
    from sqlglot import exp

    try:
        statements = [tree for tree in _trees(text) if tree is not None]
        if len(statements) != 1 or not isinstance(statements[0], exp.Query):
            return None
        return _canonical(statements[0])
    except Exception:
        # The parser meets hostile text: its own defects count as "cannot read" like any error.
        return None


def _readable(text: str) -> bool:
    """Whether the parser may have a try: a query by its first word, short and flat enough."""
    if len(text) > LONGEST_PARSED or _DOUBTFUL in text:
        return False
    if not text.startswith(_QUERY_STARTS):
        return False
    depth = run = 0
    for token in text.split(" "):
        depth += (token in _OPENERS) - (token in _CLOSERS)
        run = run + 1 if token in _PREFIXES else 0
        if depth > DEEPEST_PARSED or run > DEEPEST_PARSED:
            return False
    return True


def _trees(sql: str) -> list[Any]:
    from sqlglot.dialects.sqlite import SQLite

    dialect = SQLite()
    stream = dialect.tokenize(sql)
    for token in stream:
        if token.token_type.name == "IDENTIFIER" and sql[token.start] == '"':
            token.text = _DOUBTFUL + token.text
    return list(dialect.parser().parse(stream, sql))


def _canonical(tree: exp.Query) -> exp.Query:
    """Fold names, and drop the words that change nothing: INNER, OUTER, ASC."""
    from sqlglot import exp

    for node in tree.walk():
        node.comments = None
        if isinstance(node, exp.Identifier):
            _fold_identifier(node)
        elif isinstance(node, exp.Join):
            if node.args.get("kind") in ("INNER", "OUTER"):
                node.set("kind", None)
        elif isinstance(node, exp.Ordered):
            node.set("desc", node.args.get("desc") or None)
        elif isinstance(node, exp.WindowSpec):
            for part in ("kind", "start_side", "end_side"):
                side = node.args.get(part)
                node.set(part, side.upper() if isinstance(side, str) else side)
        elif isinstance(node, exp.Anonymous) and isinstance(node.this, str):
            node.set("this", fold(node.this))
    return tree


def _fold_identifier(node: exp.Identifier) -> None:
    from sqlglot import exp

    name = node.name
    doubtful = name.startswith(_DOUBTFUL)
    if doubtful:
        name = name[1:]
        column = node.parent
        doubtful = isinstance(column, exp.Column) and not column.table and node.arg_key == "this"
    node.set("this", name if doubtful else fold(name))
    # A reserved word keeps its quotes or their absence: SQLite refuses the bare one.
    node.set("quoted", doubtful or (bool(node.args.get("quoted")) and not _plain(fold(name))))
    node.meta["doubtful"] = doubtful


def _plain(name: str) -> bool:
    return _PLAIN.match(name) is not None and name not in _RESERVED


def _ticked(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@cache
def _generator() -> Any:
    from sqlglot import exp
    from sqlglot.dialects.sqlite import SQLite
    from sqlglot.errors import ErrorLevel
    from sqlglot.generator import Generator

    class CanonicalGenerator(SQLite.Generator):  # type: ignore[misc,valid-type]
        """SQLite's text without the conversions that would make different queries look equal."""

        TYPE_MAPPING = {exp.DataType.Type.VARBINARY: "BLOB", exp.DataType.Type.DOUBLE: "REAL"}
        TRANSFORMS = {
            kind: write for kind, write in SQLite.Generator.TRANSFORMS.items() if kind is not exp.Cast
        }

        def identifier_sql(self, expression: exp.Identifier) -> str:
            if not expression.args.get("quoted"):
                return str(expression.name)
            if expression.meta.get("doubtful"):
                return '"' + expression.name.replace('"', '""') + '"'
            return _ticked(expression.name)

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            return str(Generator.cast_sql(self, expression, safe_prefix))

    return CanonicalGenerator(
        dialect=SQLite(),
        comments=False,
        normalize_functions="upper",
        unsupported_level=ErrorLevel.RAISE,
    )
