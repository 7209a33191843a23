"""One memory on a sheet: the situation, the transition, its use, its history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from core.memory.entry import MemoryEntry, ReviewDecision
from tui.console.ink import ACCENT, BAD, BLANK, QUIET, TITLE, Line, line, rule, sql_lines
from tui.console.library import Shelved
from tui.console.widgets.memories import transition
from tui.console.widgets.paper import Block, Paper
from tui.console.widgets.shelf import POLARITY_SIGNS, STATE_SIGNS
from tui.view.legible import legible, one_line

_SCHEMA_LINES = 40


class Entry(Paper):
    """The chosen memory."""

    def __init__(self) -> None:
        super().__init__(id="entry", classes="pane")
        self._chosen: Shelved | None = None
        self._history: dict[str, tuple[ReviewDecision, ...]] = {}

    def show_entry(self, chosen: Shelved | None, empty: str) -> None:
        """Draw this memory; `empty` stands where there is none."""
        changed = chosen is None or self._chosen is None or chosen.entry.id != self._chosen.entry.id
        self._chosen = chosen
        if chosen is None:
            self.show(
                [
                    Block(
                        "empty",
                        empty,
                        lambda _width: [line((each, QUIET)) for each in empty.split("\n")],
                    )
                ]
            )
            return
        self._show(chosen)
        if changed:
            self.scroll_home(animate=False)

    def show_history(self, memory: str, history: Sequence[ReviewDecision]) -> None:
        """Add the decisions once they are read."""
        self._history = {memory: tuple(history)}
        if self._chosen is not None and self._chosen.entry.id == memory:
            self._show(self._chosen)

    def _show(self, chosen: Shelved) -> None:
        history = self._history.get(chosen.entry.id, ())
        self.show(
            [
                Block(("head", chosen.entry.id), chosen, partial(_head, chosen)),
                Block(("history", chosen.entry.id), history, partial(_history, history)),
                Block(("rest", chosen.entry.id), 0, partial(_rest, chosen.entry)),
            ]
        )


def _head(chosen: Shelved, width: int) -> Sequence[Line]:
    entry = chosen.entry
    sign, sign_style = POLARITY_SIGNS[entry.polarity]
    state_sign, state_style = STATE_SIGNS[chosen.state]
    heading = rule(
        (f"{sign} {entry.polarity.value}", f"{sign_style} bold"),
        (f"  {entry.failure.value}", TITLE),
        width=width,
        tail=(f"{state_sign} {chosen.state.value}", f"{state_style} bold"),
    )
    used = (
        f"retrieved {chosen.retrieved:,} times, helped {chosen.helped:,}"
        if chosen.retrieved
        else "not retrieved yet"
    )
    confirmed = "confirmed" if entry.confirmed else "unconfirmed"
    lines = [
        heading,
        line((entry.id, QUIET), (f"  {confirmed}, {used}", QUIET)),
        line(
            (f"{one_line(entry.context.database, 80)}  ", ACCENT),
            one_line(entry.context.question, 1_000),
        ),
    ]
    if entry.context.evidence:
        lines.append(line(("evidence: ", QUIET), one_line(entry.context.evidence, 1_000)))
    lines += [BLANK, line(("failed", BAD), (" at first:", QUIET)), *sql_lines(entry.context.failed_sql)]
    words = entry.context.status.value.replace("_", " ").lower()
    said = f": {one_line(entry.context.message, 600)}" if entry.context.message else ""
    lines.append(line((words, BAD), said, indent=2))
    lines += [BLANK, *transition(entry, indent=0)]
    if entry.outcome_message:
        lines.append(line(("says ", QUIET), (one_line(entry.outcome_message, 600), BAD), indent=2))
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
