"""The live queue: one line a question, ten thousand of them if need be."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from textual.content import Content

from tui.console.ink import ACCENT, BAD, GOOD, QUIET, WARN, Part, column, ink
from tui.console.session import Session
from tui.console.widgets.listing import Listing
from tui.console.widgets.search import no_match
from tui.view.acceptance import Acceptance
from tui.view.legible import one_line
from tui.view.run_view import QueueRow
from tui.view.states import SIGNS, State

STATE_STYLES: dict[State, str] = {
    State.WAITING: QUIET,
    State.STARTED: ACCENT,
    State.WRITING: ACCENT,
    State.RUNNING: ACCENT,
    State.JUDGED: ACCENT,
    State.YOURS: f"{WARN} bold",
    State.TROUBLE: f"{BAD} bold",
    State.RIGHT: GOOD,
    State.REPAIRED: f"{GOOD} bold",
    State.CORRECTED: GOOD,
    State.WRONG: BAD,
    State.SKIPPED: QUIET,
    State.BROKEN: WARN,
}
_STATE_WIDTH = max(len(state.value) for state in State if state is not State.TROUBLE)


class Queue(Listing):
    """The questions of a run; a search narrows it to those that match."""

    def __init__(self, session: Session, no_run: Callable[[], str]) -> None:
        """`no_run` says what to do where there is no run."""
        super().__init__(id="queue", classes="pane")
        self.search = ""
        self._session = session
        self._no_run = no_run
        self._found: list[int] | None = None
        self._found_for: object = None

    @property
    def row_count(self) -> int:
        """Questions on show."""
        return len(self._session.view.rows) if self._found is None else len(self._found)

    @property
    def position(self) -> int | None:
        """The position under the cursor."""
        return self._position(self.cursor) if self.row_count else None

    def watch_session(self, session: Session) -> None:
        """Show another run's questions."""
        self._session, self._found_for = session, None
        self.set_reactive(Listing.cursor, 0)
        self.refresh_queue()
        self.refresh()

    def refresh_queue(self) -> None:
        """Take in what changed; the search runs again where the queue did."""
        view = self._session.view
        wanted = (self.search, view.queue_version if self.search else 0)
        if wanted != self._found_for:
            self._found_for = wanted
            self._found = self._matches() if self.search else None
            self.refresh()
        self.refresh_rows()

    def select_position(self, position: int) -> bool:
        """Put the cursor on a question; False where the search hides it."""
        if self._found is None:
            self.select(position, ahead=True)
        elif position in self._found:
            self.select(self._found.index(position), ahead=True)
        else:
            return False
        return True

    def row_version(self, index: int) -> Hashable:
        """The row's own version; an open one also ages by the second."""
        row = self._row(index)
        view = self._session.view
        return (view.figures.run, row.position, row.version, self._seconds(row), len(view.rows))

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """Sign, place, database, question, state, k/K, seconds; the narrower, the fewer."""
        row = self._row(index)
        view = self._session.view
        style = STATE_STYLES[row.state]
        digits = len(str(len(view.rows)))
        left: list[Part] = [
            "▸ " if selected else "  ",
            (SIGNS[row.state], style),
            (f" {row.position + 1:>{digits}} ", QUIET),
        ]
        if width >= 64:
            left.append(column(one_line(row.question.database, 60), 14, QUIET))
            left.append(" ")
        started = row.state is not State.WAITING
        right: list[Part] = [" ", column(view.acceptance.state(row.state), _STATE_WIDTH, style)]
        of = f"/{view.budget}" if view.budget else ""
        count = f" {row.repairs}{of}" if started and (of or row.repairs) else ""
        right.append((f"{count:<4}", QUIET))
        if width >= 46:
            right.append(column(self._seconds(row), 9, QUIET, right=True))
        start, end = ink(*left), ink(*right)
        room = max(1, width - start.cell_length - end.cell_length)
        return ink(start, column(one_line(row.question.text, 300), room), end)

    def empty_words(self) -> str:
        """What to do where there is no question."""
        if self.search:
            return no_match(self, "question")
        if self._session.empty:
            return self._no_run()
        return "Waiting for the run to begin ..."

    def _matches(self) -> list[int]:
        words = self.search.casefold().split()
        view = self._session.view
        return [row.position for row in view.rows if _match(row, view.acceptance, words)]

    def _position(self, index: int) -> int:
        return index if self._found is None else self._found[index]

    def _row(self, index: int) -> QueueRow:
        return self._session.view.rows[self._position(index)]

    def _seconds(self, row: QueueRow) -> str:
        if row.seconds is not None:
            return _clock(row.seconds)
        if row.state is State.WAITING:
            return ""
        return _clock(float(max(0, int(self._session.now - row.began))))


def _clock(seconds: float) -> str:
    """Seconds in at most eight cells."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 1_000 else f"{seconds / 60:,.0f} min"


def _match(row: QueueRow, acceptance: Acceptance, words: list[str]) -> bool:
    state = acceptance.state(row.state)
    text = f"{row.position + 1} {row.question.database} {row.question.text} {state}".casefold()
    return all(word in text for word in words)
