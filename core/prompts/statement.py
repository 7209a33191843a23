"""Where SQL statements begin and end in running text."""

from __future__ import annotations

import re

import msgspec

MOST_STATEMENTS = 40
"""No answer needs more; a degenerate one repeats itself for thousands."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One statement found in a text."""

    sql: str
    reads: bool
    """It begins as a query does: SELECT, WITH or VALUES."""
    complete: bool
    """Its quotes and brackets are closed, and it does not stop in the middle of a clause."""
    ended: bool
    """Something marks its end: a semicolon, a closing mark, prose after it."""
    prose: bool
    """Words around it were left out."""


_READS = (
    r"select\b|values\s*\("
    r"|with\s+(?:recursive\s+)?[\w\"`\[][^()\n]{0,100}?(?:\([^()]{0,500}\)\s*)?as\s*(?:not\s+)?"
    r"(?:materialized\s*)?\("
)
_WRITES = (
    r"insert\s+(?:or\s+\w+\s+)?into\b|replace\s+into\b|delete\s+from\b"
    r"|update\s+[\w\"`\[][^\n]{0,100}?\bset\b"
    r"|(?:create|drop|alter)\s+(?:(?:temp|temporary|unique|virtual)\s+)?(?:table|view|index|trigger)\b"
    r"|pragma\s+\w|(?:attach|detach)\s+(?:database\b|')|vacuum\s*(?:;|into\b|\Z)|reindex\s*;"
    r"|explain\s+(?:query\s+plan\s+)?(?:select|with)\b|begin\s*(?:;|transaction\b)|commit\s*;"
)
_AT_LINE = re.compile(
    rf"^(?:[ \t>*+]|-(?!-)|\d+[.)])*(?P<start>(?:\(\s*){{0,9}}(?:(?P<reads>{_READS})|{_WRITES}))",
    re.I | re.M,
)
_WITHIN = re.compile(rf"(?<![\w.\"'])(?P<start>(?P<reads>{_READS})|{_WRITES})", re.I)
# English sentences select things too.
_ENGLISH = re.compile(
    r"select\s+(?:the|those|these|which|what|your|our|and|or|only|each|every|rows|data|statements?"
    r"|quer(?:y|ies)|clauses?|all\s+the|from\s+the)\s+\w|select\s*[.:!?]",
    re.I,
)
_PIECE = re.compile(
    r"(?P<quoted>'(?:[^']|'')*(?P<end1>'?)|\"(?:[^\"]|\"\")*(?P<end2>\"?)|`[^`]*(?P<end3>`?)"
    r"|\[[^\[\]\n]*\])"
    r"|(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<mark>[();])"
    r"|(?P<plain>[^'\"`\[\-/();]+|.)",
    re.S,
)
_CONTINUES = re.compile(
    r"\s*(?:(?:select|from|where|group|order|having|limit|offset|union|intersect|except|join|inner"
    r"|left|right|full|cross|natural|outer|on|using|and|or|not|as|when|then|else|end|window|values"
    r"|between|in|like|glob|is|exists|case|with)\b|[(),=<>+*/|.-])",
    re.I,
)
_PROSE_LINE = re.compile(
    r"[ \t]*(?:[-*#>]+[ \t]+)?\**(?:this|these|the|that|here|notes?|explanation|it|i|we|you|they|to"
    r"|please|output|result|answer|question|alternatively|however|if|so|also|let|remember|because"
    r"|since|for|in)\b(?:\**:|(?-i:[ \t,]+[a-z]+[ \t,]+[a-z]+[^=<>()*\n]*[.:!?][ \t]*$))",
    re.I | re.M,
)
_PROSE_SENTENCE = re.compile(r"\.[ \t]+(?:This|It|The|Here|I|We|You|That|Note|In)\b(?![ \t]*[.=])")
_UNFINISHED = re.compile(
    r"(?:\b(?:select|distinct|from|where|and|or|not|on|by|join|having|limit|offset|union|all|in"
    r"|intersect|except|like|between|as|case|when|then|else|is|using|set|with)|[,=<>+*/|.(-])\s*\Z",
    re.I,
)
_STAR_LAST = re.compile(r"(?:select(?:\s+distinct)?\s+|[.,]\s*)\*\s*\Z", re.I)
_FIRST_SELECT = re.compile(r"[\s(]*select\b", re.I)
_LATER_SELECT = re.compile(r"^\s*select\b|\)\s*select\b", re.I | re.M)
_LABEL = re.compile(r"\s*(?:sql(?:ite)?3?)?\s*:?\s*\Z", re.I)


class _Start(msgspec.Struct, frozen=True):
    at: int
    reads: bool
    enclosed: str
    """The back-quote or bracket that stands before it within a line, else nothing."""


class _End(msgspec.Struct, frozen=True):
    at: int
    marked: bool
    closed: bool


