"""One memory on a sheet: the situation, the transition, its use, its history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from core.memory.entry import MemoryEntry, ReviewDecision
from stores.entry_rows import EntryRow, EntryUse
from tui.console.ink import ACCENT, BAD, BLANK, QUIET, TITLE, WARN, Line, line, rule
from tui.console.memory_library import Page
from tui.console.screens.places import use_words
from tui.console.widgets.paper import Block, Paper
from tui.console.widgets.shelf import POLARITY_SIGNS, STATE_SIGNS
from tui.console.widgets.transition import transition_lines
from tui.view.legible import legible, one_line

_SCHEMA_LINES = 40
_USES = 12


class Entry(Paper):
    """The chosen memory. Its page comes a moment after it was chosen; until then the one before
    stays, so that nothing flickers while a person goes through the list."""

    def __init__(self) -> None:
        super().__init__(id="entry", classes="pane")
        self._chosen: EntryRow | None = None
        self._page: Page | None = None
        self._stale: tuple[str, ...] = ()
        self._alike = 1

    @property
    def entry(self) -> MemoryEntry | None:
        """The memory on the sheet."""
        return self._page.entry if self._page is not None else None

    def show_nothing(self, empty: str) -> None:
        """There is no memory; the words say what to do."""
        self._chosen = self._page = None

        def words(_width: int) -> list[Line]:
            return [line((each, QUIET)) for each in empty.split("\n")]

        self.show([Block("empty", empty, words)])

    def show_entry(self, chosen: EntryRow, stale: tuple[str, ...], alike: int) -> None:
        """This memory is chosen; `alike` counts its near-duplicates with itself."""
        changed = self._chosen is None or chosen.id != self._chosen.id
        self._chosen, self._stale, self._alike = chosen, stale, alike
        self._draw_page()
        if changed:
            self.scroll_home(animate=False)

    def show_page(self, page: Page) -> None:
        """Everything about the chosen memory has been read."""
        self._page = page
        self._draw_page()

    def _draw_page(self) -> None:
        chosen, page = self._chosen, self._page
        if chosen is None or page is None or page.entry.id != chosen.id:
            return
        name, entry = chosen.id, page.entry
        self.show(
            [
                Block(
                    ("head", name),
                    (chosen, self._stale, self._alike),
                    partial(_head, chosen, entry, self._stale, self._alike),
                ),
                Block(("change", name), 0, partial(transition_lines, entry)),
                Block(("outcome", name), 0, partial(_outcome, entry)),
                Block(("history", name), page.history, partial(_history, page.history)),
                Block(("uses", name), page.uses, partial(_uses, page.uses)),
                Block(("rest", name), 0, partial(_rest, entry)),
            ]
        )


def _head(
    chosen: EntryRow, entry: MemoryEntry, stale: tuple[str, ...], alike: int, width: int
) -> Sequence[Line]:
    sign, sign_style = POLARITY_SIGNS[entry.polarity]
    state_sign, state_style = STATE_SIGNS[chosen.state]
    heading = rule(
        (f"{sign} {entry.polarity.value}", f"{sign_style} bold"),
        (f"  {entry.failure.value}", TITLE),
        width=width,
        tail=(f"{state_sign} {chosen.state.value}", f"{state_style} bold"),
    )
    times = f"{chosen.usage.retrieved:,} time{'' if chosen.usage.retrieved == 1 else 's'}"
    used = f"retrieved {times}, helped {chosen.usage.right:,}"
    used = used if chosen.usage.retrieved else "not retrieved yet"
    confirmed = "confirmed" if entry.confirmed else "unconfirmed"
    beside = f", {alike - 1:,} near-duplicate{'s' if alike > 2 else ''}" if alike > 1 else ""
    lines = [heading, line((entry.id, QUIET), (f"  {confirmed}, {used}{beside}", QUIET))]
    if stale:
        lines.append(line(("! stale: ", f"{WARN} bold"), "its database is no longer what it was:"))
        lines += [line((one_line(each, 200), WARN), indent=2) for each in stale[:_USES]]
    lines.append(
        line(
            (f"{one_line(entry.context.database, 80)}  ", ACCENT),
            one_line(entry.context.question, 1_000),
        )
    )
    if entry.context.evidence:
        lines.append(line(("evidence: ", QUIET), one_line(entry.context.evidence, 1_000)))
    words = entry.context.status.value.replace("_", " ").lower()
    said = f": {one_line(entry.context.message, 600)}" if entry.context.message else ""
    return [*lines, line((words, BAD), said), BLANK]


def _outcome(entry: MemoryEntry, _width: int) -> Sequence[Line]:
    if not entry.outcome_message:
        return []
    return [line(("then ", QUIET), (one_line(entry.outcome_message, 600), BAD), indent=2), BLANK]


def _uses(uses: Sequence[EntryUse], width: int) -> Sequence[Line]:
    if not uses:
        return []
    lines = [rule(("where it was used", TITLE), width=width, tail=("v replays", QUIET))]
    run = ""
    for use in uses[:_USES]:
        if use.run != run:
            run = use.run
            lines.append(line(("run ", QUIET), one_line(run, 80)))
        what, style = use_words(use.status, use.outcome)
        where = f"question {use.position + 1:,}, attempt {use.attempt}"
        lines += [
            line((f"{when(use.at)}  ", QUIET), (what, style), f"  {where}"),
            line((one_line(f"{use.database}  {use.question}", 300), QUIET), indent=2),
        ]
    if len(uses) > _USES:
        lines.append(line((f"... and {len(uses) - _USES} more: v lists them", QUIET)))
    return [*lines, BLANK]


def _history(history: Sequence[ReviewDecision], width: int) -> Sequence[Line]:
    if not history:
        return []
    lines = [rule(("decisions", TITLE), width=width)]
    for decision in history:
        sign, style = STATE_SIGNS[decision.state]
        remark = f": {one_line(decision.remark, 600)}" if decision.remark else ""
        lines.append(
            line(
                (f"{when(decision.at)}  ", QUIET),
                (f"{sign} {decision.state.value}", style),
                f" by {one_line(decision.who, 60)}{remark}",
            )
        )
    return [*lines, BLANK]


def _rest(entry: MemoryEntry, width: int) -> Sequence[Line]:
    origin = entry.provenance
    lines = [
        rule(("where it comes from", TITLE), width=width),
        line(
            f"run {one_line(origin.run, 80)}, question {origin.position + 1} "
            f"({one_line(origin.question_id, 80)}), "
            f"attempt {origin.from_attempt} to {origin.to_attempt}"
        ),
        line(
            f"{when(origin.at)}, strategy {one_line(origin.strategy, 60)}, "
            f"model {one_line(origin.model, 80)}, "
            f"judged by {one_line(origin.judge or origin.regime, 60)}"
        ),
    ]
    if entry.encoder_cuts:
        cuts = one_line(", ".join(entry.encoder_cuts), 300)
        lines.append(line(("cut to fit the encoder: ", QUIET), cuts))
    schema = legible(entry.context.schema_text, 20_000).split("\n")
    lines += [BLANK, rule(("schema it touched", TITLE), width=width)]
    lines += [line(each) for each in schema[:_SCHEMA_LINES]]
    if len(schema) > _SCHEMA_LINES:
        lines.append(line((f"... ({len(schema) - _SCHEMA_LINES} more lines)", QUIET)))
    return lines


def when(at: float) -> str:
    """A moment in local time, to the minute."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M")
