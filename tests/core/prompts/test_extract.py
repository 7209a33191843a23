"""Whatever a model answers, at most one statement is taken from it, and nothing is hidden."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.prompts.extract import extract_reflection, extract_sql

SQL = "SELECT name FROM singer WHERE age > 30"

ANSWERS: dict[str, tuple[str, str, str]] = {
    # what the model did: (its answer, the statement, a word of the note or nothing)
    "obeyed": ("<answer>SELECT 1</answer>", "SELECT 1", ""),
    "obeyed over lines": ("<answer>\nSELECT a\nFROM t;\n</answer>", "SELECT a\nFROM t", ""),
    "capitals and spaces in the tags": ("< ANSWER >SELECT 1</ Answer >", "SELECT 1", ""),
    "attributes in the tag": ('<answer lang="sql">SELECT 1</answer>', "SELECT 1", ""),
    "prose around the tags": (f"Sure:\n<answer>{SQL}</answer>\nIt's done.", SQL, ""),
    "prose inside the tags": (f"<answer>The query is:\n{SQL}</answer>", SQL, "prose"),
    "no tags": (SQL, SQL, "no answer tags"),
    "a fence": (f"```sql\n{SQL};\n```", SQL, "fence"),
    "a fence of tildes": (f"~~~\n{SQL}\n~~~", SQL, "fence"),
    "a fence left open": (f"Here:\n```sqlite\n{SQL}", SQL, "fence"),
    "a fence on one line": (f"```{SQL}```", SQL, "fence"),
    "a fence inside the tags": (f"<answer>\n```sql\n{SQL}\n```\n</answer>", SQL, "fence"),
    "tags inside a fence": (f"```sql\n<answer>{SQL}</answer>\n```", SQL, ""),
    "two fences": (f"```sql\nSELECT 1\n```\nBetter:\n```sql\n{SQL}\n```", SQL, "fence"),
    "a fence with other code after it": (
        f"```sql\n{SQL}\n```\nIn Python:\n```\nprint(1)\n```",
        SQL,
        "fence",
    ),
    "prose before": (f"The query that you need is:\n\n{SQL}", SQL, "prose"),
    "prose after a blank line": (f"{SQL}\n\nThis doesn't count the young.", SQL, "prose"),
    "prose on the next line": (f"{SQL}\nThis query finds the names of the old singers.", SQL, "prose"),
    "prose on the same line": (
        "So: SELECT name FROM singer. This query is short.",
        "SELECT name FROM singer",
        "prose",
    ),
    "English that selects": (f"I select the names of the singers.\n{SQL}", SQL, "prose"),
    "English that selects on the same line": (f"We select the names: {SQL}", SQL, "prose"),
    "inline code": (f"Run `{SQL}` on `singer`.", SQL, "prose"),
    "inline code with back-quoted names": (
        "Run `SELECT `a b` FROM t` now.",
        "SELECT `a b` FROM t",
        "prose",
    ),
    "a label": (f"SQL: {SQL}", SQL, ""),
    "other tags": (f"<sql>{SQL}</sql>", SQL, "no answer tags"),
    "JSON": ('{"why": "x", "sql": "SELECT \\"a\\" FROM t"}', 'SELECT "a" FROM t', "JSON"),
    "thinking": (f"<think>SELECT 9? no</think><answer>{SQL}</answer>", SQL, "thinking left out"),
    "thinking whose begin the engine ate": (f"SELECT 9? no</think>{SQL}", SQL, "thinking left out"),
    "thinking left open, then an answer": (f"<think>hm <answer>{SQL}</answer>", SQL, "left open"),
    "an answer left open": (f"<answer>{SQL}", SQL, "left open"),
    "an answer never opened": (f"{SQL}</answer>", SQL, ""),
    "several answers": (f"<answer>SELECT 1</answer> or <answer>{SQL}</answer>", SQL, "several answers"),
    "several answers, the last without SQL": (
        f"<answer>{SQL}</answer><answer>done</answer>",
        SQL,
        "several answers",
    ),
    "the rule repeated": (
        f"between <answer> and </answer>: <answer>{SQL}</answer>",
        SQL,
        "several answers",
    ),
    "several statements": ("<answer>SELECT 1; SELECT 2</answer>", "SELECT 1", "several statements"),
    "several statements without semicolons": ("SELECT 1\nSELECT 2", "SELECT 1", "several statements"),
    "the first of several unfinished": ("SELECT a FROM;\nSELECT 2", "SELECT 2", "several statements"),
    "a write beside a query": (
        "<answer>DELETE FROM t; SELECT 2</answer>",
        "SELECT 2",
        "several statements",
    ),
    "a write alone": ("<answer>DROP TABLE t</answer>", "DROP TABLE t", ""),
    "a query inside a write": (
        "<answer>CREATE TABLE u AS SELECT 1</answer>",
        "CREATE TABLE u AS SELECT 1",
        "",
    ),
    "a semicolon in a literal": ("<answer>SELECT 'a;b'</answer>", "SELECT 'a;b'", ""),
    "a semicolon in a comment": ("SELECT a -- it's; so\nFROM t", "SELECT a -- it's; so\nFROM t", ""),
    "a comment before": ("-- counts\nSELECT 1", "SELECT 1", ""),
    "escaped operators": (
        "<answer>SELECT a FROM t WHERE b &lt; 5</answer>",
        "SELECT a FROM t WHERE b < 5",
        "entities",
    ),
    "escaped tags": ("&lt;answer&gt;SELECT 1 &gt; 0&lt;/answer&gt;", "SELECT 1 > 0", "entities"),
    "an entity that the table holds": ("<answer>SELECT 'AT&amp;T'</answer>", "SELECT 'AT&amp;T'", ""),
    "a common table expression": (
        "WITH t AS (SELECT 1)\nSELECT * FROM t",
        "WITH t AS (SELECT 1)\nSELECT * FROM t",
        "",
    ),
    "a common table expression over lines": (
        "<answer>WITH top AS (\n  SELECT name FROM singer\n)\nSELECT name FROM top</answer>",
        "WITH top AS (\n  SELECT name FROM singer\n)\nSELECT name FROM top",
        "",
    ),
    "two common table expressions, a blank line between": (
        "WITH a AS (\n  SELECT 1 AS x\n),\n\nb AS (\n  SELECT 2 AS y\n)\n\nSELECT * FROM a, b",
        "WITH a AS (\n  SELECT 1 AS x\n),\n\nb AS (\n  SELECT 2 AS y\n)\n\nSELECT * FROM a, b",
        "",
    ),
    "a query after one with a common table expression": (
        "WITH t AS (\n  SELECT 1\n)\nSELECT * FROM t\nSELECT 2",
        "WITH t AS (\n  SELECT 1\n)\nSELECT * FROM t",
        "several statements",
    ),
    "two queries in brackets": ("(SELECT 1)\nSELECT 2", "(SELECT 1)", "several statements"),
    "a blank line in a list": ("SELECT a,\n\n b FROM t", "SELECT a,\n\n b FROM t", ""),
    "a blank line in a condition": (
        "SELECT a FROM t WHERE b = 1 AND\n\n c = 2",
        "SELECT a FROM t WHERE b = 1 AND\n\n c = 2",
        "",
    ),
    "columns that are called as tags are": (
        "<answer>SELECT name FROM t WHERE low < code AND high > 5</answer>",
        "SELECT name FROM t WHERE low < code AND high > 5",
        "",
    ),
    "a column that is called answer": (
        "<answer>SELECT a FROM t WHERE score < answer AND x > 3</answer>",
        "SELECT a FROM t WHERE score < answer AND x > 3",
        "",
    ),
    "a tag of HTML with attributes": (f'<code class="sql">{SQL}</code>', SQL, ""),
    "JSON in a fence": (f'```json\n{{"sql": "{SQL}"}}\n```', SQL, "out of JSON"),
    "JSON in the tags": (f'<answer>{{"sql": "{SQL}"}}</answer>', SQL, "out of JSON"),
    "quotes around the query": (f'<answer>"{SQL}"</answer>', SQL, "quotes"),
    "set operators over blank lines": (
        "SELECT 1\n\nUNION\n\nSELECT 2",
        "SELECT 1\n\nUNION\n\nSELECT 2",
        "",
    ),
    "brackets around": ("<answer>(SELECT 1)</answer>", "(SELECT 1)", ""),
    "a numbered list": (f"1. {SQL}", SQL, ""),
    "nothing": ("", "", "empty answer"),
    "spaces": (" \n ", "", "empty answer"),
    "empty tags": ("<answer></answer>", "", "no SQL found"),
    "a refusal": ("I cannot answer that with these tables.", "", "no SQL found"),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_the_statement_is_found_and_the_trouble_named(case: str) -> None:
    answer, sql, word = ANSWERS[case]
    extraction = extract_sql(answer, "stop")
    assert extraction.sql == sql
    assert word in "; ".join(extraction.notes)


@pytest.mark.parametrize("case", ["obeyed", "obeyed over lines", "attributes in the tag"])
def test_an_obedient_answer_needs_no_note(case: str) -> None:
    assert extract_sql(ANSWERS[case][0], "stop").notes == ()


class TestCutOffAtTheTokenLimit:
    def test_the_beginning_is_kept_and_the_cut_named(self) -> None:
        extraction = extract_sql("<answer>SELECT a FROM t WHERE b = 'x", "length")
        assert extraction.sql == "SELECT a FROM t WHERE b = 'x"
        assert "cut off at the token limit" in extraction.notes

    def test_a_whole_earlier_answer_wins_over_a_cut_one(self) -> None:
        answer = f"<answer>{SQL}</answer> Or rather: <answer>SELECT a FROM"
        assert extract_sql(answer, "length").sql == SQL

    def test_a_query_that_was_finished_before_is_not_called_cut(self) -> None:
        extraction = extract_sql(f"<answer>{SQL}</answer>\nThis query finds", "length")
        assert extraction.sql == SQL
        assert extraction.notes == ()

    def test_cut_off_thinking_is_no_answer(self) -> None:
        extraction = extract_sql("<think>Maybe SELECT a FROM t, but", "length")
        assert extraction.sql == ""
        assert "thinking cut off" in extraction.notes

    def test_a_statement_repeated_until_the_limit_is_taken_once(self) -> None:
        assert extract_sql(f"<answer>{f'{SQL};' * 30}SELECT na", "length").sql == SQL


class TestReflections:
    def test_between_tags(self) -> None:
        assert extract_reflection("Well. <reflection> Join first. </reflection>") == "Join first."

    def test_without_tags_and_without_code(self) -> None:
        answer = "<think>x</think>Join first.\n```sql\nSELECT 1\n```"
        assert extract_reflection(answer) == "Join first."

    def test_left_open(self) -> None:
        assert extract_reflection("<reflection>Join first", "length") == "Join first"


names = st.sampled_from(
    ["name", "age", "t1.country", '"Song Name"', "`odd name`", "[first name]", "count(*)"]
)
literals = st.text(alphabet="abz019 ;,.()-é'\n", max_size=12).map(
    lambda text: "'" + text.replace("'", "''") + "'"
)
conditions = st.one_of(
    st.tuples(names, st.sampled_from(["=", "<", ">=", "LIKE"]), literals).map(" ".join),
    names.map(lambda name: f"{name} IN (SELECT {name} FROM concert)"),
)


@st.composite
def queries(draw: st.DrawFn) -> str:
    gap = draw(st.sampled_from([" ", "\n", "\n  "]))
    parts = [f"SELECT {', '.join(draw(st.lists(names, min_size=1, max_size=3)))}", "FROM singer"]
    if draw(st.booleans()):
        parts.append("JOIN concert ON singer.id = concert.id")
    if chosen := draw(st.lists(conditions, max_size=2)):
        parts.append("WHERE " + f"{gap}AND ".join(chosen))
    if draw(st.booleans()):
        parts.append("ORDER BY age DESC LIMIT 3")
    sql = gap.join(parts)
    return draw(st.sampled_from([sql, f"WITH s AS ({sql}) SELECT * FROM s", f"{sql} UNION {sql}"]))


before = st.sampled_from(
    [
        "",
        "Sure!\n",
        "Here's the query, which doesn't join:\n\n",
        "I will select the names.\n",
        "**Answer**:\n",
        "<think>\nSELECT 1? It's wrong.\n</think>\n",
    ]
)
after = st.sampled_from(
    ["", "\n", "\n\nThis query doesn't rename anything.", "\nExplanation: it's short."]
)
wraps = st.sampled_from(
    [
        "<answer>{}</answer>",
        "<answer>\n{};\n</answer>",
        "<answer>\n```sql\n{}\n```\n</answer>",
        "```sql\n{};\n```",
        "```\n{}\n```",
        "<ANSWER>{}",
        "<answer>SELECT 1</answer>\nBetter: <answer>{}</answer>",
        "<sql>{};</sql>",
        "{};",
    ]
)


@given(queries(), before, wraps, after)
def test_a_query_is_recovered_from_any_wrapping(sql: str, front: str, wrap: str, back: str) -> None:
    assert extract_sql(front + wrap.replace("{}", sql) + back, "stop").sql == sql


PIECES = (
    "<answer>", "</answer>", "<ans", "wer>", "<think>", "</think>", "```", "```sql\n", "{", "&lt;",
    ";", "SELECT ", "WITH a AS (", "DELETE FROM t", "'", '"', "`", "--", "/*", "*/", "(", ")",
    "\n\n", "This is a text.\n",
)  # fmt: skip
FLOODS = (
    "select ", "(", "<answer>", "```", "'", "`", "<think>", "</think>", "update x ", "with a ",
    "WITH a (", "SELECT 1\n\n", "&lt;", "/*", "\n", "a. T",
)  # fmt: skip


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30),
            st.sampled_from(PIECES),
            queries(),
        ),
        max_size=14,
    ),
    st.sampled_from(["stop", "length"]),
)
@settings(max_examples=400)
def test_nothing_makes_it_raise_or_leaves_tags_and_fences(parts: list[str], finish: str) -> None:
    extraction = extract_sql("".join(parts), finish)
    assert not re.search(r"</?\s*(?:answer|think)\b[^<>=]*>|```|~~~", extraction.sql, re.I)
    assert extraction.sql == extraction.sql.strip()
    assert extraction.sql or extraction.notes
    reflection = extract_reflection("".join(parts), finish)
    assert not re.search(r"</?\s*(?:answer|reflection)\b[^<>=]*>|```", reflection, re.I)


@given(st.lists(queries(), min_size=2, max_size=4))
def test_never_more_than_one_statement(sqls: list[str]) -> None:
    extraction = extract_sql("<answer>" + ";\n".join(sqls) + "</answer>", "stop")
    assert extraction.sql == sqls[0]
    assert any("several statements" in note for note in extraction.notes)


@pytest.mark.parametrize("flood", FLOODS)
def test_a_degenerate_answer_takes_no_time(flood: str) -> None:
    started = time.process_time()
    extract_sql(flood * (60_000 // len(flood)), "length")
    assert time.process_time() - started < 2