def statements(text: str) -> list[Statement]:
    """Every statement in `text`, in order, at most MOST_STATEMENTS of them."""
    found: list[Statement] = []
    position = 0
    while len(found) < MOST_STATEMENTS and (start := _next_start(text, position)) is not None:
        end = _end(text, start)
        sql = _trimmed(text[start.at : end.at])
        if sql:
            found.append(
                Statement(
                    sql=sql,
                    reads=start.reads,
                    complete=end.closed and _finished(sql),
                    ended=end.marked,
                    prose=_prose_around(text, position, start, end),
                )
            )
        position = max(end.at, start.at + 1)
    return found


def _next_start(text: str, position: int) -> _Start | None:
    """Where the next statement begins. Starts of lines are trusted before starts within a line."""
    for found in _AT_LINE.finditer(text, position):
        if not _ENGLISH.match(text, found.start("start")):
            return _Start(found.start("start"), found["reads"] is not None, "")
    within = [
        found
        for found in _WITHIN.finditer(text, position)
        if not _ENGLISH.match(text, found.start("start"))
    ]
    if not within:
        return None
    chosen = next((found for found in within if found[0][:4].isupper()), within[0])
    before = text[max(0, chosen.start() - 1) : chosen.start()]
    return _Start(chosen.start(), chosen["reads"] is not None, before if before in "`(" else "")


def _end(text: str, start: _Start) -> _End:
    if start.enclosed == "`" and (inline := _inline_end(text, start.at)) is not None:
        return _End(inline, True, True)
    depth = 0
    for piece in _PIECE.finditer(text, start.at):
        mark = piece["mark"]
        if mark == ";" or (mark == ")" and depth == 0 and start.enclosed == "("):
            return _End(piece.start(), True, depth == 0)
        depth += {"(": 1, ")": -1}.get(mark or "", 0)
        if piece["plain"] is not None and depth <= 0:
            stop = _prose_begins(text, start.at, piece.start(), piece.end())
            if stop is not None:
                return _End(stop, True, depth == 0)
        elif "" in (piece["end1"], piece["end2"], piece["end3"]):
            return _End(len(text), False, False)
    return _End(len(text), False, depth == 0)


def _inline_end(text: str, begin: int) -> int | None:
    """The back-quote that closes inline code around a statement which may quote names with them."""
    ticks = [found.start() for found in re.finditer("`", text[begin : begin + 4000])]
    for tick in ticks[::2]:
        if len(text[begin : begin + tick].split()) > 1 and _finished(text[begin : begin + tick]):
            return begin + tick
    return None


def _prose_begins(text: str, begin: int, low: int, high: int) -> int | None:
    """Where, between `low` and `high`, the statement that began at `begin` gives way to prose or
    to another statement that no semicolon parts from it."""
    for found in re.finditer(r"\n(?:[ \t]*\n)*|\.[ \t]+(?=[A-Z])", text[low:high]):
        at, after = low + found.start(), low + found.end()
        following = text[after : after + 300]
        if not following.strip():
            continue
        if found[0].startswith("."):
            prose = _PROSE_SENTENCE.match(text, at) is not None
        elif "\n" in found[0][1:]:
            goes_on = _CONTINUES.match(following) or not _finished(text[begin:at])
            prose = not goes_on or _PROSE_LINE.match(text, after) is not None
            prose = prose or _another(text, begin, at, following)
        else:
            prose = _PROSE_LINE.match(text, after) is not None or _another(text, begin, at, following)
        if prose:
            return at
    return None


def _another(text: str, begin: int, at: int, following: str) -> bool:
    """Whether a new statement follows: SELECT where the one before has had its own already."""
    if _AT_LINE.match(following) is None:
        return False
    before = text[begin:at]
    had = _FIRST_SELECT.match(before) or _LATER_SELECT.search(_unbracketed(before))
    return had is not None and _finished(before)


def _unbracketed(sql: str) -> str:
    """The text without what stands in brackets: the SELECT of a WITH clause is not the statement's."""
    depth, kept = 0, []
    for piece in _PIECE.finditer(sql):
        if piece["mark"] == ")":
            depth -= 1
        if depth <= 0:
            kept.append(piece[0])
        if piece["mark"] == "(":
            depth += 1
    return "".join(kept)


def _prose_around(text: str, position: int, start: _Start, end: _End) -> bool:
    before = text[position : start.at].strip("`( \t\n;")
    after = text[end.at :].strip("`);. \t\n")
    return (bool(before) and _LABEL.match(before) is None) or (
        bool(after) and _next_start(after, 0) is None
    )


def _trimmed(sql: str) -> str:
    """Without the comments and spaces around it."""
    sql = sql.strip()
    while sql.startswith(("--", "/*")):
        mark = "\n" if sql.startswith("--") else "*/"
        _, _, sql = sql.partition(mark)
        sql = sql.strip()
    return sql


def _finished(sql: str) -> bool:
    """Whether the text does not stop in the middle of a clause."""
    code = "".join(" " if piece["comment"] else piece[0] for piece in _PIECE.finditer(sql)).rstrip()
    return bool(code) and (_UNFINISHED.search(code) is None or _STAR_LAST.search(code) is not None)
