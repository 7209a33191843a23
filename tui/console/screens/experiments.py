"""Experiments: the store's runs side by side, live where one goes on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from textual.containers import Container
from textual.widget import Widget

from tui.console.actions import Action, bindings_of
from tui.console.screens.base import RoomScreen
from tui.console.screens.runs import NO_MODEL_NEEDED
from tui.console.studies import Studies
from tui.console.widgets.curves import Curves
from tui.console.widgets.figures import Figures, copied
from tui.console.widgets.keybar import KeyBar
from tui.console.widgets.listing import Listing
from tui.console.widgets.studies import StudyList, group_title

if TYPE_CHECKING:
    from core.experiments.report import Curve, Report
    from tui.console.archive import Archive
    from tui.console.studies import Key

_POLL = 0.7
"""Seconds between two looks at the store, while this screen is on show."""
_REST = 10
"""Tables of runs that go on are computed again after so many times what they took."""

_NEEDS_RUN = ("experiments.replay", "experiments.mark", "experiments.compare")


class ExperimentsScreen(RoomScreen):
    """Runs at the left; their curves and tables beside."""

    ROOM = "experiments"
    PANES = ("studies", "curves", "figures")
    TITLES = ("Experiments", "Accuracy along the stream", "Tables")
    BINDINGS = bindings_of("experiments")

    def __init__(self) -> None:
        super().__init__()
        self.studies: Studies | None = None
        self._archive: Archive | None = None
        self._polling = False
        self._curves: tuple[Key, tuple[Curve, ...]] = ((), ())
        self._report: tuple[Key, Report] | None = None
        self._reporting: Key = ()
        """The runs whose tables are being computed."""
        self._reported = 0.0
        self._trouble = ""

    def compose_body(self) -> Iterable[Widget]:
        """The list, the plot, the sheet."""
        with Container(id="panes"):
            yield StudyList()
            with Container(id="beside"):
                yield Curves()
                yield Figures()

    def on_mount(self) -> None:
        """Look at the store now, and again while this screen is on show."""
        self.runs_list.no_rows = self._no_runs
        self.set_interval(_POLL, self._look)

    def refresh_view(self) -> None:
        """Head and keys; a store that was opened since is looked at."""
        super().refresh_view()
        self._look()

    @property
    def runs_list(self) -> StudyList:
        """The runs."""
        return self.query_one(StudyList)

    def offers(self, action: Action) -> bool:
        """What needs runs is offered where there are some."""
        return action.name not in _NEEDS_RUN or self.runs_list.row_count > 0

    def _look(self) -> None:
        """Read what is new, unless that is being done or nobody sees it."""
        archive = self.console_app.archive
        if archive is None or self._polling or not self.is_active:
            return
        if archive is not self._archive:
            self._archive, self.studies = archive, Studies(archive)
        assert self.studies is not None
        self._polling = True
        self.console_app.start(self._catch_up(self.studies))

    async def _catch_up(self, studies: Studies) -> None:
        try:
            first = not studies.loaded
            if await studies.poll() or first:
                self.runs_list.fill(studies.groups(), studies.going)
                self.query_one(KeyBar).refresh_keys()
            else:
                self.runs_list.refresh_rows()
            await self._draw(studies)
        finally:
            self._polling = False

    async def _draw(self, studies: Studies) -> None:
        """Curves of what is chosen, then its tables; each only where something is new."""
        ids = self.runs_list.shown
        key = studies.key(ids)
        if key != self._curves[0]:
            self._show("Reading the runs ...")
            self._curves = key, await studies.curves(ids)
            self.runs_list.signs = _signs(self._curves[1])
            self.runs_list.refresh_rows()
        report = studies.known_report(ids)
        if report is not None:
            self._report = key, report
        elif ids and not self._reporting and self._due(studies, ids):
            self._reporting = key
            self.console_app.start(self._compute(studies, ids))
        self._show()

    def _due(self, studies: Studies, ids: Sequence[str]) -> bool:
        """Whether the tables on show are of other runs, or old enough to be computed again."""
        if self._report is None or _runs(self._report[0]) != tuple(ids):
            return True
        return monotonic() - self._reported > _REST * studies.report_seconds

    async def _compute(self, studies: Studies, ids: Sequence[str]) -> None:
        self._trouble = ""
        try:
            await studies.report(ids, self._title(studies, ids))
        except Exception:
            self._trouble = "The tables could not be computed."
            self._report = None
            raise
        finally:
            self._reported, self._reporting = monotonic(), ()
        await self._draw(studies)

    def _title(self, studies: Studies, ids: Sequence[str]) -> str:
        home = next((group for group in studies.groups() if ids[0] in group.compared), None)
        if home is not None and tuple(ids) == home.compared:
            return f"Experiment {home.experiment}" if home.experiment else group_title(home)
        return f"{len(ids)} marked run{'' if len(ids) == 1 else 's'}"

    def _show(self, words: str = "") -> None:
        row, key, shown = self.runs_list.row, self._key(), self._report
        report = shown[1] if shown is not None and _runs(shown[0]) == _runs(key) else None
        if not words and shown is not None and report is not None and shown[0] != key:
            words = "These tables are of a moment ago; the run goes on."
        elif not words and report is None and row is not None:
            words = self._trouble or "Computing the tables ..."
        going = self.studies.going if self.studies is not None else frozenset()
        self.query_one(Figures).show_figures(row, report, words or self._nothing(), going)
        curves = self._curves[1]
        run = row.run.id if row is not None and row.run is not None else ""
        front = self.runs_list.signs.get(run)
        self.query_one(Curves).show(curves if key else (), front, self._plot_words())

    def _key(self) -> Key:
        return self.studies.key(self.runs_list.shown) if self.studies is not None else ()

    def _plot_words(self) -> str:
        return "No question is judged yet." if self.runs_list.row_count else "Nothing to draw yet."

    def _nothing(self) -> str:
        if self.runs_list.row_count:
            return ""
        return "The papers' tables of the runs at the left will stand here."

    def _no_runs(self) -> str:
        """What a newcomer reads."""
        if self.studies is not None and not self.studies.loaded:
            return "Looking for runs ..."
        start = (
            "An experiment runs several strategies over the same questions and compares them:\n"
            "  merito bench repair sample --limit 20\n\n"
            "Every other run shows up here, too. The quickest one:\n  merito demo\n\n"
            f"{NO_MODEL_NEEDED}"
        )
        if self.console_app.archive is None:
            return self.no_store_words("there is nothing to compare", start)
        return f"No run is stored yet.\n\n{start}"

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Another line is under the cursor."""
        event.stop()
        self._show()
        self._look()

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Enter goes to the tables."""
        event.stop()
        self.front("figures")

    def action_mark(self) -> None:
        """Mark or unmark, and go on."""
        self.runs_list.mark()
        self._show()
        self._look()

    def action_clear(self) -> None:
        """Remove the marks; where there are none, the search."""
        self.runs_list.clear()
        self._show()
        self._look()

    def action_reload(self) -> None:
        """Read everything again."""
        self._archive, self._curves, self._report = None, ((), ()), None
        self._look()

    def action_compare(self) -> None:
        """Two runs, question by question."""
        pair = self._pair()
        if pair is None or self.studies is None:
            self.tell(f"Mark two runs with {self.key('experiments.mark')}, then compare them.")
            return
        from tui.console.screens.compare import CompareScreen

        self.app.push_screen(CompareScreen(self.studies, *pair))

    def _pair(self) -> tuple[str, str] | None:
        """Two marked runs; or the one marked and the one under the cursor; or, of a group with two
        runs to compare, those."""
        shown, row = self.runs_list.shown, self.runs_list.row
        here = row.run.id if row is not None and row.run is not None else ""
        if len(self.runs_list.marks) == 1 and here and here not in self.runs_list.marks:
            return shown[0], here
        return (shown[0], shown[1]) if len(shown) == 2 else None

    def action_replay(self) -> None:
        """The run under the cursor, again."""
        row = self.runs_list.row
        if row is None or row.run is None:
            self.tell("Choose a run of the list, not the line above them.")
            return
        self.console_app.start(self.console_app.replay(row.run.id))

    def action_copy(self) -> None:
        """Copy the id of the run, or of the experiment."""
        row = self.runs_list.row
        if row is None:
            self.tell("There is no run to copy the id of.")
            return
        name = row.run.id if row.run is not None else row.group.experiment or row.group.runs[0].id
        self.console_app.copy(name, f"the id {name}")

    def action_copy_tables(self) -> None:
        """Copy the tables, tab-separated."""
        if self._report is None or _runs(self._report[0]) != self.runs_list.shown:
            self.tell("There are no tables to copy yet.")
            return
        report = self._report[1]
        self.console_app.copy(copied(report), f"{len(report.tables)} tables")

    def search_for(self, words: str) -> None:
        """Narrow the list to runs that hold every word."""
        self.runs_list.narrow(words)
        self._show()
        self._look()


def _signs(curves: Sequence[Curve]) -> dict[str, int]:
    return {run: number for number, curve in enumerate(curves) for run in curve.runs}


def _runs(key: Key) -> tuple[str, ...]:
    return tuple(run for run, _ in key)
