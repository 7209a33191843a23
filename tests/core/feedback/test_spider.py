"""When Spider's protocol calls two results equal, and what it does to a text before it runs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.database.rows import Row
from core.feedback.spider import says_nothing, spider_equal, spider_order_matters, spider_prepare
from tests.core.feedback import reference

Rows = list[Row]

EDGE_CASES: list[tuple[str, Rows, Rows, bool, bool]] = [
    # what, predicted, gold, order matters, equal
    ("both empty", [], [], False, True),
    ("both empty in order", [], [], True, True),
    ("one empty", [], [(1,)], False, False),
    ("a NULL row is not an empty result", [(None,)], [], False, False),
    ("NULL equals NULL", [(None,)], [(None,)], False, True),
    ("rows in another order", [(1,), (2,)], [(2,), (1,)], False, True),
    ("rows in another order where it counts", [(1,), (2,)], [(2,), (1,)], True, False),
    ("repeated rows count", [(1,), (1,), (2,)], [(1,), (2,), (2,)], False, False),
    ("fewer rows", [(1,)], [(1,), (1,)], False, False),
    ("fewer columns", [(1,)], [(1, 1)], False, False),
    ("columns swapped", [("a", 1), ("b", 2)], [(1, "a"), (2, "b")], False, True),
    ("columns swapped in order", [("a", 1), ("b", 2)], [(1, "a"), (2, "b")], True, True),
    ("one order of columns for all rows", [(1, 2), (2, 1)], [(1, 2), (1, 2)], False, False),
    ("swapped in one row only, in order", [(1, 2), (4, 3)], [(1, 2), (3, 4)], True, False),
    ("a row's swap is another row", [(1, 2), (2, 1)], [(2, 1), (1, 2)], False, True),
    ("a column of 1 equals 1.0", [(1,)], [(1.0,)], False, True),
    ("(1, 10) differs from (1.0, 10)", [(1, 10)], [(1.0, 10)], False, False),
    ("(1, 'a') equals (1.0, 'a')", [(1, "a")], [(1.0, "a")], False, True),
    ("text differs from number", [("1",)], [(1,)], False, False),
    ("text differs from blob", [("a",)], [(b"a",)], False, False),
    ("text is compared with its case", [("A",)], [("a",)], False, False),
    ("trailing spaces count", [("a ",)], [("a",)], False, False),
    ("nearly equal floats differ", [(0.1 + 0.2,)], [(0.3,)], False, False),
    ("minus zero equals zero", [(-0.0,)], [(0,)], False, True),
    ("large whole numbers stay exact", [(2**53 + 1,)], [(float(2**53),)], False, False),
    (
        # The published filter looks at sets of rows, so how often each spelling occurs is free.
        "mixed spellings in other numbers",
        [(1, 10), (1, 10), (1.0, 10)],
        [(1, 10), (1.0, 10), (1.0, 10)],
        False,
        True,
    ),
    (
        "mixed spellings in other places, in order",
        [(1, 10), (1.0, 10)],
        [(1.0, 10), (1, 10)],
        True,
        False,
    ),
    ("equal contents, other pairing", [(1, 1), (2, 2)], [(1, 2), (2, 1)], False, False),
]


@pytest.mark.parametrize(
    ("predicted", "gold", "ordered", "equal"),
    [case[1:] for case in EDGE_CASES],
    ids=[case[0] for case in EDGE_CASES],
)
def test_edge_cases(predicted: Rows, gold: Rows, ordered: bool, equal: bool) -> None:
    assert spider_equal(predicted, gold, ordered) is equal
    assert reference.spider_equal(predicted, gold, ordered) is equal


values = st.sampled_from([0, 1, 1.0, 2, 10, 10.0, -0.0, 0.5, "1", "a", "", None, b"1"])
few_values = st.sampled_from([1, 1.0, 2, "a", None])


@st.composite
def results(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """Two results that are often the same rows after a permutation of rows and columns, now and
    then with a cell exchanged."""
    width = draw(st.integers(1, 5))
    row = st.tuples(*[draw(st.sampled_from([values, few_values]))] * width)
    gold = draw(st.lists(row, max_size=6))
    if draw(st.booleans()):
        return draw(st.lists(row, min_size=len(gold), max_size=len(gold))), gold
    order = draw(st.permutations(range(width)))
    predicted = [tuple(each[place] for place in order) for each in draw(st.permutations(gold))]
    if predicted and draw(st.booleans()):
        at, column = draw(st.integers(0, len(gold) - 1)), draw(st.integers(0, width - 1))
        cells = list(predicted[at])
        cells[column] = draw(values)
        predicted[at] = tuple(cells)
    return predicted, gold


@settings(max_examples=400, deadline=None)
@given(results(), st.booleans())
def test_agrees_with_trying_every_permutation(pair: tuple[Rows, Rows], ordered: bool) -> None:
    predicted, gold = pair
    assert spider_equal(predicted, gold, ordered) is reference.spider_equal(predicted, gold, ordered)


@settings(max_examples=300, deadline=None)
@given(results(), st.booleans())
def test_is_symmetric(pair: tuple[Rows, Rows], ordered: bool) -> None:
    predicted, gold = pair
    assert spider_equal(predicted, gold, ordered) is spider_equal(gold, predicted, ordered)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_agrees_on_regular_results(seed: int) -> None:
    """Few different values and balanced columns: where looking at contents decides least."""
    draw = random.Random(seed)
    width, height = draw.randint(3, 6), draw.randint(2, 8)
    columns = [[place % 2 for place in range(height)] for _ in range(width)]
    for column in columns:
        draw.shuffle(column)
    gold: Rows = list(zip(*columns, strict=True))
    if draw.random() < 0.5:
        draw.shuffle(columns[0])
    draw.shuffle(columns)
    predicted: Rows = list(zip(*columns, strict=True))
    draw.shuffle(predicted)
    assert spider_equal(predicted, gold, False) is reference.spider_equal(predicted, gold, False)


PREPARED = [
    # written, run
    ("SELECT a FROM t WHERE b > = 1", "SELECT a FROM t WHERE b >= 1"),
    ("b < = 1 AND c ! = 2", "b <= 1 AND c != 2"),
    ("b >  = 1", "b >  = 1"),
    ("a = 'x > = y'", "a = 'x >= y'"),
    ("SELECT DISTINCT a", "SELECT  a"),
    ("SELECT COUNT(DISTINCT a)", "SELECT COUNT( a)"),
    ("SELECT count(distinct(a))", "SELECT count((a))"),
    ("a UNION DISTINCT b", "a UNION  b"),
    ("SELECT dIsTiNcT a", "SELECT  a"),
    ("SELECT distinct_a, adistinct", "SELECT distinct_a, adistinct"),
    ("SELECT 'distinct', \"distinct\", `distinct`", "SELECT 'distinct', \"distinct\", `distinct`"),
    ("SELECT [distinct] FROM t", "SELECT [distinct] FROM t"),
    ("SELECT 'it''s distinct'", "SELECT 'it''s distinct'"),
    ("a = 'x\\' OR distinct = 'y'", "a = 'x\\' OR distinct = 'y'"),
    ("a[distinct]", "a[]"),
    ("SELECT t.distinct FROM t", "SELECT t. FROM t"),
    ("SELECT 1 -- distinct\n, 2", "SELECT 1 -- distinct\n, 2"),
    ("SELECT 1 /* distinct */", "SELECT 1 /* distinct */"),
    ("SELECT 1; SELECT 2", "SELECT 1;"),
    ("SELECT ';' ; DELETE FROM t", "SELECT ';' ;"),
    ("SELECT 1; -- the end", "SELECT 1; -- the end"),
    ("; SELECT 1", ";"),
    ("WHERE y = YEAR(CURDATE())", "WHERE y = 2020"),
    ("year ( curdate ( ) )  - 1", "2020- 1"),
    ("YEAR(CURDATE()) FROM t", "2020FROM t"),
    ("YEAR(NOW())", "YEAR(NOW())"),
    ("", ""),
]


@pytest.mark.parametrize(("written", "run"), PREPARED)
def test_what_is_run_in_place_of_a_text(written: str, run: str) -> None:
    assert spider_prepare(written).rstrip() == run


def test_distinct_can_be_kept_and_then_every_statement_stays() -> None:
    text = "SELECT DISTINCT a > = 1; SELECT YEAR(CURDATE())"
    assert spider_prepare(text, keep_distinct=True) == "SELECT DISTINCT a >= 1; SELECT 2020"


pieces = st.sampled_from(
    [
        *["select", "DISTINCT", "distinct", "a", "_x", "t.", "1", "'", "''", '"', "`", "[", "]"],
        *[";", "--", "\n", "/*", "*/", " ", "(", ")", ",", "> =", "'a;b'", '"distinct"', "é"],
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(pieces, max_size=9).map(" ".join))
def test_texts_agree_with_reading_character_by_character(sql: str) -> None:
    """Up to what follows the first semicolon on its line, which changes nothing that is run."""
    ours, theirs = spider_prepare(sql), reference.spider_text(sql)
    assert ours.startswith(theirs)
    assert says_nothing(ours[len(theirs) :])


@pytest.mark.parametrize(
    ("gold", "counts"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("select a from t order by a", True),
        ("SELECT a FROM t Order  By a", False),
        ("SELECT a FROM t ORDER\nBY a", False),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 1)", True),
        ("SELECT 'order by'", True),
        ("SELECT a FROM t", False),
    ],
)
def test_when_the_order_of_rows_counts(gold: str, counts: bool) -> None:
    assert spider_order_matters(spider_prepare(gold)) is counts


@pytest.mark.parametrize(
    "sql", ["", " \n", ";", " ; ;", "-- only a remark", "/* nothing */ ;", "/* open"]
)
def test_texts_that_say_nothing(sql: str) -> None:
    assert says_nothing(sql)


@pytest.mark.parametrize("sql", ["SELECT 1", "-- a\n1", "'", "/* a */ x"])
def test_texts_that_say_something(sql: str) -> None:
    assert not says_nothing(sql)


def test_a_long_text_is_prepared_at_once() -> None:
    for piece in ("'", "\\'", "''", '"', "[", "a b ", "--", "/*", "> = ", "distinct ", "9", "9e"):
        spider_prepare(piece * 50_000)
