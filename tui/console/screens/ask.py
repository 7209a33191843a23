"""Ask: choose a database, look at it, put a question, watch it answered, judge, put the next one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from core.errors import MeritoError
from core.run.control import Control
from tui.console.actions import Action, bindings_of
from tui.console.asker import Asker, Source
from tui.console.screens.attempts import AttemptScreen
from tui.console.screens.judging import Judging, Key
from tui.console.session import Session
from tui.console.widgets.episode import Episode
from tui.console.widgets.head import Head
from tui.console.widgets.judgebar import JudgeBar
from tui.console.widgets.listing import Listing
from tui.console.widgets.memories import Memories
from tui.console.widgets.paper import Paper
from tui.console.widgets.schema import SchemaTree
from tui.view.episode_view import EpisodeView
from tui.view.legible import one_line

_JUDGING = ("ask.right", "ask.wrong", "ask.edit", "ask.skip")


class AskField(Input):
    """Where the question is typed; esc goes back to the panes and keeps what was typed."""

    def __init__(self) -> None:
        super().__init__(id="ask")
        self._idle = self._typing = ""

    def invite(self, idle: str, typing: str = "") -> None:
        """What stands in the empty field: while keys are keys, and while they are letters."""
        self._idle, self._typing = idle, typing or idle
        self.placeholder = self._typing if self.has_focus else self._idle

    def on_focus(self) -> None:
        """Keys are letters now."""
        self.placeholder = self._typing

    def on_blur(self) -> None:
        """Keys are keys again."""
        self.placeholder = self._idle

    async def on_key(self, event: object) -> None:
        """Leave with esc, tab and the arrow up."""
        key = getattr(event, "key", "")
        if key in ("escape", "tab", "up", "ctrl+c"):
            event.stop()  # type: ignore[attr-defined]
            event.prevent_default()  # type: ignore[attr-defined]
            screen = self.screen
            if isinstance(screen, AskScreen):
                screen.front("schema" if screen.session.empty else "episode")


class AskScreen(Judging, AttemptScreen):
    """One question at a time, each a run of its own with everything that was learned so far."""

    ROOM = "ask"
    PANES = ("schema", "episode", "memories")
    TITLES = ("Databases", "Answer", "Memory used")
    BINDINGS = bindings_of("ask")

    def __init__(self) -> None:
        super().__init__()
        self._session = Session()
        self._drawn: object = None
        self._search = ""
        self._asking = False

    @property
    def session(self) -> Session:
        """The run of the newest question."""
        return self._session

    @property
    def asker(self) -> Asker | None:
        """Who puts the questions."""
        return self.console_app.asker

    @property
    def databases(self) -> SchemaTree:
        """The databases."""
        return self.query_one(SchemaTree)

    def compose_body(self) -> Iterable[Widget]:
        """Databases, answer, memories; the question below, and the bar that asks for a word."""
        with Container(id="panes"):
            yield SchemaTree(self._no_database())
            with Container(id="beside"):
                yield Episode()
                yield Memories()
        yield JudgeBar(self.key, "ask")
        yield AskField()

    def on_mount(self) -> None:
        """Offer the databases; a single one is chosen at once."""
        sources = self.asker.sources if self.asker is not None else []
        self.databases.offer(sources)
        field = self.query_one(AskField)
        self._invite()
        field.disabled = self.asker is None
        if len(sources) == 1:
            self._choose(sources[0])
        self.refresh_view()

    def on_screen_resume(self) -> None:
        """A run may have brought its databases meanwhile."""
        if self.asker is not None:
            self.databases.offer(self.asker.sources)
        super().on_screen_resume()

    def refresh_view(self) -> None:
        """Head, answer, memories, who is asked for a word."""
        super().refresh_view()
        self._show_answer()
        self.show_judge_bar()

    # What is on show.

    @property
    def episode(self) -> EpisodeView | None:
        """The newest question's episode."""
        return self.session.view.episode(0)

    def _show_answer(self) -> None:
        view, episode, attempt = self.session.view, self.episode, self.attempt
        number = attempt.number if attempt is not None else 0
        now = (view.figures.run, number, episode and (episode.began, episode.version), self._asking)
        if now == self._drawn:
            return
        self._drawn = now
        sheet = self.query_one(Episode)
        was_at_end = sheet.at_end
        sheet.show_episode(episode, view.budget, number, self._no_answer())
        if episode is not None and episode.outcome is not None and self._attempt is None:
            sheet.reveal(("end", 0))
        elif episode is not None and (was_at_end or episode.waiting is not None):
            sheet.reveal((0, number))
        self.query_one(Memories).show_attempt(attempt, view.budget)

    def _no_answer(self) -> str:
        if self._asking:
            return "Getting the model ready ..."
        if self.asker is None:
            return self._no_database()
        return (
            "1. Choose a database: enter opens it; enter on a table shows its columns and rows.\n"
            f"2. Press {self.key('ask.write')} and type a question.\n"
            "3. Watch it being answered, and say whether the answer is right.\n\n"
            "What you say is remembered, and the next question profits from it.\n\n"
            f"Another database: {self.key('ask.open')} opens a file or a folder.\n"
            "No model yet? In the shell: merito models pull"
        )

    def _no_database(self) -> str:
        if self.console_app.read_only:
            why = self.console_app.restraint
            return why.refuses("it asks nothing") + (why.ask or f" {why.instead}")
        return (
            "Nothing can be asked here.\n\nFrom the shell:\n  merito console --root FOLDER\n"
            '  merito ask shop.sqlite "Which customers never ordered?"\n  merito demo'
        )

    def _invite(self) -> None:
        field, write = self.query_one(AskField), self.key("ask.write")
        chosen = self.databases.chosen
        if self.asker is None:
            field.invite("nothing can be asked in this console")
        elif chosen is None:
            field.invite(f"choose a database first (enter on it), press {write}, then type a question")
        else:
            about = f"a question about {one_line(chosen.name, 60)}, then enter"
            field.invite(f"press {write}, then type {about}", about)

    # Databases.

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Open a database or a table, or close it."""
        row = self.databases.row
        if row is None:
            return
        event.stop()
        if row.kind == "database":
            self._choose(None if row.source == self.databases.chosen else row.source)
        elif row.kind == "table" and self.databases.toggle(row.name):
            self.console_app.start(self._read_sample(row.source, row.name))

    def _choose(self, source: Source | None) -> None:
        self.databases.choose(source)
        self._invite()
        if source is not None:
            self.console_app.start(self._read_schema(source), group="schema")

    async def _read_schema(self, source: Source) -> None:
        assert self.asker is not None
        try:
            schema = await self.asker.workbench(source).schema(source.name)
        except MeritoError:
            self._choose(None)
            raise
        if self.databases.chosen == source:
            self.databases.know(schema)

    async def _read_sample(self, source: Source, name: str) -> None:
        table = self.databases.schema.table(name) if self.databases.schema is not None else None
        if self.asker is not None and table is not None:
            rows = await self.asker.workbench(source).sample(source.name, table)
            if self.databases.chosen == source:
                self.databases.sampled(name, rows)

    def action_open_file(self) -> None:
        """Offer another database."""
        if self.asker is None:
            self.tell(self._no_database().split("\n")[0])
            return

        def add(typed: str) -> None:
            if typed.strip() and self.asker is not None:
                first = self.asker.add(Path(typed.strip()))
                self.databases.offer(self.asker.sources)
                self._choose(first)

        self.console_app.ask_words(
            "Open a database", "a SQLite file, or a folder of them; esc: not", take=add
        )

    # Questions.

    def action_write(self) -> None:
        """Type a question."""
        if self.asker is None:
            self.tell(self._no_database().split("\n")[0])
        elif self.databases.chosen is None:
            self.tell("Choose a database first: enter on it opens it.")
            self.front("schema")
        else:
            self.query_one(AskField).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Put the question; the one before must have its word by now."""
        if event.input.id != "ask":
            return
        event.stop()
        source = self.databases.chosen
        if not event.value.strip():
            self.tell("The question is empty. Say what you want to know.")
        elif source is None:
            self.tell("Choose a database first: enter on it opens it.")
        elif self._asking or self.session.live:
            self.tell("The question before is still open: judge its answer, or skip it.")
        else:
            self._asking, self._attempt = True, None
            self._session = Session()
            self.query_one(Head).watch_session(self._session)
            self.run_worker(self._ask(source, event.value), group="ask", exit_on_error=False)
            event.input.value = ""
            self.front("episode")
            self.refresh_view()

    async def _ask(self, source: Source, text: str) -> None:
        assert self.asker is not None
        session = self._session
        try:
            async with self.asker.asked(source, text) as opened:
                session.attach(opened, steer=True)
                self._asking = False
                await session.read(self.console_app.changed)
        except Exception as wrong:
            session.failure = one_line(str(wrong), 400) or type(wrong).__name__
            if not self.query_one(AskField).value:
                self.query_one(AskField).value = text
            # The banner tells it, too, wherever this room is on show.
            if not (isinstance(wrong, MeritoError) and self.is_active):
                self.console_app.trouble(wrong)
        finally:
            self._asking = False
            self.console_app.changed()

    # Judging.

    def asked(self) -> Key | None:
        """The attempt that waits for a word."""
        return self.session.waits_for_judge(None)

    def hand(self) -> Control | None:
        """The hand on the run of the newest question."""
        if self.session.steerable:
            return self.session.control
        self.tell(f"No answer waits for a judgement. {self.key('ask.write')} asks a question.")
        return None

    def look_for_asked(self) -> None:
        """There is only one question."""
        self.tell("The answer is not there yet.")

    def action_skip(self) -> None:
        """Let the question go, after a question."""
        control = self.hand()
        if control is not None:
            self.console_app.confirm(
                "Skip this question?",
                "It ends before its next attempt and teaches nothing.",
                lambda: control.skip(0, self.console_app.who),
            )

    # Looking.

    def offers(self, action: Action) -> bool:
        """Judging while something waits; detail where there is an attempt."""
        if action.name in _JUDGING:
            return self.session.steerable and self.asked() is not None
        if action.name == "ask.detail":
            return self.attempt is not None
        return action.name != "all.search"

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Moving in the tree changes nothing else."""
        event.stop()

    def on_paper_picked(self, event: Paper.Picked) -> None:
        """A click on an attempt selects it."""
        if isinstance(event.key, tuple) and isinstance(event.key[0], int):
            self.select_attempt(event.key[1])

    def episode_name(self, episode: EpisodeView) -> str:
        """There is only one question."""
        return "Your question"

    def search_for(self, words: str) -> None:
        """There is nothing to narrow here: the field at the foot is for questions."""

    async def action_search(self) -> None:
        """The slash, too, leads to the field."""
        self.action_write()

    def _name_panes(self, front: str) -> None:
        super()._name_panes(front)
        if not self.has_class("-narrow"):
            self.query_one("#schema").border_title = Content("Databases")
