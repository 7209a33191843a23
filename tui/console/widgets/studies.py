"""The list of experiments and their runs, each with how far it is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from textual.content import Content

from core.run.events import RunSettings
from tui.console.archive import StoredRun
from tui.console.ink import ACCENT, BAD, GOOD, QUIET, TITLE, WARN, Part, bar, column, ink
from tui.console.studies import Group, accuracy, run_label, seconds_left
from tui.console.widgets.curves import CURVE_STYLES
from tui.console.widgets.listing import Listing
from tui.console.widgets.search import no_match
from tui.view.legible import one_line
from tui.view.plot import sign
from tui.view.run_view import budget_of
from tui.view.summary import duration

_STATES = {"finished": QUIET, "stopped": WARN, "interrupted": WARN}


class Row(NamedTuple):
    """A line of the list: a group, or one of its runs."""

    group: Group
    run: StoredRun | None

    @property
    def key(self) -> str:
        """The same for the same line of a later list."""
        return self.group.key if self.run is None else self.run.id


class StudyList(Listing):
    """Experiments and runs; a search narrows it, marks choose runs to compare."""

    def __init__(self) -> None:
        super().__init__(id="studies", classes="pane")
        self.search = ""
        self.marks: dict[str, None] = {}
        """Ids in the order in which they were marked."""
        self.signs: Mapping[str, int] = {}
        """Run -> number of its curve, while it is drawn."""
        self.no_rows: Callable[[], str] = lambda: ""
        self._groups: Sequence[Group] = ()
        self._going: Set[str] = frozenset()
        self._rows: list[Row] = []

    @property
    def row_count(self) -> int:
        """Lines on show."""
        return len(self._rows)

    @property
    def row(self) -> Row | None:
        """The line under the cursor."""
        return self._rows[min(self.cursor, len(self._rows) - 1)] if self._rows else None

    @property
    def shown(self) -> tuple[str, ...]:
        """The runs to draw and compare: the marked ones, else those of the group under the cursor."""
        if self.marks:
            return tuple(self.marks)
        return self.row.group.compared if self.row is not None else ()

    def fill(self, groups: Sequence[Group], going: Set[str]) -> None:
        """Take in the runs as they are now, and which of them go on; the cursor stays on its line."""
        self._groups, self._going = groups, going
        there = {run.id for group in groups for run in group.runs}
        self.marks = {run: None for run in self.marks if run in there}
        before = self.row.key if self.row is not None else None
        words = self.search.casefold().split()
        self._rows = []
        for group in groups:
            found = [Row(group, run) for run in group.runs if _holds(run, words)]
            self._rows += [Row(group, None), *found] if found else []
        places = {row.key: place for place, row in enumerate(self._rows)}
        self.select(places.get(before, self.cursor) if before is not None else 0)
        self._retitle()
        self.refresh_rows()

    def narrow(self, words: str) -> None:
        """Show only runs that hold every word."""
        self.search = words.strip()
        self.fill(self._groups, self._going)
        self.refresh()

    def mark(self) -> None:
        """Mark or unmark the run, or all compared runs of the group, and go on to the next line."""
        row = self.row
        if row is None:
            return
        runs = row.group.compared if row.run is None else (row.run.id,)
        if all(run in self.marks for run in runs):
            for run in runs:
                del self.marks[run]
        else:
            self.marks |= dict.fromkeys(runs)
        self.select(self.cursor + 1)
        self._retitle()
        self.refresh_rows()

    def clear(self) -> bool:
        """Remove the marks, or else the search; False where there is neither."""
        there = bool(self.marks or self.search)
        if self.marks:
            self.marks = {}
        else:
            self.search = ""
        self.fill(self._groups, self._going)
        self.refresh()
        return there

    def row_version(self, index: int) -> Hashable:
        """What happened in the runs, marks, signs, and the time that passes while one goes on."""
        row = self._rows[index]
        if row.run is None:
            runs = tuple((run.id, run.last_seq) for run in row.group.runs)
            return (row.key, runs, self._left(row.group.runs))
        run = row.run
        marked, state = run.id in self.marks, state_words(run, self._going)
        return (run.id, run.last_seq, marked, self.signs.get(run.id), state, len(row.group.runs))

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """A group with what all its runs have in common, or a run with what sets it apart."""
        row = self._rows[index]
        pointer = "▸" if selected else " "
        if row.run is None:
            return self._group_line(row.group, pointer, width)
        return self._run_line(row.group, row.run, pointer, width)

    def empty_words(self) -> str:
        """What to do where there is no run."""
        if self.search:
            return no_match(self, "run")
        return self.no_rows()

    def _group_line(self, group: Group, pointer: str, width: int) -> Content:
        share = group.finished / group.questions if group.questions else 0.0
        left = self._left(group.runs)
        right: list[Part] = [f" {group.finished:,}/{group.questions:,} "]
        if width >= 50:
            right = [" ", (bar(share, 8), ACCENT), *right]
        if left:
            right.append((f"~{left} left ", GOOD))
        start, end = ink((pointer, ACCENT), " "), ink(*right)
        room = max(1, width - start.cell_length - end.cell_length)
        return ink(start, column(group_title(group), room, TITLE), end)

    def _run_line(self, group: Group, run: StoredRun, pointer: str, width: int) -> Content:
        number = self.signs.get(run.id)
        drawn: Part = (
            " " if number is None else (sign(number), CURVE_STYLES[number % len(CURVE_STYLES)])
        )
        mark = ("*", f"{ACCENT} bold") if run.id in self.marks else " "
        share = accuracy(run)
        right: list[Part] = [" "]
        if width >= 60 or run.finished < run.questions:
            right.append(column(f"{run.finished:,}/{run.questions:,}", 10, right=True))
        right.append(column("-" if share is None else f"{100 * share:.1f} %", 9, TITLE, right=True))
        words, style = state_words(run, self._going)
        right += ["  ", column(words, 13, style)]
        start, end = ink((pointer, ACCENT), mark, " ", drawn, " "), ink(*right)
        room = max(1, width - start.cell_length - end.cell_length)
        return ink(start, column(one_line(run_label(run, group), 200), room), end)

    def _left(self, runs: Sequence[StoredRun]) -> str:
        left = seconds_left(runs, self._going)
        return duration(max(1.0, left)) if left else ""

    def _retitle(self) -> None:
        runs = sum(len(group.runs) for group in self._groups)
        words = [f"{runs:,} run{'' if runs == 1 else 's'}"]
        if self.marks:
            words.append(f"{len(self.marks)} marked")
        if self.search:
            words.append(f"search: {one_line(self.search, 40)}")
        self.border_subtitle = Content(" · ".join(words))


def state_words(run: StoredRun, going: Set[str]) -> tuple[str, str]:
    """How a run stands, with its style; cut off is what nobody works on and did not end."""
    if run.ended:
        return run.ended, _STATES.get(run.ended, WARN)
    if run.id in going:
        return "> running", f"{GOOD} bold"
    return "cut off", BAD


def group_title(group: Group) -> str:
    """The experiment's id, data set, model, questions: what all its runs have in common."""
    run = group.runs[0]
    data_set = "" if run.settings is None else last_part(run.settings.dataset)
    parts = [group.experiment, data_set, last_part(run.model), f"{run.questions:,} questions"]
    return one_line(" · ".join(part for part in parts if part), 300)


