"""What a statement may do inside the sandbox: an allow-list, and limits that real queries fit.

Standard library only, since the sandbox's worker runs without the project's packages.
"""

from __future__ import annotations

import contextlib
import sqlite3

MIB = 1024 * 1024

HARD_HEAP_BYTES = 256 * MIB
"""All that SQLite may allocate in one worker, sorts and temporary tables included."""

LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 16_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 2_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 250_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 100,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""SQLite's run-time limits; wider than its own "high security" table, which real queries exceed."""

LIMIT_MESSAGES = (
    "string or blob too big",
    "Expression tree is too large",
    "too many terms in compound SELECT",
    "too many arguments on function",
    "LIKE or GLOB pattern too complex",
    "query string is too large",
    "too many SQL variables",
    "variable number must be between",
    "out of memory",
)
"""How SQLite words a stop at one of `LIMITS`: the sandbox's doing, so it counts as a limit hit."""

FUNCTIONS = frozenset(
    """
    abs changes char coalesce concat concat_ws format glob hex if ifnull iif instr
    last_insert_rowid length like likelihood likely lower ltrim match max min nullif octet_length
    printf quote random randomblob regexp replace round rtrim sign soundex substr substring
    sqlite_version total_changes trim typeof unhex unicode unistr unistr_quote unlikely upper
    zeroblob
    avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank
    row_number
    current_date current_time current_timestamp date datetime julianday strftime time timediff
    unixepoch
    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10
    log2 mod pi pow power radians sin sinh sqrt tan tanh trunc
    -> ->> json json_array json_array_length json_error_position json_extract json_group_array
    json_group_object json_insert json_object json_patch json_pretty json_quote json_remove
    json_replace json_set json_type json_valid jsonb jsonb_array jsonb_extract jsonb_group_array
    jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set
    subtype
    bm25 highlight matchinfo offsets snippet
    """.split()  # noqa: SIM905 - a table of words
)
"""Functions that read their arguments and nothing else."""

READABLE_MODULES = ("json_each", "json_tree")
"""Table-valued functions that may be read; every other one shows SQLite's insides."""

_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_ACTIONS = {
    getattr(sqlite3, f"SQLITE_{name.replace(' ', '_')}"): name
    for name in (
        "INSERT",
        "UPDATE",
        "DELETE",
        "PRAGMA",
        "ATTACH",
        "DETACH",
        "TRANSACTION",
        "SAVEPOINT",
        "ALTER TABLE",
        "REINDEX",
        "ANALYZE",
        "CREATE INDEX",
        "CREATE TABLE",
        "CREATE TEMP INDEX",
        "CREATE TEMP TABLE",
        "CREATE TEMP TRIGGER",
        "CREATE TEMP VIEW",
        "CREATE TRIGGER",
        "CREATE VIEW",
        "CREATE VTABLE",
        "DROP INDEX",
        "DROP TABLE",
        "DROP TRIGGER",
        "DROP VIEW",
        "DROP VTABLE",
    )
}
_SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_temp_master"})


class Authorizer:
    """SQLite's authorizer callback: default deny, one instance a connection.

    It stays installed while a statement steps, so what virtual tables prepare on the way is
    judged as well. `refused` names the first action of the statement that was not allowed.
    """

    def __init__(self) -> None:
        self.refused = ""
        self.setting_up = True

    def __call__(
        self, action: int, first: str | None, second: str | None, _schema: str | None, _by: str | None
    ) -> int:
        """SQLITE_OK or SQLITE_DENY for one action of the statement being prepared or stepped."""
        if action in _ALLOWED or self.setting_up:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        self.refused = self.refused or _named(action, first or "")
        return sqlite3.SQLITE_DENY


def _named(action: int, first: str) -> str:
    if first.lower() in _SCHEMA_TABLES:
        # Setting up a table-valued function passes for an update of the schema table.
        own = action == sqlite3.SQLITE_UPDATE
        return "one of SQLite's own tables" if own else "a change of the schema"
    return f"{_ACTIONS.get(action, '')} {first}".strip()


def install(connection: sqlite3.Connection) -> Authorizer:
    """Put limits and authorizer on a connection that has its pragmas already."""
    connection.execute(f"PRAGMA hard_heap_limit={HARD_HEAP_BYTES}").close()
    for category, value in LIMITS.items():
        connection.setlimit(category, value)
    configure = getattr(connection, "setconfig", None)
    if configure is not None:  # Python 3.12 and later
        configure(getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE"), True)  # noqa: B009
    authorizer = Authorizer()
    # Installed first: a new authorizer makes SQLite prepare all its statements again.
    connection.set_authorizer(authorizer)
    _set_up_virtual_tables(connection)
    authorizer.setting_up = False
    return authorizer


def _set_up_virtual_tables(connection: sqlite3.Connection) -> None:
    """Let the readable virtual tables prepare what they need while that is still allowed.

    Whatever is not set up here can never be: the authorizer denies it.
    """
    rows = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL %'")
    for name in (*READABLE_MODULES, *(row[0] for row in rows.fetchall())):
        table = '"' + name.replace('"', '""') + '"'
        for reading in (f"SELECT 1 FROM {table} LIMIT 0", f"SELECT 1 FROM {table}('a') LIMIT 1"):
            with contextlib.suppress(sqlite3.Error):  # a module that is absent, or takes no argument
                connection.execute(reading).close()
