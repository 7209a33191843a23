"""Let me correct it: the person's own SQL, tried in the sandbox before it counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget

from core.database.rows import ResultTable
from core.errors import MeritoError
from core.sql import normalised
from tui.console.ink import (
    ACCENT,
    BAD,
    GOOD,
    QUIET,
    WARN,
    Line,
    Part,
    ink,
    line,
    row_count_words,
    table_lines,
)
from tui.console.screens.dialogs import Confirm
from tui.console.widgets.editor import Offer, SqlEditor
from tui.console.widgets.judgebar import GUARD
from tui.console.widgets.paper import Block, Paper
from tui.view.judging import ALL_THE_SAME, AS_IT_IS, BY_LUCK, EDIT_ON, UNCHANGED, agreement
from tui.view.legible import legible, one_line
from tui.workbench import Workbench

_ROWS = 100


class Verdict(Widget):
    """What can be done next, in a line or two."""

    def __init__(self) -> None:
        super().__init__(id="verdict")
        self._words = Content("")

    def say(self, words: Content) -> None:
        """Show these words."""
        self._words = words
        self.refresh(layout=True)

    def render(self) -> Content:
        """The line."""
        return self._words


class Corrected(NamedTuple):
    """A person's word: SQL that is right instead. Without SQL the answer is right as it is."""

    sql: str = ""
    remark: str = ""


