"""Two runs side by side: every question, and both stories of the chosen one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from textual.containers import Container
from textual.content import Content
from textual.widget import Widget

from core.experiments.metrics import Result
from core.experiments.pairing import Pair, Pairing
from core.run.events import AnyEvent
from tui.console.actions import Action, bindings_of
from tui.console.kept import Choice
from tui.console.screens.base import RoomScreen
from tui.console.studies import Studies
from tui.console.widgets.episode import Episode, attempt_name
from tui.console.widgets.listing import Listing
from tui.console.widgets.pairs import FILTERS, DifferenceLine, PairList
from tui.console.widgets.paper import Paper
from tui.view.episode_view import EpisodeEvent, EpisodeView
from tui.view.legible import one_line

SIDES = ("first", "second")


class CompareScreen(RoomScreen):
    """The questions above, the two stories below or beside."""

    ROOM = "compare"
    PANES = ("pairs", *SIDES)
    TITLES = ("Questions", "First", "Second")
    BINDINGS = bindings_of("compare")

    def __init__(self, studies: Studies, first: str, second: str) -> None:
        super().__init__()
        self._studies = studies
        self.runs = (first, second)
        self.pairing: Pairing | None = None
        self.episodes: dict[str, EpisodeView | None] = dict.fromkeys(SIDES)
        """What is on show at each side."""
        self._selected = dict.fromkeys(SIDES, -1)
        self._told: Pair | None = None

    def compose_body(self) -> Iterable[Widget]:
        """The difference, the questions, the stories."""
        yield DifferenceLine()
        with Container(id="panes"):
            yield PairList()
            with Container(id="beside"):
                for side in SIDES:
                    yield Episode(side)

    def on_mount(self) -> None:
        """Read the runs."""
        self.questions.refresh_rows()
        self.console_app.start(self._read())

    def choices(self) -> dict[str, Choice]:
        """Which questions are shown, besides what every screen keeps."""
        return super().choices() | {"which": self.questions.filter}

    def take_choices(self, choices: dict[str, Choice]) -> None:
        """The same questions as last time."""
        super().take_choices(choices)
        which = choices.get("which")
        if isinstance(which, int) and 0 <= which < len(FILTERS):
            self.questions.filter = which

    @property
    def questions(self) -> PairList:
        """The questions."""
        return self.query_one(PairList)

    def offers(self, action: Action) -> bool:
        """What needs a question is offered where one is chosen."""
        return (
            action.name in _ALWAYS or not action.name.startswith("compare.") or self._told is not None
        )

    async def _read(self) -> None:
        self.pairing = await self._studies.pairing(*self.runs)
        self.query_one(DifferenceLine).show(self.pairing)
        self.questions.fill(self.pairing)
        self._tell()

    def _tell(self) -> None:
        """Both stories of the question under the cursor."""
        pair = self.questions.pair
        if pair != self._told or pair is None:
            self._told = pair
            self.console_app.start(self._show_stories(pair), group="stories")
        self.refresh_view()

    async def _show_stories(self, pair: Pair | None) -> None:
        results = (pair.first, pair.second) if pair is not None else (None, None)
        read = [self._story(run, result) for run, result in zip(self.runs, results, strict=True)]
        stories = await asyncio.gather(*read)
        for side, story in zip(SIDES, stories, strict=True):
            self.episodes[side] = story
            self._selected[side] = len(story.attempts) - 1 if story is not None else -1
            self._draw(side)
            self.query_one(f"#{side}", Episode).scroll_home(animate=False)
        self.refresh_view()

    async def _story(self, run: str, result: Result | None) -> EpisodeView | None:
        archive = self.console_app.archive
        if result is None or archive is None:
            return None
        events = await archive.episode(run, result.position)
        return told(result, events) if events else None

    def _draw(self, side: str) -> None:
        place = SIDES.index(side)
        sheet = self.query_one(f"#{side}", Episode)
        budget = self.pairing.runs[place].settings.budget if self.pairing is not None else 0
        empty = "This question has not begun in this run." if self._told else ""
        sheet.show_episode(self.episodes[side], budget, self._selected[side], empty)
        if self.pairing is not None:
            sheet.border_subtitle = Content(one_line(self.pairing.labels[place], 60))

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Another question."""
        event.stop()
        self._tell()

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Enter goes to its first story."""
        event.stop()
        self.front("first")

    def on_paper_picked(self, event: Paper.Picked) -> None:
        """A click selects the attempt."""
        side, key = event.paper.id, event.key
        if side in self._selected and isinstance(key, tuple) and isinstance(key[0], int):
            self._selected[side] = key[1]
            self._draw(side)

    def action_attempt(self, step: int) -> None:
        """Select the attempt before or after, in the story that has the keys."""
        side = self._side()
        story = self.episodes[side]
        number = self._selected[side] + step
        if story is not None and 0 <= number < len(story.attempts):
            self._selected[side] = number
            self._draw(side)
            self.query_one(f"#{side}", Episode).reveal((story.position, number))

    def action_detail(self) -> None:
        """Everything about the selected attempt."""
        from tui.console.screens.detail import detail

        side = self._side()
        story = self.episodes[side]
        if story is None or not story.attempts:
            self.tell("There is no attempt to open.")
            return
        attempt = story.attempts[self._selected[side]]
        title = f"Question {story.position + 1}, {attempt_name(attempt.number, 0)}, {side}"
        self.app.push_screen(detail(title, story, attempt))

    def action_filter(self, step: int) -> None:
        """The next choice of questions."""
        self.questions.filter = (self.questions.filter + step) % len(FILTERS)
        self.questions.narrow()
        self._tell()

    def action_swap(self) -> None:
        """The first becomes the second."""
        self.runs = self.runs[::-1]
        self.console_app.start(self._read())

    def action_replay(self) -> None:
        """The run of the story that has the keys, again."""
        run = self.runs[SIDES.index(self._side())]
        self.console_app.start(self.console_app.replay(run))

    def action_copy(self) -> None:
        """Copy the SQL of the selected attempt."""
        side = self._side()
        story = self.episodes[side]
        sql = story.attempts[self._selected[side]].sql if story is not None and story.attempts else ""
        if not sql:
            self.tell("There is no SQL to copy.")
            return
        self.console_app.copy(sql, f"the SQL of the {side}")

    def action_back(self) -> None:
        """To the list of runs."""
        self.dismiss(None)

    def search_for(self, words: str) -> None:
        """Narrow the list to questions that hold every word."""
        self.questions.search = words.strip()
        self.questions.narrow()
        self._tell()

    def _side(self) -> str:
        """The story that has the keys; the first while the list has them."""
        here = self.focused.id if self.focused is not None else None
        return here if here in SIDES else SIDES[0]


_ALWAYS = ("compare.back", "compare.filter", "compare.swap")


def told(result: Result, events: Sequence[AnyEvent]) -> EpisodeView:
    """A question's episode from its stored events."""
    story = EpisodeView(result.position, result.question)
    for event in events:
        if isinstance(event, EpisodeEvent) and event.position == result.position:
            story.apply(event)
    return story
