"""The deterministic failure classifier (MERIT, appendix C): status and DBMS text in, type out.

It never parses the SQL. The rules are data, read in order; the first that matches decides. Another
DBMS is more rows of `RULES`.
"""

from __future__ import annotations

import re

import msgspec

from core.feedback.verdict import FailureType, Status


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table: fires where status and text both fit."""

    id: str
    type: FailureType
    pattern: str
    """A regular expression looked for anywhere in the DBMS's text outside of double quotes, case
    ignored."""
    status: Status | None = None
    """The status it needs; None for any."""
    dbms: str = "sqlite"
    """Whose messages it reads: sqlite, merito (the sandbox and the extraction) or any."""


def _rules(type_: FailureType, dbms: str = "sqlite", **patterns: str) -> tuple[Rule, ...]:
    return tuple(
        Rule(id=name.replace("_", "-"), type=type_, pattern=pattern, dbms=dbms)
        for name, pattern in patterns.items()
    )


RULES: tuple[Rule, ...] = (
    *_rules(
        FailureType.SCHEMA_LINKING,
        no_such_table=r"no such table\b",
        no_such_column=r"no such column\b",
        ambiguous_column=r"ambiguous column name",
        table_has_no_column=r"\btable .+ has no column named",
        no_such_index_or_view=r"no such (index|view)\b",
        join_column_not_in_both=r"cannot join using column .+ not present in both tables",
    ),
    *_rules(
        FailureType.SYNTAX,
        syntax_error=r"syntax error",
        incomplete_input=r"incomplete input",
        unrecognized_token=r"unrecognized token",
        unterminated=r"unterminated (string|quoted|comment|identifier|literal)",
        clause_order=r"(ORDER BY|LIMIT) clause should come (after|before)",
        natural_join_with_condition=r"NATURAL join may not have an ON or USING clause",
        unknown_join_type=r"unknown (or unsupported )?join type",
        no_tables=r"no tables specified",
    ),
    *_rules(
        FailureType.SYNTAX,
        dbms="merito",
        no_sql=r"no SQL found",
        several_statements=r"more than one statement|only execute one statement at a time",
    ),
    *_rules(
        FailureType.AGGREGATION,
        misuse_of_aggregate=r"misuse of (aliased )?aggregate",
        misuse_of_window=r"misuse of (aliased )?window function",
        group_by_required=r"GROUP BY clause is required|HAVING clause on a non-aggregate query",
        aggregate_not_allowed=r"aggregate (functions? )?(is|are) not allowed in",
        distinct_aggregate=r"DISTINCT aggregates must have exactly one argument"
        r"|DISTINCT is not supported for window functions",
        not_an_aggregate=r"may not be used (with non-aggregate|as a window function)",
    ),
    *_rules(
        FailureType.FILTER_VALUE,
        datatype_mismatch=r"datatype mismatch",
        overflow=r"integer overflow|oversized integer|(hex literal|number) too big",
        malformed_json=r"(malformed|invalid) JSON|JSON path|JSON cannot hold",
        bad_date_or_number=r"(bad|invalid|malformed) (date|time|number|input syntax)",
        conversion=r"(cannot|could not|failed to) (convert|cast)|conversion (failed|error)",
        pattern_too_complex=r"LIKE or GLOB pattern too complex",
        escape_expression=r"ESCAPE expression must be a single character",
        argument_value=r"argument (of|to) \S+ must be|frame (starting|ending) offset must be",
    ),
    *_rules(
        FailureType.EXECUTION,
        argument_count=r"wrong number of arguments|requires an even number of arguments",
        no_such_function=r"no such function|unknown function|is not a function",
        subselect_columns=r"sub-?select returns \d+ columns|row value misused"
        r"|IN\(\.\.\.\) element has \d+ term",
        compound_columns=r"do not have the same number of result columns"
        r"|VALUES must have the same number of terms|has \d+ values for \d+ columns",
        too_many=r"too many |at most \d+ tables in a join|variable number must be"
        r"|Expression tree is too large|parser stack overflow",
        bindings=r"Incorrect number of bindings|did not supply a value for binding",
        not_authorized=r"not authorized|is prohibited|unsafe use of|authorization denied",
        read_only=r"read-?only",
        too_big=r"too big|too long|too large|out of memory",
    ),
    *_rules(
        FailureType.EXECUTION,
        dbms="merito",
        sandbox_limit=r"the result (has more than|is larger than|is too regular)|a value is longer than"
        r"|the sandbox",
    ),
    Rule(
        id="interrupted",
        type=FailureType.EXECUTION,
        pattern=r"\binterrupted\b",
        status=Status.EXECUTION_ERROR,
    ),
    Rule(id="deadline", type=FailureType.EXECUTION, pattern="", status=Status.TIMEOUT, dbms="any"),
    Rule(id="other-message", type=FailureType.UNKNOWN, pattern=r"\S", dbms="any"),
    Rule(
        id="wrong-result",
        type=FailureType.RESULT_MISMATCH,
        pattern="",
        status=Status.DENOTATION_MISMATCH,
        dbms="any",
    ),
    Rule(id="no-message", type=FailureType.UNKNOWN, pattern="", dbms="any"),
)
"""Read from the top; `merit.md` ("Failure classifier") gives the order of the types."""

# SQLite quotes the statement's own text between double quotes: it may say anything.
_QUOTED = re.compile(r'".*"', re.DOTALL)
_COMPILED = tuple((rule, re.compile(rule.pattern, re.IGNORECASE)) for rule in RULES)


def classify(status: Status, message: str) -> tuple[FailureType, str]:
    """The failure type of an attempt and the id of the rule that decided.

    Raises ValueError for a correct attempt, which has no failure.
    """
    if status is Status.CORRECT:
        raise ValueError("a correct attempt has no failure type")
    message = _QUOTED.sub('""', message)
    for rule, pattern in _COMPILED:
        if rule.status in (None, status) and pattern.search(message):
            return rule.type, rule.id
    raise AssertionError("the last rule matches everything")
