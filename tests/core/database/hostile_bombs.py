"""Statements that are too large, too long or too hungry, by family (see `hostile.py`)."""

from __future__ import annotations

from core.database.rows import Outcome
from tests.core.database.hostile_refusals import OK, REFUSED

TIMEOUT = frozenset({Outcome.TIMEOUT})
LIMIT = frozenset({Outcome.LIMIT})
STOPPED = TIMEOUT | LIMIT
"""Time or memory runs out, whichever comes first on the machine."""
ENDED = OK | STOPPED
"""It may even finish: a fast machine, or a newer SQLite that is cleverer about it."""

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
ONE_LONG_STEP = "SELECT instr(zeroblob(15000000), zeroblob(7000000) || x'01')"
"""A single opcode that no progress handler can interrupt."""

_NUMBERS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
_MANY = "orders a, orders b, orders c, orders d, orders e"

BOMBS: dict[str, tuple[frozenset[Outcome], str, list[str]]] = {
    "too large a text": (
        LIMIT,
        "",
        [
            "SELECT " + "1, " * 40_000 + "1",
            "SELECT " + "+".join(["1"] * 300),
            " UNION ALL ".join(["SELECT 1"] * 60),
            " EXCEPT ".join(["SELECT id FROM orders"] * 200),
            "SELECT * FROM customers WHERE id IN (" + ",".join(map(str, range(30_000))) + ")",
            "SELECT '" + "x" * 200_000 + "'",
            "SELECT 1 -- " + "x" * 200_000,
            "SELECT coalesce(" + ",".join(["NULL"] * 110) + ")",
            "SELECT name LIKE '" + "%a" * 600 + "' FROM customers",
            "SELECT name GLOB '" + "*a" * 600 + "' FROM customers",
        ],
    ),
    "too deep for the parser": (
        REFUSED | LIMIT,
        "",
        [
            "SELECT " + "abs(" * 300 + "1" + ")" * 300,
            "SELECT " + "NOT " * 400 + "1",
            "SELECT CASE " + "WHEN 1 THEN CASE " * 210 + "WHEN 1 THEN 1 " + "END " * 211,
            "SELECT " + "(" * 1_000 + "1" + ")" * 1_000,
            "SELECT * FROM " + "(SELECT * FROM " * 300 + "orders" + ")" * 300,
            "SELECT " + "(SELECT " * 150 + "1" + ")" * 150,
            "SELECT * FROM " + ", ".join(["orders"] * 70),
            "SELECT " + "json_array(" * 150 + "1" + ")" * 150 + " FROM nowhere",
            "WITH "
            + ", ".join(f"c{i} AS (SELECT * FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 40))
            + " SELECT * FROM c39",
        ],
    ),
    "too many columns": (
        REFUSED | LIMIT,
        "",
        [
            "SELECT " + "1," * 2_000 + "1",
            "SELECT * FROM (SELECT " + ",".join(f"1 AS c{i}" for i in range(1_500)) + ") a, "
            "(SELECT " + ",".join(f"1 AS d{i}" for i in range(1_500)) + ") b",
        ],
    ),
    "large but allowed": (
        OK,
        "",
        [
            "SELECT * FROM customers WHERE id IN (" + ",".join(map(str, range(15_000))) + ")",
            "SELECT " + ",".join(["1"] * 1_900),
            " UNION ALL ".join(["SELECT 1"] * 50),
            "SELECT " + "+".join(["1"] * 150),
            "SELECT a.*, b.* FROM orders a, orders b",
            "SELECT zeroblob(15000000)",
            "SELECT hex(zeroblob(5000000))",
            "SELECT zeroblob(9000000), zeroblob(9000000), zeroblob(9000000) FROM customers",
            "SELECT randomblob(1000000) FROM orders",
        ],
    ),
    "memory bomb": (
        STOPPED,
        "",
        [
            "SELECT zeroblob(2000000000)",
            "SELECT length(randomblob(1000000000))",
            "SELECT hex(zeroblob(15000000))",
            "SELECT quote(zeroblob(15000000))",
            "SELECT replace(hex(zeroblob(1000000)), '0', 'aaaaaaaaaaaaaaaaaaaa')",
            "SELECT printf('%.*c', 900000000, 'x')",
            f"SELECT group_concat(printf('%01000d', a.id)) FROM {_MANY}",
            f"SELECT json_group_array(a.note) FROM {_MANY}",
            f"SELECT json_group_object(a.id || ',' || b.id, c.note) FROM {_MANY}",
            f"{_NUMBERS} SELECT group_concat(x, printf('%01000d', x)) FROM n",
            f"{_NUMBERS} SELECT DISTINCT randomblob(1000000) FROM n ORDER BY 1",
            f"{_NUMBERS} SELECT randomblob(100000) FROM n ORDER BY 1",
            f"{_NUMBERS} SELECT max(hex(randomblob(1000000))) OVER (ORDER BY x DESC) FROM n",
            "WITH RECURSIVE s(t) AS (SELECT 'xxxxxxxxxx' UNION ALL SELECT t || t FROM s)"
            " SELECT length(t) FROM s",
            "WITH RECURSIVE b(t) AS (SELECT zeroblob(9000000) UNION ALL SELECT t FROM b)"
            " SELECT * FROM b ORDER BY 1",
            "SELECT json_insert('[]'"
            + ", '$[#]', zeroblob(1)" * 2
            + ", '$[#]', hex(zeroblob(9000000)))"
            " || json_quote(hex(zeroblob(7900000)))",
            "SELECT hex(hex(hex(hex(zeroblob(1000000)))))",
            "SELECT upper(lower(trim(replace(hex(zeroblob(2000000)), '00', 'abcdefghijkl'))))",
        ],
    ),
    "endless recursion": (
        TIMEOUT,
        "deadline",
        [
            ENDLESS,
            f"{_NUMBERS} SELECT * FROM n WHERE x < 0",
            f"{_NUMBERS} SELECT max(x) FROM n",
            f"{_NUMBERS} SELECT * FROM customers WHERE id NOT IN (SELECT x + 1000 FROM n)",
            "WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f)"
            " SELECT sum(a * 1.0) FROM f",
            "WITH RECURSIVE d(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM d UNION ALL"
            " SELECT x + 2 FROM d) SELECT count(*) FROM d",
            f"{_NUMBERS} SELECT EXISTS (SELECT 1 FROM n WHERE x = 0)",
            f"SELECT (SELECT count(*) FROM ({_NUMBERS} SELECT x FROM n))",
        ],
    ),
    "cross join": (
        STOPPED,
        "",
        [
            f"SELECT count(*) FROM {_MANY}",
            f"SELECT sum(a.amount * b.amount) FROM {_MANY}",
            f"SELECT count(DISTINCT a.id || b.id || c.id) FROM {_MANY}",
            f"SELECT 1 FROM {_MANY} WHERE a.id + b.id + c.id + d.id + e.id < 0",
            f"SELECT a.id FROM {_MANY} GROUP BY a.id, b.id, c.id, d.id HAVING count(*) < 0",
            f"SELECT a.id FROM {_MANY} ORDER BY a.amount * b.amount DESC LIMIT 1",
            f"SELECT row_number() OVER (ORDER BY a.amount) FROM {_MANY}",
            "SELECT count(*) FROM orders a WHERE EXISTS (SELECT 1 FROM orders b, orders c, orders d"
            " WHERE b.id + c.id + d.id + a.id < 0)",
            f"SELECT a.id FROM {_MANY} INTERSECT SELECT b.id FROM {_MANY}",
            "SELECT sum(x) FROM (SELECT count(*) OVER (ORDER BY a.id ROWS BETWEEN UNBOUNDED PRECEDING"
            " AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS x FROM orders a, orders b)",
            f"SELECT max(a.amount) OVER (PARTITION BY b.id % 2) FROM {_MANY}",
        ],
    ),
    "one slow step": (
        STOPPED,
        "",
        [
            "SELECT instr(hex(zeroblob(7900000)), hex(zeroblob(3000000)) || '1')",
            "SELECT replace(hex(zeroblob(7900000)), hex(zeroblob(3000000)) || '1', '')",
            "SELECT rtrim(hex(zeroblob(7900000)), replace(hex(zeroblob(500000)), '0', 'é') || '0')",
            "SELECT instr(zeroblob(15000000), zeroblob(7000000) || x'01') FROM orders",
            "SELECT count(*) FROM orders a, orders b"
            " WHERE instr(hex(zeroblob(200000)), a.note || b.note)",
        ],
    ),
    "slow function": (
        ENDED,
        "",
        [
            "SELECT json_valid(replace(hex(zeroblob(500000)), '00', '[[['))",
            "SELECT json_array_length('[' || replace(hex(zeroblob(900000)), '00', '1,') || '1]')",
            "SELECT count(*) FROM json_tree('[' || replace(hex(zeroblob(900000)), '00', '1,') || '1]')",
            "SELECT json_patch('{}', json_object('a', hex(zeroblob(3000000))))",
            "SELECT printf('%1000000000d', 1)",
            "SELECT printf('%*s', 2000000000, 'x')",
            "SELECT format('%.900000000f', 1.5)",
            "SELECT hex(zeroblob(7900000)) LIKE '%0%0%0%0%0%1%'",
            "SELECT hex(zeroblob(7900000)) GLOB '*0*0*0*0*0*1*'",
            "SELECT soundex(hex(zeroblob(7000000)))",
            "SELECT printf('%.300f', 1e308)",
            "SELECT printf('%,d %.15g %!.20s', 9e18, 1e300, hex(zeroblob(7000000)))",
            "SELECT unicode(hex(zeroblob(7000000))), length(CAST(zeroblob(15000000) AS TEXT))",
            "SELECT max(quote(randomblob(1000000))) FROM orders",
            "SELECT group_concat(DISTINCT note) FROM orders",
            "SELECT hex(randomblob(4000000)) = hex(randomblob(4000000)) FROM customers",
        ],
    ),
}
"""Family -> outcomes that are right, what the message must say, statements."""

STOPPED_FAMILIES = frozenset(
    {"memory bomb", "endless recursion", "cross join", "one slow step", "slow function"}
)
"""Families that get the short deadline."""
