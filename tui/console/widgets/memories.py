"""The memories that fed an attempt: scores as bars with their numbers, pools, fallback, origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from core.memory.entry import ChannelRetrieval, MemoryEntry, Polarity, RankedEntry
from tui.console.ink import (
    ACCENT,
    BAD,
    BLANK,
    GOOD,
    QUIET,
    TITLE,
    WARN,
    Line,
    bar,
    change_parts,
    ink,
    line,
    rule,
    sql_lines,
)
from tui.console.widgets.episode import attempt_name
from tui.console.widgets.paper import Block, Paper
from tui.console.widgets.selection import drafted_blocks
from tui.view.difference import changes
from tui.view.episode_view import AttemptView
from tui.view.legible import one_line
from tui.view.polarity import POLARITY_WORDS

SELECTION = "selection of the first SQL"
_LEFT_OUT = 5
_CHANGES = 6


class Memories(Paper):
    """What memory offered for the selected attempt; for a first SQL that was chosen among candidates,
    the selection."""

    def __init__(self) -> None:
        super().__init__(id="memories", classes="pane")

    def show_attempt(self, attempt: AttemptView | None, budget: int) -> None:
        """Draw the retrieval of this attempt."""
        if attempt is None:
            words = "Select an attempt to see which memories fed it."
            self.show([Block("none", words, lambda _width: [line((words, QUIET), indent=1)])])
            return
        self.border_subtitle = SELECTION if attempt.drawn or attempt.selected else ""
        if attempt.drawn or attempt.selected:
            self.show(drafted_blocks(attempt.drawn, attempt.selected))
            return
        self.show(_blocks(attempt, budget))


def _blocks(attempt: AttemptView, budget: int) -> list[Block]:
    """Heading, then each channel, each of its entries a block of its own: an entry that the next
    attempt retrieves again is not drawn again."""
    name = attempt_name(attempt.number, budget)
    retrieval = attempt.retrieval
    if retrieval is None:
        why = (
            "The first SQL is written without memory."
            if attempt.number == 0
            else "Nothing was retrieved for this attempt."
        )
        return [Block("heading", (name, why), lambda _width: [_for(name), line((why, QUIET))])]
    took = f"found in {1_000 * retrieval.seconds:.1f} ms"
    blocks = [
        Block("heading", (name, took), lambda _width: [line(_for(name).content, (f"  {took}", QUIET))])
    ]
    known = {entry.id: entry for entry in attempt.entries}
    for channel in retrieval.channels:
        blocks += _channel(channel, known)
    return blocks


def _for(name: str) -> Line:
    return line((f"for {name}", TITLE))


def _channel(channel: ChannelRetrieval, known: dict[str, MemoryEntry]) -> Iterator[Block]:
    pools = (channel.legal, channel.typed, channel.pool, channel.taken, channel.fallback)
    yield Block(("pools", channel.channel), pools, partial(_pools, channel))
    for ranked in channel.candidates[: channel.taken]:
        entry = known.get(ranked.id)
        yield Block(
            (channel.channel, ranked.id), (ranked, entry is None), partial(_taken, ranked, entry)
        )
    left_out = channel.candidates[channel.taken : channel.taken + _LEFT_OUT]
    yield Block(("left out", channel.channel), left_out, partial(_passed_over, left_out))


def _pools(channel: ChannelRetrieval, width: int) -> list[Line]:
    style = {"positive": GOOD, "negative": BAD}.get(channel.channel, ACCENT)
    title = ink((one_line(channel.channel, 40), f"{style} bold"))
    heading = rule(title, width=width, tail=(f"{channel.taken} of {channel.pool} taken", QUIET))
    filtered = (f"{channel.legal} legal, {channel.typed} of the same failure type", QUIET)
    too_few = ("; too few, so all legal ones were ranked" if channel.fallback else "", WARN)
    return [heading, line(filtered, too_few)]


def _taken(ranked: RankedEntry, entry: MemoryEntry | None, width: int) -> list[Line]:
    cells = 10 if width >= 44 else 6
    match = ("same type", GOOD) if ranked.type_match else ("other type", QUIET)
    lines = [
        line(
            (f"{ranked.rank} ", TITLE),
            ("score   ", QUIET),
            (bar(ranked.score, cells), ACCENT),
            (f" {ranked.score:.3f} ", TITLE),
            match,
            wrap=False,
        ),
        _score("meaning", ranked.dense_norm, ranked.dense, cells),
        _score("words", ranked.bm25_norm, ranked.bm25, cells),
        line((_origin(ranked, entry), QUIET), indent=2),
    ]
    if entry is None:
        return lines
    lines.append(line(("asked ", QUIET), one_line(entry.context.question, 300), indent=2))
    lines += transition(entry, indent=2)
    return [*lines, BLANK]


def _score(name: str, share: float, raw: float, cells: int) -> Line:
    return line(
        (f"{name:<8}", QUIET),
        (bar(share, cells), QUIET),
        f" {share:.3f}",
        (f" raw {raw:.3f}", QUIET),
        indent=2,
        wrap=False,
    )


def _passed_over(left_out: Sequence[RankedEntry], _width: int) -> list[Line]:
    lines = []
    for ranked in left_out:
        score = f"{ranked.rank} {bar(ranked.score, 6)} {ranked.score:.3f}"
        place = f"question {ranked.source_position + 1}"
        lines.append(line((f"{score} not taken, {place}", QUIET), wrap=False))
    return [*lines, BLANK] if lines else []


def _origin(ranked: RankedEntry, entry: MemoryEntry | None) -> str:
    database = f", {one_line(entry.context.database, 60)}" if entry is not None else ""
    return (
        f"from question {ranked.source_position + 1}{database}, run {one_line(ranked.source_run, 60)}"
    )


def transition(entry: MemoryEntry, indent: int) -> list[Line]:
    """What was tried and what it became: the new SQL with its difference, then the delta in words."""
    if entry.polarity is Polarity.EXAMPLE:
        right = line((POLARITY_WORDS[entry.polarity].became, GOOD), (":", QUIET), indent=indent)
        return [right, *sql_lines(entry.revised_sql, (), indent + 2)]
    arrow = ("worked", GOOD) if entry.polarity is Polarity.POSITIVE else ("failed", BAD)
    made = changes(entry.context.failed_sql, entry.revised_sql)
    lines = [line(arrow, (" instead of the SQL that failed:", QUIET), indent=indent)]
    lines += sql_lines(entry.revised_sql, made, indent + 2)
    lines += [line(change_parts(change), indent=indent + 2) for change in made[:_CHANGES]]
    lines += [line((one_line(change, 300), QUIET), indent=indent) for change in entry.delta[:_CHANGES]]
    return lines