class Correct(ModalScreen[Corrected | None]):
    """Gives the SQL that ran and was called right, or None. Where its rows are the answer's own, it
    asks which of both is meant before it takes it. What was typed is never lost without a question:
    leaving asks, and `drafts` keeps it for the next time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r,f5", "run", "run", show=False, priority=True),
        Binding("escape", "leave", "leave", show=False, priority=True),
        Binding("ctrl+c", "leave_or_copy", "leave", show=False, priority=True),
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n", "answer(False)", "no", show=False),
        Binding(ALL_THE_SAME.key, "insist", "wrong all the same", show=False),
    ]

    def __init__(
        self,
        *,
        question: str,
        database: str,
        sql: str,
        result: ResultTable | None,
        workbench: Workbench,
        drafts: dict[object, str],
        key: object,
    ) -> None:
        """`sql` is the answer to correct, `result` what it gave; `drafts` holds under `key` what was
        typed before."""
        super().__init__(classes="dialog")
        self._question, self._database, self._sql = question, database, sql
        self._workbench, self._drafts, self._key = workbench, drafts, key
        self._result = result
        self._tried: tuple[str, ResultTable] | None = None
        self._since = 0.0
        self._trying = False

    @property
    def armed(self) -> bool:
        """Whether a yes is taken: the SQL on show ran, and its rows were on show for a moment."""
        ran = self._tried is not None and not self._tried[1].error
        return ran and not self.editor.has_focus and monotonic() - self._since >= GUARD

    @property
    def editor(self) -> SqlEditor:
        """The field."""
        return self.query_one(SqlEditor)

    def compose(self) -> ComposeResult:
        """Question, editor, names, rows, what to do next."""
        with Vertical(id="correct"):
            yield SqlEditor(self._drafts.get(self._key, self._sql))
            yield Offer()
            yield Paper(id="tried")
            yield Verdict()

    def on_mount(self) -> None:
        """Learn the names while the person begins to read."""
        box = self.query_one("#correct")
        box.border_title = Content(one_line(f"Correct it: {self._question}", 300))
        box.border_subtitle = Content(one_line(self._database, 80))
        self.editor.focus()
        self._say()
        self.run_worker(self._learn(), exit_on_error=False)

    async def _learn(self) -> None:
        try:
            self.editor.know(await self._workbench.schema(self._database))
        except MeritoError as wrong:
            self._show([line((legible(str(wrong), 1_000), BAD))])

    def on_sql_editor_offered(self, event: SqlEditor.Offered) -> None:
        """Other names fit."""
        self.query_one(Offer).show(event.completing, event.chosen)

    def on_text_area_changed(self) -> None:
        """Typed on: what ran before is no longer what stands there."""
        self._drafts[self._key] = self.editor.text
        if self._tried is not None and self._tried[0] != self.editor.text:
            self._tried = None
        self._say()

    def on_descendant_focus(self) -> None:
        """Keys mean something else in the editor than beside it."""
        self._say()

    def action_run(self) -> None:
        """Run what stands there; its rows, or why there are none, are shown."""
        sql = self.editor.text
        if self._trying or not sql.strip():
            return
        if normalised(sql) == normalised(self._sql):
            self._show([line((UNCHANGED, WARN))])
            return
        self._trying = True
        self._say()
        self.run_worker(self._run(sql), exit_on_error=False)

    async def _run(self, sql: str) -> None:
        try:
            result = await self._workbench.run(self._database, sql)
        except MeritoError as wrong:
            self._show([line((legible(str(wrong), 1_000), BAD))])
            return
        finally:
            self._trying = False
        self._tried, self._since = (sql, result), monotonic()
        if result.error:
            self._show([line(("it does not run: ", BAD), legible(result.error, 2_000))])
            return
        paper = self.query_one("#tried", Paper)
        paper.show([Block("rows", self._since, partial(_rows, result))])
        if sql == self.editor.text:
            paper.focus()
            self.set_timer(GUARD, self._say)
        self._say()

    def action_answer(self, yes: bool) -> None:
        """Take the yes to the rows on show, once they could be read."""
        if not yes:
            self.editor.focus()
        elif self.armed:
            self._take(Corrected() if self._agreement else Corrected(self.editor.text.strip()))

    def action_insist(self) -> None:
        """The answer's rows are right only by luck: the correction is meant."""
        if self._agreement and self.armed:
            self._take(Corrected(self.editor.text.strip(), BY_LUCK))

    def _take(self, corrected: Corrected) -> None:
        self._drafts.pop(self._key, None)
        self.dismiss(corrected)

    @property
    def _agreement(self) -> str:
        """That what was tried gives the answer's own rows; empty where it does not."""
        return agreement(self._result, self._tried[1]) if self._tried is not None else ""

    def action_leave_or_copy(self) -> None:
        """Ctrl+c copies what is selected; where nothing is, it leaves."""
        if self.editor.has_focus and self.editor.selected_text:
            self.editor.action_copy()
        else:
            self.action_leave()

    def action_leave(self) -> None:
        """Back to the editor from the rows; out of the editor after a question where something was
        typed."""
        if not self.editor.has_focus:
            self.editor.focus()
        elif self.editor.text.strip() in ("", self._sql.strip()):
            self._drafts.pop(self._key, None)
            self.dismiss(None)
        else:
            self.app.push_screen(
                Confirm("Leave without judging?", "What you typed is kept for this answer."),
                self._left,
            )

    def _left(self, sure: bool | None) -> None:
        if sure:
            self.dismiss(None)

    def _show(self, lines: Sequence[Line]) -> None:
        self.query_one("#tried", Paper).show([Block("words", monotonic(), lambda _width: lines)])
        self._say()

    def _say(self) -> None:
        verdict = self.query_one(Verdict)
        if self._trying:
            verdict.say(ink((" running ...", QUIET)))
        elif self._tried is not None and not self._tried[1].error and not self.editor.has_focus:
            key = f"{ACCENT} bold" if self.armed else QUIET
            if same := self._agreement:
                parts: list[Part] = [
                    (" ? ", f"{WARN} bold"),
                    (same, "bold"),
                    " And the answer that waits?\n  ",
                ]
                for choice in (AS_IT_IS, ALL_THE_SAME, EDIT_ON):
                    parts += [" ", (choice.key, key), f" {choice.label} "]
                verdict.say(ink(*parts))
                return
            verdict.say(
                ink((" ? ", f"{WARN} bold"), "Is that the right answer?  ",
                    ("y", key), " yes, learn from it   ", ("n", key), " edit on")
            )  # fmt: skip
        elif self._tried is not None and not self._tried[1].error:
            verdict.say(ink((" ran ", GOOD), ("ctrl+r", f"{ACCENT} bold"), " run again  ",
                            ("esc", f"{ACCENT} bold"), " leave"))  # fmt: skip
        else:
            verdict.say(ink((" ctrl+r", f"{ACCENT} bold"), " run it  ",
                            ("esc", f"{ACCENT} bold"), " leave"))  # fmt: skip


def _rows(result: ResultTable, width: int) -> list[Line]:
    if not result.columns:
        return [line(("no columns", QUIET))]
    shown = min(_ROWS, len(result.rows))
    words = line((row_count_words(result, shown), QUIET))
    return [words, *table_lines(result, width, _ROWS, indent=0)]
