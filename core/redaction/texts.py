"""Texts without their values: literals in SQL, cells, and the same values where prose names them.

Of SQL only what is known to be harmless stays: its grammar, the schema's names, aliases of one
letter. Prose keeps its words but for numbers, quoted texts, names, and every value that SQL or rows
have shown. The same value becomes the same placeholder everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from core.database.guard import FUNCTIONS
from core.database.rows import Cell
from core.sql import fold

_GRAMMAR = """
    abort action after all always analyze and any as asc before begin between bigint blob
    boolean by cascade case cast check collate column commit conflict constraint create cross
    current default deferrable deferred delete desc distinct do double drop each else end escape
    except exclude exists explain false filter first fixed float following for foreign from full
    generated glob group groups having in index indexed inner insert instead int integer
    intersect into is isnull join key last left like limit match materialized natural no not
    nothing notnull null nulls numeric of offset on or order others outer over partition
    preceding precision primary query range real recursive references regexp restrict returning
    right rollback row rows select set smallint table temp text ties timestamp then tinyint to
    trigger true unbounded union unique update using values varchar view virtual when where
    window with without rowid nocase binary rtrim stored
"""
GRAMMAR = frozenset(_GRAMMAR.split()) | FUNCTIONS
"""Words of SQL that say nothing about anybody's data."""

_COMMON = """
    a about after all also among an and any are as at average be been before below between both
    but by calculate can compute could count did display do does each either every find for
    found from get give had has have having highest how i identify if in into is it its least
    less list lowest many maximum me mean minimum more most much name never no none not number
    of off old on only or order other out over people per percentage please provide rank return
    same select should show so state tell than that the their them then there these they this
    those to top total two under up was we were what when where whether which while who whom
    whose why will with without would year you your
"""
COMMON = frozenset(_COMMON.split())
"""Words that questions are made of: they stay where no capital letter would betray a name."""

_SQL = re.compile(
    r"""(?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z))
      | (?P<text> [xX]?'(?:[^']|'')*(?:'|\Z))
      | (?P<quoted> "(?:[^"]|"")*(?:"|\Z) | `(?:[^`]|``)*(?:`|\Z) | \[[^\]]*(?:\]|\Z))
      | (?P<number> (?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\w*)
      | (?P<word> [^\W\d][\w$]*)
      | (?P<other> \s+ | .)""",
    re.VERBOSE | re.DOTALL,
)
_PROSE = re.compile(
    r"""(?P<quoted> (?<!\w)'(?:[^']|''){0,400}'(?!\w) | "[^"]{0,400}" | `[^`]{0,400}`
                   | \u201c[^\u201d]{0,400}\u201d)
      | (?P<number> \d\w*(?:[.,:/\-]\d\w*)*)
      | (?P<word> [^\W\d][\w$]*)
      | (?P<other> \s+ | .)""",
    re.VERBOSE | re.DOTALL,
)
_ALIAS = re.compile(r"[A-Za-z]\d{0,2}")
_SENTENCE_ENDS = frozenset(".?!:")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NUMERIC = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LONGEST_PHRASE = 6
"""Words of a value that prose is searched for as a whole; a longer one is no name."""
_SHORTEST_NAME = 3
_CREATE = re.compile(
    r"\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|[\w$.]+)\s*\(",
    re.IGNORECASE,
)
"""With its bracket: a question may speak of creating a table, too."""


