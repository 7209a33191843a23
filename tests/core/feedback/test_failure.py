"""The classifier, against messages that SQLite really gives."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.feedback.failure import RULES, classify
from core.feedback.verdict import FailureType, Status

LINKING, SYNTAX = FailureType.SCHEMA_LINKING, FailureType.SYNTAX
AGGREGATION, VALUE = FailureType.AGGREGATION, FailureType.FILTER_VALUE
EXECUTION = FailureType.EXECUTION

PROVOKED = [
    ("SELECT * FROM nowhere", LINKING, "no-such-table"),
    ("SELECT * FROM other.t", LINKING, "no-such-table"),
    ("SELECT missing FROM t", LINKING, "no-such-column"),
    ("SELECT u.missing FROM t AS u", LINKING, "no-such-column"),
    ("SELECT a FROM t, s", LINKING, "ambiguous-column"),
    ("INSERT INTO t (missing) VALUES (1)", LINKING, "table-has-no-column"),
    ("SELECT * FROM t INDEXED BY missing", LINKING, "no-such-index-or-view"),
    ("DROP INDEX missing", LINKING, "no-such-index-or-view"),
    ("DROP VIEW missing", LINKING, "no-such-index-or-view"),
    ("SELECT * FROM t JOIN s USING (b)", LINKING, "join-column-not-in-both"),
    ("SELECT FROM t", SYNTAX, "syntax-error"),
    ("SELEC a FROM t", SYNTAX, "syntax-error"),
    ("SELECT a FROM t WHERE (", SYNTAX, "incomplete-input"),
    ("SELECT a FROM t WHERE b = 'open", SYNTAX, "unrecognized-token"),
    ("SELECT a FROM t WHERE b = 'no such column: x", SYNTAX, "unrecognized-token"),
    ("SELECT # FROM t", SYNTAX, "unrecognized-token"),
    ("SELECT a FROM t ORDER BY a UNION SELECT a FROM s", SYNTAX, "clause-order"),
    ("SELECT a FROM t LIMIT 1 UNION ALL SELECT a FROM s", SYNTAX, "clause-order"),
    ("SELECT * FROM t NATURAL JOIN s ON t.a = s.a", SYNTAX, "natural-join-with-condition"),
    ("SELECT * FROM t LEFT INNER JOIN s", SYNTAX, "unknown-join-type"),
    ("SELECT *", SYNTAX, "no-tables"),
    ("SELECT 1; SELECT 2", SYNTAX, "several-statements"),
    ("SELECT a FROM t WHERE count(a) > 1", AGGREGATION, "misuse-of-aggregate"),
    ("SELECT count(a) AS n FROM t WHERE n > 1", AGGREGATION, "misuse-of-aggregate"),
    ("SELECT sum(count(a)) FROM t", AGGREGATION, "misuse-of-aggregate"),
    ("SELECT a FROM t WHERE row_number() OVER () = 1", AGGREGATION, "misuse-of-window"),
    ("SELECT a FROM t HAVING a > 1", AGGREGATION, "group-by-required"),
    ("SELECT a FROM t GROUP BY count(a)", AGGREGATION, "aggregate-not-allowed"),
    ("SELECT group_concat(DISTINCT a, b) FROM t", AGGREGATION, "distinct-aggregate"),
    ("SELECT abs(a) FILTER (WHERE a) FROM t", AGGREGATION, "not-an-aggregate"),
    ("SELECT abs(a) OVER () FROM t", AGGREGATION, "not-an-aggregate"),
    ("SELECT a FROM t LIMIT 'many'", VALUE, "datatype-mismatch"),
    ("SELECT abs(-9223372036854775808)", VALUE, "overflow"),
    ("SELECT sum(a) FROM (SELECT 9223372036854775807 AS a UNION ALL SELECT 1)", VALUE, "overflow"),
    ("SELECT 0x12345678901234567", VALUE, "overflow"),
    ("SELECT json_extract('{', '$.a')", VALUE, "malformed-json"),
    ("SELECT json_extract('{}', 'a')", VALUE, "malformed-json"),
    (f"SELECT 'a' LIKE '{'_' * 60_000}'", VALUE, "pattern-too-complex"),
    ("SELECT 'a' LIKE 'a' ESCAPE 'ab'", VALUE, "escape-expression"),
    ("SELECT ntile(0) OVER () FROM t", VALUE, "argument-value"),
    ("SELECT sum(a) OVER (ROWS -1 PRECEDING) FROM t", VALUE, "argument-value"),
    ("SELECT round(1, 2, 3)", EXECUTION, "argument-count"),
    ("SELECT json_object('a')", EXECUTION, "argument-count"),
    ("SELECT year(a) FROM t", EXECUTION, "no-such-function"),
    ("SELECT (SELECT a, b FROM t)", EXECUTION, "subselect-columns"),
    ("SELECT a FROM t WHERE a IN (SELECT a, b FROM t)", EXECUTION, "subselect-columns"),
    ("SELECT a FROM t WHERE (a, b) = 1", EXECUTION, "subselect-columns"),
    ("SELECT a FROM t UNION SELECT a, b FROM t", EXECUTION, "compound-columns"),
    ("VALUES (1), (1, 2)", EXECUTION, "compound-columns"),
    ("WITH c (a, b) AS (SELECT 1) SELECT * FROM c", EXECUTION, "compound-columns"),
    (" UNION ALL ".join(["SELECT 1"] * 600), EXECUTION, "too-many"),
    (f"SELECT {', '.join(['1'] * 3_000)}", EXECUTION, "too-many"),
    (f"SELECT count(*) FROM {', '.join(['t'] * 70)}", EXECUTION, "too-many"),
    (f"SELECT max({', '.join(['1'] * 130)})", EXECUTION, "too-many"),
    ("SELECT ?400000", EXECUTION, "too-many"),
    (f"SELECT {'+'.join(['1'] * 2_000)}", EXECUTION, "too-many"),
    ("SELECT ?", EXECUTION, "bindings"),
    ("INSERT INTO t VALUES (1, 2)", EXECUTION, "read-only"),
    ("SELECT zeroblob(2000000000)", EXECUTION, "too-big"),
]


def _message(sql: str) -> str:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(
            "CREATE TABLE t (a INTEGER, b TEXT); CREATE TABLE s (a INTEGER);"
            "INSERT INTO t VALUES (1, 'x')"
        )
        connection.execute("PRAGMA query_only = 1")
        try:
            connection.execute(sql).fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            return str(error)
    pytest.fail(f"this SQLite ({sqlite3.sqlite_version}) runs: {sql[:100]}")


@pytest.mark.parametrize(("sql", "kind", "rule"), PROVOKED, ids=[row[0][:50] for row in PROVOKED])
def test_messages_that_sqlite_gives(sql: str, kind: FailureType, rule: str) -> None:
    assert classify(Status.EXECUTION_ERROR, _message(sql)) == (kind, rule)


@pytest.mark.parametrize(
    ("message", "kind", "rule"),
    [
        # other versions of SQLite
        (
            'no such column: "x" - should this be a string literal in single-quotes?',
            LINKING,
            "no-such-column",
        ),
        ("a GROUP BY clause is required before HAVING", AGGREGATION, "group-by-required"),
        ("misuse of aggregate function COUNT()", AGGREGATION, "misuse-of-aggregate"),
        ("misuse of window function RANK()", AGGREGATION, "misuse-of-window"),
        ("misuse of aliased window function r", AGGREGATION, "misuse-of-window"),
        ("unterminated string", SYNTAX, "unterminated"),
        ("bad JSON path: '$.['", VALUE, "malformed-json"),
        ("LIKE or GLOB pattern too complex", VALUE, "pattern-too-complex"),
        ("too many SQL variables", EXECUTION, "too-many"),
        ("too many columns in result set", EXECUTION, "too-many"),
        ("string or blob too big", EXECUTION, "too-big"),
        ("not authorized", EXECUTION, "not-authorized"),
        ("not authorized to use function: load_extension", EXECUTION, "not-authorized"),
        ("access to t.a is prohibited", EXECUTION, "not-authorized"),
        ("attempt to write a readonly database", EXECUTION, "read-only"),
        ("interrupted", EXECUTION, "interrupted"),
        # our own
        ("no SQL found in the answer", SYNTAX, "no-sql"),
        ("more than one statement", SYNTAX, "several-statements"),
        ("the result has more than 1,000,000 rows", EXECUTION, "sandbox-limit"),
        ("the sandbox's worker died", EXECUTION, "sandbox-limit"),
        # what nobody foresaw
        ("disk I/O error", FailureType.UNKNOWN, "other-message"),
        ("database disk image is malformed", FailureType.UNKNOWN, "other-message"),
        ("", FailureType.UNKNOWN, "no-message"),
        # the first match wins
        ("no such column: misuse of aggregate", LINKING, "no-such-column"),
        ('near "no such table": syntax error', SYNTAX, "syntax-error"),
        ("no such function: too_many", EXECUTION, "no-such-function"),
        ("SYNTAX ERROR near here", SYNTAX, "syntax-error"),
    ],
)
def test_messages_by_their_text(message: str, kind: FailureType, rule: str) -> None:
    assert classify(Status.EXECUTION_ERROR, message) == (kind, rule)


@pytest.mark.parametrize("message", ["", "interrupted", "stopped at the deadline of 10 s"])
def test_a_deadline_is_an_execution_failure(message: str) -> None:
    assert classify(Status.TIMEOUT, message) == (EXECUTION, "deadline")


def test_what_ran_and_is_wrong_is_a_result_mismatch() -> None:
    assert classify(Status.DENOTATION_MISMATCH, "") == (FailureType.RESULT_MISMATCH, "wrong-result")


def test_what_is_right_has_no_failure() -> None:
    with pytest.raises(ValueError, match="correct"):
        classify(Status.CORRECT, "")


def test_every_rule_can_be_told_by_its_id_and_every_type_has_one() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert {rule.type for rule in RULES} == set(FailureType)


@given(st.text(max_size=200))
def test_any_text_has_a_type(message: str) -> None:
    kind, rule = classify(Status.EXECUTION_ERROR, message)
    assert kind in FailureType
    assert rule in {each.id for each in RULES}
