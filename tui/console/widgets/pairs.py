"""Two runs question by question: the list, and the line that says what their difference is worth."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from core.experiments.pairing import Pair, Pairing, Verdict
from tui.console.ink import ACCENT, BAD, GOOD, QUIET, TITLE, WARN, Part, column, ink
from tui.console.widgets.listing import Listing
from tui.console.widgets.queue import STATE_STYLES
from tui.console.widgets.search import no_match
from tui.view.legible import one_line
from tui.view.states import OUTCOMES, SIGNS, State

if TYPE_CHECKING:
    from core.experiments.metrics import Result
    from core.experiments.statistics import Interval

FILTERS: tuple[tuple[str, frozenset[Verdict]], ...] = (
    ("every question", frozenset(Verdict)),
    ("where they differ", frozenset({Verdict.FIRST_ONLY, Verdict.SECOND_ONLY})),
    ("only the first right", frozenset({Verdict.FIRST_ONLY})),
    ("only the second right", frozenset({Verdict.SECOND_ONLY})),
    ("both wrong", frozenset({Verdict.NEITHER})),
)
_VERDICTS: dict[Verdict, tuple[str, str]] = {
    Verdict.FIRST_ONLY: ("◀ first", GOOD),
    Verdict.SECOND_ONLY: ("second ▶", WARN),
    Verdict.BOTH: ("both", QUIET),
    Verdict.NEITHER: ("neither", BAD),
    Verdict.OPEN: ("-", QUIET),
}


class PairList(Listing):
    """One line a question, with what each run made of it."""

    def __init__(self) -> None:
        super().__init__(id="pairs", classes="pane")
        self.search = ""
        self.filter = 1
        """Index into FILTERS: at first, where they differ."""
        self._pairing: Pairing | None = None
        self._found: list[Pair] = []

    @property
    def row_count(self) -> int:
        """Questions on show."""
        return len(self._found)

    @property
    def pair(self) -> Pair | None:
        """The question under the cursor."""
        return self._found[min(self.cursor, len(self._found) - 1)] if self._found else None

    def fill(self, pairing: Pairing) -> None:
        """Take in the two runs. Where they never differ, every question is shown."""
        if self._pairing is None and not any(pair.differs for pair in pairing.pairs):
            self.filter = 0
        self._pairing = pairing
        self.narrow()

    def narrow(self) -> None:
        """Apply filter and search; the cursor stays on its question."""
        before = self.pair.first.question.id if self.pair is not None else None
        words, (name, wanted) = self.search.casefold().split(), FILTERS[self.filter]
        every = self._pairing.pairs if self._pairing is not None else ()
        self._found = [pair for pair in every if pair.verdict in wanted and _holds(pair, words)]
        places = {pair.first.question.id: place for place, pair in enumerate(self._found)}
        self.select(places.get(before, 0) if before is not None else 0)
        count = f"{len(self._found):,} of {len(every):,}"
        search = f" · search: {one_line(self.search, 40)}" if self.search else ""
        self.border_subtitle = Content(f"{count} · {name}{search}")
        self.refresh_rows()
        self.refresh()

    def row_version(self, index: int) -> Hashable:
        """Which question, and how it ended in each run."""
        pair = self._found[index]
        return (pair.first.question.id, pair.first.outcome, pair.second.outcome)

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """Sign of each run, who was right, repairs, database, question."""
        pair = self._found[index]
        words, style = _VERDICTS[pair.verdict]
        left: list[Part] = ["▸ " if selected else "  ", *_sign(pair.first), " ", *_sign(pair.second)]
        left += [(f" {pair.first.position + 1:>4} ", QUIET), column(words, 9, style)]
        if width >= 70:
            repairs = f"{pair.first.repairs}:{pair.second.repairs}"
            left += [
                column(repairs, 6, QUIET),
                column(one_line(pair.first.question.database, 60), 18, QUIET),
            ]
        start = ink(*left)
        room = max(1, width - start.cell_length)
        return ink(start, column(one_line(pair.first.question.text, 300), room))

    def empty_words(self) -> str:
        """Why no question is on show."""
        if self._pairing is None:
            return "Reading the two runs ..."
        if not self._pairing.pairs:
            return "The two runs have no question in common."
        if self.search:
            return no_match(self, "question")
        return f"No question: {FILTERS[self.filter][0]}."


class DifferenceLine(Widget):
    """What the difference of two runs is worth."""

    def __init__(self) -> None:
        super().__init__(id="difference")
        self._pairing: Pairing | None = None

    def show(self, pairing: Pairing) -> None:
        """Say it."""
        self._pairing = pairing
        self.refresh(layout=True)

    def render(self) -> Content:
        """Labels, interval, test."""
        pairing = self._pairing
        if pairing is None:
            return ink((" Reading the two runs ...", QUIET))
        return Content("\n").join(difference_lines(pairing))


def difference_lines(pairing: Pairing) -> list[Content]:
    """Who is compared with whom, the difference with its interval, and the exact test."""
    first, second = (one_line(label, 60) for label in pairing.labels)
    lines = [ink(" ", (first, TITLE), (" (first) - ", QUIET), (second, TITLE), (" (second)", QUIET))]
    found = pairing.comparison
    if found is None or found.difference is None:
        return [
            *lines,
            ink((" No question is judged in both runs, so there is no difference yet.", WARN)),
        ]
    lines[0] = ink(lines[0], "  ", *_interval(found.difference))
    parts: list[Part] = []
    if found.test is not None:
        parts += [
            (" only first right ", QUIET), f"{found.test.first_only:,}",
            ("  only second right ", QUIET), f"{found.test.second_only:,}",
            ("  exact McNemar p = ", QUIET), (f"{found.test.p:.3g}", TITLE),
        ]  # fmt: skip
    lines.append(ink(*parts))
    if found.unserved is not None:
        lines.append(ink((" gold not seen earlier: ", QUIET), *_interval(found.unserved)))
    return lines


def _interval(found: Interval) -> list[Part]:
    points = [100 * value for value in (found.difference, found.low, found.high)]
    style = (GOOD if found.difference > 0 else BAD) if found.excludes_zero else ACCENT
    real = "" if found.excludes_zero else ", may be chance"
    return [
        (f"{points[0]:+.1f} points", f"{style} bold"),
        (f" [{points[1]:+.1f}, {points[2]:+.1f}], n = {found.clusters:,}{real}", QUIET),
    ]


def _sign(result: Result) -> tuple[Part]:
    state = OUTCOMES[result.outcome] if result.outcome is not None else State.WAITING
    return ((SIGNS[state], STATE_STYLES[state]),)


def _holds(pair: Pair, words: Sequence[str]) -> bool:
    question = pair.first.question
    outcomes = f"{pair.first.outcome or ''} {pair.second.outcome or ''}"
    parts = (question.id, question.database, question.text, pair.verdict.value, outcomes)
    text = "\n".join(parts).casefold()
    return all(word in text for word in words)