class Words:
    """What is known of a run's words: the schema's names, and the values with their placeholders."""

    def __init__(self) -> None:
        self._schema: set[str] = set()
        self._parts: set[str] = set()
        self._placeholders: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._phrases: dict[str, list[tuple[str, ...]]] = {}

    def learn_schema(self, text: str) -> None:
        """Take in the names of every CREATE TABLE in a text; its defaults and comments are none."""
        start = _CREATE.search(text)
        while start:
            start = _CREATE.search(text, self._learn_table(text, start.start()))

    def _learn_table(self, text: str, start: int) -> int:
        """The names of one statement; gives the place where it ends."""
        previous, depth, checked = "", 0, 0
        for match in _SQL.finditer(text, start):
            kind, token = match.lastgroup, match.group()
            if previous == "check" and token == "(":
                checked = depth + 1
            # In a CHECK, "Paris" is mostly a value.
            value = previous == "default" or (checked and token.startswith('"'))
            if kind in ("word", "quoted") and not value:
                self._name(_unquoted(token) if kind == "quoted" else token)
            previous = fold(token) if token.strip() else previous
            depth += (token == "(") - (token == ")")
            checked = checked if depth >= checked else 0
            if token == ";" or (token == ")" and depth <= 0):
                return match.end()
        return len(text)

    def learn_name(self, name: str) -> None:
        """A database's own name."""
        self._name(name)

    def learn_sql(self, sql: str) -> None:
        """Take in the values of a statement."""
        self.sql(sql)

    def learn_cells(self, rows: Iterable[Iterable[Cell]]) -> None:
        """Take in the values of a result."""
        for row in rows:
            for cell in row:
                self.cell(cell)

    def sql(self, sql: str) -> str:
        """A statement, or a piece of one, with nothing left but grammar and the schema's names."""
        return "".join(self._of_sql(kind, token) for kind, token in _tokens(_SQL, sql))

    def cell(self, cell: Cell) -> Cell:
        """A value of a result; NULL says nothing and stays."""
        return None if cell is None else self._value(str(cell))

    def prose(self, text: str, *, own: bool = False) -> str:
        """A question or a message without the values in it. `own` says that the sentences are the
        program's: then a capital at the beginning of one betrays nothing."""
        tokens = list(_tokens(_PROSE, text))
        out: list[str] = []
        index, opens = 0, True
        while index < len(tokens):
            kind, token = tokens[index]
            taken = self._phrase_at(tokens, index)
            if taken:
                token = "".join(each for _, each in tokens[index : index + taken])
                out.append(self._value(token))
            else:
                out.append(self._of_prose(kind, token, own and opens))
            opens = token in _SENTENCE_ENDS or (opens and token.isspace())
            index += taken or 1
        return "".join(out)

    def hidden(self, text: str, what: str) -> str:
        """A text that is replaced as a whole: the same text by the same placeholder."""
        return self._placeholder(f"{what}\0{text}", what) if text.strip() else ""

    def _name(self, name: str) -> None:
        folded = fold(name)
        if folded not in GRAMMAR:
            self._schema.add(folded)
            self._parts |= {part.casefold() for part in _NAME_PART.findall(name)}

    def _known(self, word: str) -> bool:
        return fold(word) in self._schema or fold(word) in GRAMMAR

    def _of_sql(self, kind: str, token: str) -> str:
        if kind == "comment":
            return "/* */"
        if kind == "text":
            return self._literal(token)
        if kind == "number":
            return f":{self._value(token)}"
        if kind == "quoted":
            name = _unquoted(token)
            return token if self._known(name) else f"{token[0]}{self._value(name)}{_CLOSED[token[0]]}"
        if kind == "word":
            return (
                token if self._known(token) or _ALIAS.fullmatch(token) else self._value(token, "name")
            )
        return token

    def _literal(self, token: str) -> str:
        start = token.index("'")
        value = _unquoted(token[start:])
        core = value.strip("%")
        if not core.strip():
            return token
        head, tail = value[: len(value) - len(value.lstrip("%"))], value[len(value.rstrip("%")) :]
        return f"'{head}{self._value(core)}{tail}'"

    def _of_prose(self, kind: str, token: str, first: bool) -> str:
        if kind == "quoted":
            inner = _unquoted(token)
            if not inner.strip() or self._known(inner):
                return token
            return f"{token[0]}{self._value(inner)}{token[-1]}"
        if kind == "number":
            return self._value(token)
        if kind == "word" and self._betrays(token, first):
            return self._value(token)
        return token

    def _betrays(self, word: str, first: bool) -> bool:
        folded = word.casefold()
        if self._known(word):
            return False
        if folded in self._placeholders and not (folded in COMMON and word.islower()):
            return True
        if folded in COMMON or _ALIAS.fullmatch(word) or self._of_schema(folded):
            return False
        return not first and not word.islower()

    def _of_schema(self, word: str) -> bool:
        """Whether it is a name's part, in the singular or the plural."""
        return any(form in self._parts for form in (word, word.removesuffix("s"), word + "s"))

    def _phrase_at(self, tokens: list[tuple[str, str]], index: int) -> int:
        """Tokens from here that are a value of several words; 0 where they are none."""
        kind, token = tokens[index]
        if kind not in ("word", "number"):
            return 0
        for phrase in self._phrases.get(token.casefold(), ()):
            size = 2 * len(phrase) - 1
            there = tokens[index : index + size]
            if tuple(each.casefold() for _, each in there[::2]) == phrase and all(
                each.isspace() for _, each in there[1::2]
            ):
                return size
        return 0

    def _value(self, value: str, kind: str = "text") -> str:
        text = " ".join(value.split())
        if _NUMERIC.fullmatch(text):
            return self._placeholder(_number(text), "number")
        known = self._placeholders.get(text.casefold())
        return known or self._learned(text, kind)

    def _learned(self, text: str, kind: str) -> str:
        placeholder = self._placeholder(text.casefold(), kind)
        words = [token for each, token in _tokens(_PROSE, text) if each in ("word", "number")]
        if 1 < len(words) <= _LONGEST_PHRASE:
            phrases = self._phrases.setdefault(words[0].casefold(), [])
            phrases.append(tuple(word.casefold() for word in words))
            phrases.sort(key=len, reverse=True)
            for word in words:
                if len(word) >= _SHORTEST_NAME and not word.islower():
                    self._placeholder(word.casefold(), kind)
        return placeholder

    def _placeholder(self, key: str, kind: str) -> str:
        known = self._placeholders.get(key)
        if known is None:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            known = self._placeholders[key] = f"{kind}{self._counts[kind]}"
        return known


def _tokens(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    for match in pattern.finditer(text):
        yield str(match.lastgroup), match.group()


_CLOSED = {'"': '"', "`": "`", "[": "]"}


def _unquoted(token: str) -> str:
    quote = token[0]
    closed = {"[": "]", "\u201c": "\u201d"}.get(quote, quote)
    inner = token[1:-1] if len(token) > 1 and token.endswith(closed) else token[1:]
    return inner.replace(closed * 2, closed) if quote in "'\"`" else inner


def _number(text: str) -> str:
    """One key for 3, 3.0 and 03: what is equal as a number has one placeholder."""
    try:
        number = float(text)
        return str(int(number)) if number == int(number) else str(number)
    except (OverflowError, ValueError):
        return text