def last_part(path: str) -> str:
    """Of a path or an address, what names it."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1]


def setting_rows(settings: RunSettings) -> list[list[tuple[str, str]]]:
    """A run's settings for people, a line each: what was asked, of what, and the strategy's row."""
    order = "the file's" if settings.order_seed is None else f"shuffled by {settings.order_seed}"
    memory = settings.memory + (", pending entries too" if settings.include_pending else "")
    limit = "all questions" if settings.limit is None else f"{settings.limit:,} questions"
    lines = [
        [
            ("strategy", settings.strategy),
            ("layout", settings.layout),
            ("K", str(budget_of(settings))),
            ("memory", memory),
            ("seed", str(settings.seed)),
            ("prompts", settings.prompts or "built in"),
        ],
        [
            ("data set", settings.dataset),
            ("databases", settings.root),
            ("limit", limit),
            ("order", order),
        ],
        [
            ("judged by", f"{settings.regime}, {settings.protocol}"),
            ("deadline", f"{settings.deadline:g} s a statement"),
        ],
        list(_fields(settings.strategy_fields)),
    ]
    return [[row for row in line if row[1]] for line in lines]


_SAID_ALREADY = frozenset({"name", "about", "layout"})


def _fields(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A strategy's row, rows within it flattened."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _fields(value)
        elif name not in _SAID_ALREADY:
            said = ("yes" if value else "no") if isinstance(value, bool) else str(value)
            yield name.replace("_", " "), said


def _holds(run: StoredRun, words: Sequence[str]) -> bool:
    settings = run.settings
    known = "" if settings is None else f"{settings.layout} {settings.strategy} {settings.dataset}"
    text = f"{run.id} {run.about} {run.model} {run.ended} {known}".casefold()
    return all(word in text for word in words)
