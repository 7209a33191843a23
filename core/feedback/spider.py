"""Spider's test-suite execution protocol (Zhong et al., 2020), as its published evaluator behaves.

Text preparation and the comparison of two results; both pure. `evaluation.md` describes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from core.database.rows import Row, Value
from core.feedback.columns import same_rows

_SPACED_OPERATORS = (("> =", ">="), ("< =", "<="), ("! =", "!="))
# The spaces behind it go too, as published: "YEAR(CURDATE()) - 1" reads "2020- 1".
_CURRENT_YEAR = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)

# The tokens that the published evaluator's tokenizer tells apart: a backslash hides a quote in its
# literals, "# " begins a comment, and a bracket after a word or bracket is an index, not a name.
_TOKEN = re.compile(
    r"""
      (?P<comment> (?:--|\#[ ]) [^\r\n]* (?:\r\n|\r|\n|\Z) )
    | (?P<block> /\* .*? (?:\*/|\Z) )
    | (?P<quoted> '(?:''|\\'|[^'])*' | "(?:""|\\"|[^"])*" | `(?:``|[^`])*`
                | \xb4(?:\xb4\xb4|[^\xb4])*\xb4
                | (?<![\w\])])\[[^\]\[]+\] )
    | (?P<word> \d+(?:\.\d+)?[eE]-?\d+ | 0[xX][\da-fA-F]+ | \w[\w$\#]* )
    | (?P<end> ; )
    | (?P<space> [^\S\r\n]+ )
    | (?P<line> \r\n | \r | \n )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_SILENT = frozenset({"comment", "block", "space", "line", "end"})


def spider_prepare(sql: str, keep_distinct: bool = False) -> str:
    """The text that is run in place of `sql`, be it a prediction or gold.

    The spaced operators are joined; unless `keep_distinct`, every `distinct` token outside
    literals, quoted names and comments goes, and only the first statement stays; the current year
    of the benchmark's other dialect reads 2020.
    """
    for spaced, joined in _SPACED_OPERATORS:
        sql = sql.replace(spaced, joined)
    if not keep_distinct:
        sql = "".join(text for kind, text in _first_statement(sql) if not _is_distinct(kind, text))
    return _CURRENT_YEAR.sub("2020", sql)


def spider_order_matters(gold_sql: str) -> bool:
    """Whether the rows' order counts: the prepared gold text has `order by` with one space."""
    return "order by" in gold_sql.lower()


def says_nothing(sql: str) -> bool:
    """Whether a text holds no statement: only spaces, comments and semicolons."""
    return all(found.lastgroup in _SILENT for found in _TOKEN.finditer(sql))


def spider_equal(predicted_rows: Sequence[Row], gold_rows: Sequence[Row], order_matters: bool) -> bool:
    """Whether two results are equal under some permutation of the predicted columns.

    Values compare as in Python, after a filter that tells 1 from 1.0 where it changes how a row
    sorts. Raises columns.TooHard where the rows are too regular to decide.
    """
    if not predicted_rows and not gold_rows:
        return True
    if len(predicted_rows) != len(gold_rows) or len(predicted_rows[0]) != len(gold_rows[0]):
        return False
    if not _filter(predicted_rows, gold_rows, order_matters):
        return False
    if order_matters:
        # Rows keep their places, so equal columns are all that a permutation can use.
        predicted, gold = zip(*predicted_rows, strict=True), zip(*gold_rows, strict=True)
        return Counter(predicted) == Counter(gold)
    return same_rows(gold_rows, predicted_rows)


def _filter(predicted: Sequence[Row], gold: Sequence[Row], order_matters: bool) -> bool:
    """The published first look: rows sorted within themselves, as a list or (not counted!) a set.

    It only decides where equal values print differently, which takes a whole float on some side;
    everywhere else the comparison behind it says the same.
    """
    if not (_has_whole_float(predicted) or _has_whole_float(gold)):
        return True
    mine, theirs = map(_sorted_within, predicted), map(_sorted_within, gold)
    return list(mine) == list(theirs) if order_matters else set(mine) == set(theirs)


def _has_whole_float(rows: Sequence[Row]) -> bool:
    return any(isinstance(v, float) and v.is_integer() for row in rows for v in row)


def _sorted_within(row: Row) -> Row:
    return tuple(sorted(row, key=_sort_key))


def _sort_key(value: Value) -> str:
    return str(value) + str(type(value))


def _is_distinct(kind: str, text: str) -> bool:
    return kind == "word" and text.lower() == "distinct"


def _first_statement(sql: str) -> Iterator[tuple[str, str]]:
    """Kinds and texts of the first statement's tokens; what follows it on its line up to the
    first thing that is neither space nor comment belongs to it."""
    ended = False
    for found in _TOKEN.finditer(sql):
        kind = str(found.lastgroup)
        if ended and kind not in ("space", "comment"):
            return
        yield kind, found[0]
        ended = ended or kind == "end"
