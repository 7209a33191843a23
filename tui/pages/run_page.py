"""The story of a run as one page: its figures with their numbers, each question, each attempt with
what fed it. The events are read twice and told as they come; no more than the questions under way
are in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from core.memory.entry import ChannelRetrieval, MemoryEntry, RankedEntry
from core.run.events import AnyEvent, EpisodeStarted, RunStarted
from core.wording import counted
from tui.pages.environment import template, write_page
from tui.replaying import Take
from tui.view.acceptance import acceptance_by
from tui.view.difference import Change, changes
from tui.view.episode_view import MENDED, AttemptView, EpisodeEvent, EpisodeView
from tui.view.legible import legible
from tui.view.pieces import pieces
from tui.view.polarity import POLARITY_WORDS
from tui.view.run_view import QueueRow, RunView, attempt_words
from tui.view.sql_tokens import tokens
from tui.view.states import SIGNS, State
from tui.view.summary import model_words, summary

MOST_TOLD = 1_000
"""Questions told in full; a browser does not like a page of a hundred megabytes. All are listed."""
MOST_ROWS, MOST_COLUMNS = 20, 40
LONGEST_SQL = 8_000


class Taken(NamedTuple):
    """A memory in a prompt: how it was ranked, and what it says."""

    ranked: RankedEntry
    entry: MemoryEntry | None


def write_run_page(take: Take, path: Path) -> int:
    """Write the page; returns how many events it tells of. Raises MeritoError where the run cannot be
    read or the file cannot be written."""
    view = RunView(keep=1)
    for event in take.events():
        view.apply(event)
    made = template("run.html.jinja", sql=sql_markup, sign=SIGNS.__getitem__, when=_when)
    write_page(
        path,
        made,
        figures=view.figures,
        facts_about=_facts(view, take),
        summary=summary(view.figures),
        happenings=list(view.happenings),
        rows=view.rows,
        told=MOST_TOLD,
        counts=(counts := _counts(view.rows)),
        numbers={state: number for number, (state, _) in enumerate(counts, start=1)},
        episodes=episodes(take.events()),
        states=State,
        words=view.acceptance,
        words_of=acceptance_by,
        tone=TONES,
        budget=view.budget,
        most_rows=MOST_ROWS,
        most_columns=MOST_COLUMNS,
        redacted=take.redacted,
        taken=taken,
        mended=MENDED,
        polarities=POLARITY_WORDS,
        transition=transition,
        attempt_name=attempt_words,
    )
    return len(take.reel)


def episodes(events: Iterable[AnyEvent]) -> Iterator[EpisodeView]:
    """The first MOST_TOLD episodes in the order of the stream, each when it is whole; those that were
    left open come last."""
    open_ones: dict[int, EpisodeView] = {}
    upcoming = 0
    for event in events:
        if not isinstance(event, EpisodeEvent) or event.position >= MOST_TOLD:
            continue
        if isinstance(event, EpisodeStarted):
            open_ones.setdefault(event.position, EpisodeView(event.position, event.question))
        episode = open_ones.get(event.position)
        if episode is not None:
            episode.apply(event)
        while upcoming in open_ones and open_ones[upcoming].outcome is not None:
            yield open_ones.pop(upcoming)
            upcoming += 1
    for position in sorted(open_ones):
        yield open_ones[position]


def sql_markup(sql: str, made: tuple[Change, ...] = ()) -> Markup:
    """SQL in colour, what is new in it marked; every character of it escaped."""
    shown = sql[:LONGEST_SQL]
    spans = [(token.start, token.end, _TOKENS.get(token.kind, "")) for token in tokens(shown)]
    spans += [
        (change.start, min(change.end, LONGEST_SQL), "added")
        for change in made
        if change.new and change.start < LONGEST_SQL
    ]
    parts = []
    for text, style in pieces(shown, spans):
        tag = "ins" if "added" in style else "span"
        words = escape(legible(text, LONGEST_SQL))
        parts.append(Markup('<{0} class="{1}">{2}</{0}>').format(tag, style, words) if style else words)
    left_out = len(sql) - len(shown)
    if left_out > 0:
        parts.append(escape(f"... ({left_out:,} more characters)"))
    return Markup("").join(parts)


def taken(channel: ChannelRetrieval, attempt: AttemptView) -> list[Taken]:
    """The memories of a channel that went into the prompt."""
    known = {entry.id: entry for entry in attempt.entries}
    return [Taken(ranked, known.get(ranked.id)) for ranked in channel.candidates[: channel.taken]]


def transition(entry: MemoryEntry) -> tuple[Change, ...]:
    """What a memory's SQL became against the SQL that had failed; nothing where none had."""
    failed = entry.context.failed_sql
    return changes(failed, entry.revised_sql) if failed else ()


def _facts(view: RunView, take: Take) -> list[tuple[str, Any]]:
    """What the run was: settings and model, in words."""
    figures, settings = view.figures, view.figures.settings
    opening = take.reel.read(0, 1)[0]
    assert isinstance(opening, RunStarted)
    facts = [("run", figures.run), ("began", _when(opening.at)), ("model", model_words(figures))]
    if settings is not None:
        repairs = (
            f"at most {counted(view.budget, 'repair')} a question" if view.budget else "no repairs"
        )
        facts += [
            ("questions from", settings.dataset),
            ("strategy", f"{settings.strategy}, {repairs}"),
            ("memory", f"{settings.memory}, layout {settings.layout}"),
            ("judged by", f"{settings.regime}, equality as in {settings.protocol}"),
        ]
    ended = figures.ended or "it did not end, or goes on"
    versions = ", ".join(f"{name} {version}" for name, version in opening.versions.items())
    return [*facts, ("ended", ended), *([("versions", versions)] if versions else [])]


def _counts(rows: list[QueueRow]) -> list[tuple[State, int]]:
    """How many questions stand in each state, the states in their own order."""
    found = [(state, sum(row.state is state for row in rows)) for state in State]
    return [(state, count) for state, count in found if count]


def _when(at: float) -> str:
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M}"


TONES: dict[State, str] = {
    State.RIGHT: "good",
    State.REPAIRED: "good",
    State.CORRECTED: "good",
    State.WRONG: "bad",
    State.BROKEN: "warn",
    State.TROUBLE: "warn",
    State.YOURS: "warn",
}
_TOKENS = {"keyword": "k", "string": "s", "number": "m", "comment": "c"}
