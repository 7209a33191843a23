"""The story of a run as a page: complete, self-contained, and safe whatever stands in it."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from core.feedback.verdict import Status
from core.memory.entry import MemoryEntry, Polarity
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    EpisodeEnded,
    EpisodeOutcome,
    Hint,
    MemoriesRetrieved,
    PromptSent,
    ReflectionWritten,
    SqlExecuted,
)
from tests.core.redaction.test_redacting import MARKER, a_full_run
from tests.streams import run_events, unconfirmed_events
from tests.tui.console.test_hostile_text import EVERYTHING, HOSTILE, poisoned, raw_left
from tests.tui.view.test_plain import told
from tests.tui.view.test_playback import eventful
from tui.pages import run_page
from tui.pages.run_page import episodes, sql_markup, write_run_page
from tui.replaying import Take
from tui.view.difference import changes
from tui.view.reel import Listed


def page(folder: Path, events: Sequence[AnyEvent], *, redact: bool = False) -> str:
    take = Take("run-1", Listed(events))
    path = folder / "page.html"
    assert write_run_page(take.hidden() if redact else take, path) == len(events)
    return path.read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Which elements a page has, with their attributes, and what it says."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words += data

    @property
    def said(self) -> str:
        return re.sub(r"\s+", " ", self.words)


def test_it_tells_the_figures_the_questions_and_each_attempt(tmp_path: Path) -> None:
    said = Reader(page(tmp_path, run_events(8))).said
    assert "83.3 % (5 of 6) right now" in said
    assert "1. Which orchard picked the most early crates in week 0?" in said
    assert "First SQL \u00d7 execution error" in said
    assert "Repair 1 of 7 ✓ right" in said
    assert "The database says: misuse of aggregate: SUM()" in said
    assert "Failure type Syntax by the rule rule Syntax" in said
    assert "hint: no row has id > 0" in said
    assert "Memory, positive: 1 of 1 taken" in said
    assert "hybrid 1.000" in said
    assert "raw 0.900" in said
    assert "the same SQL as repair 6 of 7; not run again" in said
    assert "Taught a positive memory" in said
    assert "engine trouble" not in said, "what has passed is no longer trouble"


WORD = "quokka"
"""Stands in no run of the tests."""
OF_ATTEMPTS = PromptSent, AnswerWritten, SqlExecuted, AttemptJudged, ReflectionWritten, EpisodeEnded
"""Trouble with the engine that has passed is told while it lasts, not in the story."""
TEXTS = sorted(
    {field.name for kind in OF_ATTEMPTS for field in msgspec.structs.fields(kind) if field.type is str}
    - {"run"}
)


def much_told() -> list[AnyEvent]:
    """A run in which attempts have all that attempts can have side by side."""
    said = {"remark": "not these", "correction": "SELECT 1", "judge": "Ada"}
    return [
        msgspec.structs.replace(event, **said) if isinstance(event, AttemptJudged) else event
        for event in run_events(8, reflections=True)
    ]


def changed(events: Sequence[AnyEvent], **fields: object) -> list[AnyEvent]:
    """The same with these fields in every event of an attempt that has one of them."""
    made: list[AnyEvent] = []
    for event in events:
        own = {name: value for name, value in fields.items() if name in event.__struct_fields__}
        fits = isinstance(event, OF_ATTEMPTS) and own
        made.append(msgspec.structs.replace(event, **own) if fits else event)
    return made


@pytest.mark.parametrize("field", TEXTS)
def test_what_plain_text_says_of_an_attempt_the_page_says_too(tmp_path: Path, field: str) -> None:
    events = changed(much_told(), **{field: WORD})
    assert WORD not in told(much_told())
    said = Reader(page(tmp_path, events)).said
    assert (WORD in said) or (WORD not in told(events)), f"the page keeps silent about {field}"


def test_the_texts_of_an_attempt_that_plain_text_tells_are_not_none() -> None:
    spoken = {field for field in TEXTS if WORD in told(changed(much_told(), **{field: WORD}))}
    assert spoken >= {
        "sql",
        "mended",
        "message",
        "rule",
        "refused",
        "judge",
        "remark",
        "correction",
        "text",
    }


@pytest.mark.parametrize(
    ("fields", "plainly", "on_the_page"),
    [
        ({"hints": (Hint(attempt=0, kind="probe", text=WORD),)}, f"hint: {WORD}", f"hint: {WORD}"),
        ({"mended": WORD}, f"by rule, no model call: {WORD}", f"by rule, no model call: {WORD}"),
        ({"reused": True}, "taken over from an earlier run", "Taken over from an earlier run"),
        ({"finish": "length"}, "cut at the token limit", "cut at the token limit"),
        ({"limit_hit": True, "failure": None}, "a limit of the sandbox", "A limit of the sandbox"),
        ({"skipped": True}, "passed over by Ada", "- skipped"),
        ({"repeats": 0}, "the same SQL as the first SQL", "the same SQL as the first SQL"),
        ({"refused": WORD}, f"not put before the judge: {WORD}", f"Not put before the judge: {WORD}"),
        ({"confirmed": False}, "right (unconfirmed)", "right, unconfirmed"),
    ],
)
def test_a_fact_of_an_attempt_stands_in_plain_text_and_on_the_page(
    tmp_path: Path, fields: dict[str, object], plainly: str, on_the_page: str
) -> None:
    events = changed(much_told(), **fields)
    assert plainly in told(events)
    assert on_the_page in Reader(page(tmp_path, events)).said


def as_example(entry: MemoryEntry | None) -> MemoryEntry | None:
    """The entry as an example: right at once, so no SQL had failed before."""
    if entry is None:
        return None
    context = msgspec.structs.replace(entry.context, failed_sql="")
    return msgspec.structs.replace(
        entry, polarity=Polarity.EXAMPLE, context=context, outcome=Status.CORRECT
    )


def test_an_example_is_called_one_where_it_is_learned_and_where_it_helps(
    tmp_path: Path,
) -> None:
    events: list[AnyEvent] = []
    for event in run_events(8):
        match event:
            case EpisodeEnded():
                event = msgspec.structs.replace(event, memory=as_example(event.memory))
            case MemoriesRetrieved():
                entries = tuple(filter(None, map(as_example, event.entries)))
                event = msgspec.structs.replace(event, entries=entries)
            case _:
                pass
        events.append(event)
    said = Reader(page(tmp_path, events)).said
    assert "Taught an example" in said
    assert "= remembers that this was right at once:" in said
    assert "a example" not in said
    assert "failed" not in said.split("= remembers")[1][:60]


def test_every_question_stands_with_its_state_and_can_be_found(tmp_path: Path) -> None:
    reader = Reader(page(tmp_path, run_events(8)))
    details = [a for tag, a in reader.elements if tag == "details"]
    questions = [a for a in details if "question" in (a.get("class") or "")]
    assert [each["id"] for each in questions] == [f"q{n}" for n in range(1, 9)]
    linked = [a["href"] for tag, a in reader.elements if tag == "a"]
    assert linked == [f"#q{n}" for n in range(1, 9)]


def test_it_loads_nothing_and_runs_nothing(tmp_path: Path) -> None:
    text = page(tmp_path, run_events(8))
    tags = {tag for tag, _ in Reader(text).elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    assert not re.search(r"https?://|url\(|@import|javascript:", text)


@pytest.mark.parametrize("name", [*HOSTILE, "markup"])
def test_hostile_text_stays_text(tmp_path: Path, name: str) -> None:
    hostile = "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>\"'`{{ 7 * 7 }}"
    text = page(tmp_path, poisoned(HOSTILE.get(name, hostile)))
    reader = Reader(text)
    assert reader.open == []
    assert raw_left(text) == set()
    assert {tag for tag, _ in reader.elements} <= TAGS
    assert not any(key.startswith("on") for _, attributes in reader.elements for key in attributes)


TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "footer", "section", "nav", "div",
    "h1", "h2", "h3", "p", "pre", "ul", "li", "dl", "dt", "dd", "details", "summary", "label", "input",
    "table", "thead", "tbody", "tr", "th", "td", "a", "b", "i", "span", "code", "ins", "del",
}  # fmt: skip


def test_nothing_vanishes(tmp_path: Path) -> None:
    said = Reader(page(tmp_path, poisoned(HOSTILE["bracketed names"]))).said
    assert said.count(HOSTILE["bracketed names"]) > 20


def test_all_of_it_at_once_is_a_small_page(tmp_path: Path) -> None:
    assert len(page(tmp_path, poisoned(EVERYTHING))) < 2_000_000


def test_a_run_that_is_not_over_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    said = Reader(page(tmp_path, run_events(8, end=None)[:20])).said
    assert "it did not end, or goes on" in said
    assert "waiting: " in said


def test_episodes_come_in_the_order_of_the_stream_however_they_were_woven() -> None:
    whole = list(episodes(eventful()))
    assert [episode.position for episode in whole] == list(range(60))
    assert all(episode.outcome is not None for episode in whole)


def test_a_very_long_run_is_listed_whole_and_told_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_page, "MOST_TOLD", 5)
    text = page(tmp_path, run_events(12, plans=[(EpisodeOutcome.RIGHT_AT_ONCE, 0)]))
    assert text.count('id="q') == 5
    assert "The first 5 are told in full" in Reader(text).said


def test_a_redacted_page_says_so_and_holds_no_value(tmp_path: Path) -> None:
    assert MARKER in page(tmp_path, a_full_run())
    text = page(tmp_path, a_full_run(), redact=True)
    assert "Redacted:" in Reader(text).said
    assert MARKER.casefold() not in text.casefold()


def test_sql_is_coloured_and_its_difference_marked() -> None:
    old, new = "SELECT a FROM t", "SELECT b FROM t WHERE x = 'y<z'"
    marked = sql_markup(new, changes(old, new))
    assert '<span class="k">SELECT</span>' in marked
    assert '<ins class="added">b</ins>' in marked
    assert "y&lt;z" in marked
    assert html.unescape(re.sub(r"<[^>]+>", "", marked)) == new
    assert "more characters" in sql_markup("SELECT " + "x" * 100_000)


@pytest.mark.parametrize(
    ("regime", "words"),
    [
        ("execution", ("(1 of 2) ran at first, unconfirmed", "✓ ran: 1, + runs now: 1.")),
        ("consensus", ("(1 of 2) agreed at first, unconfirmed", "✓ agreed: 1, + agreed: 1.")),
    ],
)
def test_an_answer_that_nobody_confirmed_is_nowhere_called_right(
    tmp_path: Path, regime: str, words: tuple[str, ...]
) -> None:
    text = Reader(page(tmp_path, unconfirmed_events(regime))).said
    assert all(each in text for each in words), text
    assert not re.search(r"\bright\b|\brepaired\b", told_of_answers(text))


def told_of_answers(said: str) -> str:
    """What a page says without the line that tells what decided."""
    return re.sub(r"judged by .*? that an answer is right", "", said)
