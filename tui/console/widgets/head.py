"""The head of every screen: tabs, the state of the run, and its figures."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from core.memory.entry import Polarity, ReviewState
from core.run.figures import Figures
from tui.console.ink import ACCENT, BAD, GOOD, QUIET, TITLE, WARN, Part, bar, ink
from tui.console.keys import Keys
from tui.console.rooms import ROOMS
from tui.console.session import Session
from tui.view.acceptance import acceptance_of
from tui.view.legible import one_line
from tui.view.summary import model_words

_LETTERS = (99, 3, 0)
"""How much of a room's name stands in its tab: whole, the beginning, or its key alone."""


class Head(Widget):
    """Two lines, three on a narrow screen."""

    def __init__(self, room: str, session: Session, keys: Keys, read_only: bool) -> None:
        super().__init__(id="head")
        self._room = room
        self._session = session
        self._keys_in_force = keys
        self._read_only = read_only
        self._drawn: object = None
        self.auto_links = False

    def refresh_figures(self) -> None:
        """Repaint where a figure or the state changed."""
        now = (self._session.view.head_version, state_words(self._session), self._progress())
        if now != self._drawn:
            self._drawn = now
            self.refresh()

    def watch_session(self, session: Session) -> None:
        """Show another run's figures."""
        self._session, self._drawn = session, None
        self.refresh()

    def render(self) -> Content:
        """Tabs and state on the first line, figures below."""
        width = self.size.width
        first = self._first_line(width)
        figures = fitted(chips(self._session.view.figures), width, lines=self.size.height - 1)
        return Content("\n").join([first, *figures])

    def _first_line(self, width: int) -> Content:
        words, style = state_words(self._session)
        right = ink((words, style), (" · read-only", WARN) if self._read_only else "", " ")
        for letters in _LETTERS:
            left = self._tabs(letters)
            if left.cell_length + right.cell_length < width:
                break
        about = run_words(self._session.view.figures)
        for middle in (ink(*self._bar(), (about, QUIET), "  "), ink(*self._bar()), Content("")):
            gap = width - left.cell_length - middle.cell_length - right.cell_length
            if gap >= 1:
                return ink(left, " " * gap, middle, right)
        return ink(left, " ", right)

    def _tabs(self, letters: int) -> Content:
        """The rooms with their keys, and so many letters of the names of those that are not open."""
        parts: list[Part] = [(" MERITO ", f"{TITLE} reverse"), " "]
        for room in ROOMS:
            key = self._keys_in_force.shown(f"room.{room.name}")
            here = room.name == self._room
            click = Style.from_meta({"@click": f"app.room('{room.name}')"})
            name = room.title if here else room.title[:letters]
            words = f" {key} {name} " if name else f" {key} "
            parts.append(ink((words, "bold underline" if here else QUIET)).stylize(click))
        return ink(*parts)

    def _progress(self) -> tuple[int, int]:
        return self._session.view.figures.finished, self._session.view.figures.questions

    def _bar(self) -> list[Part]:
        finished, questions = self._progress()
        if not questions:
            return []
        return [(bar(finished / questions, 12), ACCENT), f" {finished:,}/{questions:,}  "]


def state_words(session: Session) -> tuple[str, str]:
    """The state of the run in a word or two, with its style."""
    control, view = session.control, session.view
    if session.empty:
        return "no run", QUIET
    if session.replayed:
        return "replay", f"{ACCENT} bold"
    if session.failure:
        return "! failed", f"{BAD} bold"
    if view.waiting and session.steerable:
        return f"? {len(view.waiting)} to judge", f"{WARN} bold"
    if view.ended:
        return view.figures.ended, QUIET if view.figures.ended == "finished" else WARN
    if control is not None and control.stopped and session.live:
        return "stopping", WARN
    if control is not None and control.paused and session.live:
        return "|| paused", f"{WARN} bold"
    if session.live:
        return ("> running", f"{GOOD} bold") if view.version else ("starting ...", WARN)
    if not view.version:
        return "opening ...", QUIET
    return "cut off", BAD


def run_words(figures: Figures) -> str:
    """Data set and strategy of the run; of a path, its last part."""
    if figures.settings is None:
        return ""
    dataset = figures.settings.dataset.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return f"{one_line(dataset, 40)} · {one_line(figures.settings.strategy, 30)}"


def chips(figures: Figures) -> list[Content]:
    """The figures, the most wanted first; each stands for itself."""
    if figures.model is None:
        return []
    n = figures.judged
    right_now = figures.initially_right + figures.repaired
    speed = figures.tokens_per_second
    shown = [
        ink(
            ("first ", QUIET),
            _share(figures.initially_right, n),
            (" → now ", QUIET),
            _share(right_now, n),
        ),
        ink(
            (f"{figures.repaired:,}", f"{GOOD} bold"),
            (f" {acceptance_of(figures).by_repair}, ", QUIET),
            f"{figures.repaired_with_memory:,}",
            (" with memory", QUIET),
        ),
        _memories(figures),
        ink((one_line(model_words(figures), 60), ACCENT)),
        ink(f"{speed:,.0f}" if speed is not None else "-", (" tokens/s", QUIET)),
        ink(f"{figures.cost.calls:,}", (" calls", QUIET)),
        ink(
            short(figures.cost.sent),
            (" in ", QUIET),
            _cached(figures),
            short(figures.cost.written),
            (" out", QUIET),
        ),
    ]
    return [chip for chip in shown if chip.plain]


def short(count: int) -> str:
    """A count in few characters: 950, 12.3k, 4.56M."""
    if count < 1_000:
        return str(count)
    return f"{count / 1_000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.2f}M"


def fitted(parts: list[Content], width: int, lines: int) -> list[Content]:
    """As many chips as fit into `lines` lines, the first ones first; none is cut in the middle. One
    that finds no room on the last line leaves it to those that follow."""
    made: list[Content] = []
    current = Content(" ")
    for part in parts:
        gap = ink(("  │  ", QUIET)) if current.plain.strip() else Content("")
        if current.cell_length + gap.cell_length + part.cell_length > width - 1:
            if len(made) + 1 == lines:
                continue
            made.append(current)
            current, gap = Content(" "), Content("")
        current = ink(current, gap, part)
    return [*made, current]


def _share(part: int, whole: int) -> Content:
    if not whole:
        return ink("- (n = 0)")
    return ink((f"{100 * part / whole:.1f} %", TITLE), (f" ({part:,}/{whole:,})", QUIET))


def _cached(figures: Figures) -> Content:
    cost = figures.cost
    if not cost.cached or not cost.sent:
        return Content("")
    return ink((f"({100 * cost.cached / cost.sent:.0f} % cached) ", QUIET))


def _memories(figures: Figures) -> Content:
    pending = sum(state is ReviewState.PENDING for _, state in figures.learned.values())
    examples = figures.memories(Polarity.EXAMPLE)
    return ink(
        ("learned ", QUIET),
        (f"+{figures.memories(Polarity.POSITIVE):,}", GOOD),
        " ",
        (f"-{figures.memories(Polarity.NEGATIVE):,}", BAD),
        (f" ={examples:,}", ACCENT) if examples else "",
        (f", {pending:,} to review", WARN) if pending else "",
    )
