"""`merito sql`: the sandbox by hand."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.errors import MeritoError
from tests.core.database import hostile
from tui.commands.sql import command


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "root" / "shop"
    folder.mkdir(parents=True)
    return hostile.build(folder / "shop.sqlite")


def run(*arguments: str | Path, standard_input: str | bytes | None = None) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], input=standard_input)


def as_json(*arguments: str | Path) -> tuple[dict[str, Any], int]:
    result = run(*arguments, "--json")
    (line,) = result.stdout.splitlines()
    return json.loads(line), result.exit_code


def test_json_is_one_object(shop: Path) -> None:
    told, code = as_json(shop, "SELECT id, name FROM customers LIMIT 2")
    seconds = told.pop("seconds")
    assert told == {
        "status": "ok",
        "columns": ["id", "name"],
        "rows": [[1, "Customer 0"], [2, "Customer 1"]],
        "truncated": False,
        "error": "",
    }
    assert 0 < seconds < 5
    assert code == 0


@pytest.mark.parametrize(
    ("sql", "status", "error"),
    [
        ("SELECT x FROM customers", "error", "no such column: x"),
        ("DELETE FROM customers", "error", "not authorized: DELETE customers"),
        ("SELECT 1; SELECT 2", "error", "more than one statement"),
        ("", "error", "no SQL found: the statement is empty"),
        ("SELECT hex(zeroblob(15000000))", "limit", "string or blob too big"),
    ],
)
def test_a_failed_statement_exits_with_1(shop: Path, sql: str, status: str, error: str) -> None:
    told, code = as_json(shop, sql)
    assert (told["status"], told["error"], told["rows"], code) == (status, error, [], 1)


def test_the_deadline_is_kept(shop: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    told, code = as_json(shop, endless, "--deadline", "0.2")
    assert (told["status"], code) == ("timeout", 1)
    assert 0.2 <= told["seconds"] < 1.2


def test_rows_are_cut_where_asked(shop: Path) -> None:
    told, _ = as_json(shop, "SELECT id FROM orders ORDER BY id", "--rows", "3")
    assert (told["rows"], told["truncated"]) == ([[1], [2], [3]], True)
    told, _ = as_json(shop, "SELECT id FROM customers", "--rows", "50")
    assert (len(told["rows"]), told["truncated"]) == (50, False)


def test_odd_values_are_still_json(shop: Path) -> None:
    told, _ = as_json(shop, "SELECT 1e999, x'00ff', char(0), CAST(x'ff' AS TEXT), NULL, 'é'")
    assert told["rows"] == [["inf", "x'00FF'", "\ufffd", "\ufffd", None, "é"]]


def test_a_long_value_is_cut_and_says_so(shop: Path) -> None:
    told, _ = as_json(shop, "SELECT hex(zeroblob(1000000))")
    assert told["truncated"]
    assert told["rows"][0][0].endswith("…")


def test_an_id_under_a_root(shop: Path) -> None:
    told, _ = as_json("shop", "SELECT count(*) FROM customers", "--root", shop.parents[1])
    assert told["rows"] == [[50]]


def test_an_unknown_id_names_the_nearest(shop: Path) -> None:
    result = run("shpo", "SELECT 1", "--root", shop.parents[1])
    assert isinstance(result.exception, MeritoError)
    assert result.exception.mend == "Did you mean shop?"


@pytest.mark.parametrize("name", ["gone.sqlite", "root"])
def test_a_bad_database_is_explained(shop: Path, tmp_path: Path, name: str) -> None:
    assert isinstance(run(tmp_path / name, "SELECT 1").exception, MeritoError)


def test_the_statement_from_standard_input(shop: Path) -> None:
    result = run(shop, "-", "--json", standard_input="SELECT 'é'\n;\n")
    assert json.loads(result.stdout)["rows"] == [["é"]]
    result = run(shop, "-", "--json", standard_input=b"SELECT '\xff'")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["status"] == "error"


def test_a_table_for_people(shop: Path) -> None:
    result = run(shop, "SELECT id, name, NULL AS missing FROM customers LIMIT 2")
    assert "Customer 1" in result.stdout
    assert "NULL" in result.stdout
    assert "2 rows" in result.stdout
    assert result.exit_code == 0


def test_a_wide_table_stays_on_its_lines_in_a_pipe(shop: Path) -> None:
    wide = ", ".join(f"'value {n}' AS column_{n}" for n in range(60))
    lines = run(shop, f"SELECT {wide}").stdout.splitlines()
    assert sum("value" in line for line in lines) == 1


def test_data_is_never_markup(shop: Path) -> None:
    result = run(shop, "SELECT '[/red][bold]x[/]' AS \"[link=evil]\", char(27) || '[2J'")
    assert "[/red][bold]x[/]" in result.stdout
    assert "[link=evil]" in result.stdout
    assert "\x1b" not in result.stdout
    assert "␛[2J" in result.stdout


def test_an_error_is_plain_text_on_standard_error(shop: Path) -> None:
    result = run(shop, 'SELECT [/x] FROM "[bold]"')
    assert result.stdout == ""
    assert "no such table: [bold]" in result.stderr
    assert result.exit_code == 1


@pytest.mark.parametrize(
    "arguments", [[], ["x.sqlite"], ["x", "SELECT 1", "--deadline", "0"], ["x", "y", "--rows", "-1"]]
)
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_help_has_an_example() -> None:
    assert 'merito sql shop.sqlite "SELECT count(*) FROM orders"' in run("--help").stdout


def test_a_statement_that_begins_with_a_comment(shop: Path) -> None:
    result = run("--json", shop, "--", "-- count them\nSELECT count(*) FROM customers")
    assert json.loads(result.stdout)["rows"] == [[50]]


def test_the_command_itself_imports_nothing_heavy() -> None:
    heavy = ("asyncio", "rich", "msgspec", "sqlite3", "textual")
    program = f"import sys, tui.commands.sql; print([name for name in {heavy} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.data
def test_a_database_of_the_benchmark(data_folder: Path) -> None:
    told, code = as_json("superhero", "SELECT count(*) FROM superhero", "--root", data_folder / "bird")
    assert (told["rows"], code) == ([[750]], 0)


def test_nothing_is_written_by_reading(shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with hostile.untouched(shop):
        told, _ = as_json(shop, "SELECT count(*) FROM customers")
    assert told["rows"] == [[50]]
