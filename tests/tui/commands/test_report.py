"""`merito report`: every figure against a query of its own, and files that hold hostile text."""

from __future__ import annotations

import csv
import html.parser
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.run.events import AttemptJudged, RunStarted
from stores.store import Store
from tests.streams import HOSTILE, batches, question, run_events, settings
from tests.tui.commands.test_bench import served, stream, told, words
from tui.experiments import files
from tui.experiments.reporting import reported, stored_metrics
from tui.main import run

__all__ = ["stream"]


async def test_files_hold_the_same_tables(stream: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stream.parent
    async with served() as (_, model):
        _, out, _ = await told(capsys, *words(stream, model, "s.sqlite", "--json"))
    experiment = json.loads(out.splitlines()[0])["experiment"]
    code, said, _ = await told(
        capsys, "report", "--experiment", experiment, "--store", folder / "s.sqlite",
        "--html", folder / "r.html", "--markdown", folder / "r.md", "--csv", folder / "tables",
    )  # fmt: skip
    assert code == 0
    assert "Written: " in said
    rows = [json.loads(line) for line in out.splitlines()]
    for name in ("accuracy", "differences", "repairs", "cost", "failures", "runs", "questions"):
        with (folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            written = list(csv.DictReader(file))
        wanted = [
            {k: v for k, v in row.items() if k != "table"} for row in rows if row.get("table") == name
        ]
        assert written == [{k: "" if v is None else str(v) for k, v in row.items()} for row in wanted]
    text = (folder / "r.md").read_text("utf-8")
    assert "## Execution accuracy" in text
    assert "50.00" in text
    page = (folder / "r.html").read_text("utf-8")
    assert page.count("<svg") == 3
    assert "50.00" in page


class Page(html.parser.HTMLParser):
    """Notes every tag and attribute, and whether the tags close as they opened."""

    VOID = frozenset({"meta", "line", "polyline", "circle", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


EVIL = "</pre></title><script>alert(1)</script><img src=x onerror=alert(1)> {{ 7 * 7 }} {% raw %}"


def hostile_store(path: Path) -> Store:
    """Two runs whose questions, SQL and messages try to break out."""
    store = Store.create(path)
    for name, right in (("plain", 0), ("other", 1)):
        events: list[Any] = []
        for event in run_events(8, run=name, run_settings=settings(strategy=name, dataset=EVIL)):
            if isinstance(event, RunStarted):
                asked = tuple(question(n, text=f"{EVIL} {HOSTILE} {n}") for n in range(8))
                event = msgspec.structs.replace(event, questions=asked, problems=(EVIL,))
            if isinstance(event, AttemptJudged):
                event = msgspec.structs.replace(event, sql=EVIL + HOSTILE, message=EVIL + HOSTILE)
            if right and getattr(event, "outcome", None) == "failed":
                event = msgspec.structs.replace(event, outcome="right at once")
            events.append(event)
        for batch in batches(events):
            store.append(batch)
    return store


def test_text_from_outside_is_never_markup(tmp_path: Path) -> None:
    with closing(hostile_store(tmp_path / "s.sqlite")) as store:
        report = reported(stored_metrics(store, ["plain", "other"]), EVIL)
    assert report.stories
    files.write_page(tmp_path / "r.html", report)
    text = (tmp_path / "r.html").read_text("utf-8")
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert not page.tags & {"script", "img", "link", "iframe", "object", "a"}
    assert not {name for name in page.attributes if name.startswith("on") or name in ("src", "href")}
    assert "{{ 7 * 7 }}" in text
    assert "\x1b" not in text + files.markdown(report)
    assert "<script" not in files.markdown(report).replace("\\<", "")
    assert files.write_csv(tmp_path / "tables", report)


def test_the_terminal_sees_no_control_character(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile_store(tmp_path / "s.sqlite").close()
    assert run(["report", "plain", "other", "--store", str(tmp_path / "s.sqlite")]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "<img src=x" in out


MISTAKES: dict[str, tuple[list[str], int, str]] = {
    "nothing named": ([], 2, "Name a RUN"),
    "no such run": (["gone"], 2, "'gone'"),
    "no such experiment": (["--experiment", "x0"], 2, "'x0'"),
    "labels that are not there": (["plain", "--labels", "none.csv"], 2, "none.csv"),
    "a file in a file": (["plain", "--html", "s.sqlite/r.html"], 1, "r.html"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_clear_line(
    mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile_store(tmp_path / "s.sqlite").close()
    monkeypatch.chdir(tmp_path)
    more, code, said = MISTAKES[mistake]
    assert run(["report", "--store", "s.sqlite", *more]) == code
    assert said in capsys.readouterr().err


def test_labels_name_their_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile_store(tmp_path / "s.sqlite").close()
    labels = tmp_path / "labels.csv"
    labels.write_text("question,label\nq1,Syntax\nq2,Sintax\n", "utf-8")
    command = ["report", "plain", "--store", str(tmp_path / "s.sqlite"), "--labels", str(labels)]
    assert run(command) == 1
    assert "record 3" in capsys.readouterr().err
    labels.write_text("question,label\nq1,Result Mismatch\nq2,Syntax\n", "utf-8")
    assert run(command) == 0
    assert "Failure classifier against labels" in capsys.readouterr().out
