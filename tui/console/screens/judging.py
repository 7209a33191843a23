"""Judging on a screen: right, wrong with a remark, the person's own SQL. Run and Ask both do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.run.control import Control, Judgement
from tui.console.actions import Action
from tui.console.widgets.episode import Episode
from tui.console.widgets.judgebar import JudgeBar
from tui.view.judging import REMARK

if TYPE_CHECKING:
    from tui.console.screens.base import RoomScreen as Base
    from tui.console.screens.correct import Corrected
else:
    Base = object

Key = tuple[int, int]
"""Position and attempt."""


class Judging(Base):
    """What a screen with a judge bar can do about the answer that waits. The screen says which one is
    on show, and gets at the run's hand."""

    def asked(self) -> Key | None:
        """The attempt on show that waits for a word."""
        raise NotImplementedError

    def hand(self) -> Control | None:
        """The hand on the run; without one, the screen has said why."""
        raise NotImplementedError

    def look_for_asked(self) -> None:
        """Judged where nothing on show waits: go to what does, or say that nothing does."""
        raise NotImplementedError

    def action_judge_right(self) -> None:
        """The waiting answer is right."""
        asked = self._ready_to_judge()
        if asked is not None:
            self._judge(asked, Judgement(right=True, who=self.console_app.who))

    def action_judge_wrong(self) -> None:
        """The waiting answer is wrong; a remark may say why."""
        asked = self._ready_to_judge()
        if asked is None:
            return

        def judge(remark: str | None) -> None:
            if remark is not None:
                self._judge(
                    asked, Judgement(right=False, who=self.console_app.who, remark=remark.strip())
                )

        self.console_app.ask_words(
            f"Question {asked[0] + 1} is wrong", f"enter sends it, esc takes it back. {REMARK}", judge
        )

    def action_judge_edit(self) -> None:
        """Write the right SQL, and try it before it counts."""
        asked = self._ready_to_judge()
        if asked is None:
            return
        episode = self.session.view.episode(asked[0])
        if episode is None or self.session.workbench is None:
            self.tell("The database is not at hand here; the answer cannot be corrected.")
            return
        from tui.console.screens.correct import Correct

        who, attempt = self.console_app.who, episode.attempts[asked[1]]

        def judge(word: Corrected | None) -> None:
            if word is not None:
                right, sql = not word.sql, word.sql
                judgement = Judgement(right=right, corrected_sql=sql, who=who, remark=word.remark)
                self._judge(asked, judgement)

        self.app.push_screen(
            Correct(
                question=episode.question.text,
                database=episode.question.database,
                sql=attempt.sql,
                result=attempt.result,
                workbench=self.session.workbench,
                drafts=self.session.drafts,
                key=asked,
            ),
            judge,
        )

    def show_judge_bar(self) -> None:
        """Ask about what is on show, and count the others."""
        waiting = list(self.session.view.waiting) if self.session.steerable else []
        asked = self.asked() if waiting else None
        others = [key[0] + 1 for key in waiting if key != asked]
        bar = self.query_one(JudgeBar)
        if asked != bar.asked:
            # The bar takes lines of the sheet's: what is judged stays in view.
            self.query_one(Episode).hold(asked)
        bar.ask(asked, others, self._words_of(asked))

    def rank(self, action: Action) -> int:
        """What shows the whole answer comes first while one is judged."""
        judged = action.does == "detail" and self.query_one(JudgeBar).asked is not None
        return 0 if judged else super().rank(action)

    def _words_of(self, asked: Key | None) -> str:
        episode = self.session.view.episode(asked[0]) if asked is not None else None
        return episode.question.text if episode is not None else ""

    def _judge(self, asked: Key, judgement: Judgement) -> None:
        if not self.session.judge(*asked, judgement):
            self.tell("That answer no longer waits for a judgement.")
        self.refresh_view()

    def _ready_to_judge(self) -> Key | None:
        """The attempt on show that waits, once its half second is over."""
        if self.hand() is None:
            return None
        asked = self.asked()
        if asked is None:
            self.look_for_asked()
            return None
        return asked if self.query_one(JudgeBar).armed else None
