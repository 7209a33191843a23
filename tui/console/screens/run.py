"""Run, the home screen: watch the live run, steer it, judge for it."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from core.run.control import Control, Judgement
from tui.console.actions import Action, bindings_of
from tui.console.screens.watch import WatchScreen
from tui.console.widgets.judgebar import JudgeBar

_STEERING = ("run.pause", "run.step", "run.skip", "run.stop")
_JUDGING = ("run.right", "run.wrong")


class RunScreen(WatchScreen):
    """The live run with its controls."""

    ROOM = "run"
    BINDINGS = bindings_of("run")

    def __init__(self) -> None:
        super().__init__()
        self._told = 0.0

    def compose_body(self) -> Iterable[Widget]:
        """The panes, and the bar that asks for a judgement."""
        yield from super().compose_body()
        yield JudgeBar()

    def refresh_view(self) -> None:
        """The panes, who waits to be judged, and what should be told."""
        super().refresh_view()
        self._ask_for_judgement()
        self._announce()

    def no_run_words(self) -> str:
        """How to get a run onto this screen."""
        return (
            "No run is open here.\n\n"
            "Start one from the shell:\n  merito demo\n  merito run STREAM\n\n"
            "Or watch a stored one: press 3, Replay."
        )

    def live_position(self) -> int | None:
        """An answer that waits for a person comes before what goes on."""
        waiting = self.session.waits_for_judge(None) if self.session.steerable else None
        return super().live_position() if waiting is None else waiting[0]

    def offers(self, action: Action) -> bool:
        """Steering while there is something to steer; judging while something waits."""
        if action.name in _JUDGING:
            return self._asked() is not None
        if action.name in _STEERING:
            return self.session.steerable
        return super().offers(action)

    def action_pause(self) -> None:
        """Hold the run, or let it go on."""
        control = self._control()
        if control is not None:
            (control.resume if control.paused else control.pause)()
            self.refresh_view()

    def action_step(self) -> None:
        """One attempt, then hold."""
        control = self._control()
        if control is not None:
            control.step()
            self.refresh_view()

    def action_skip(self) -> None:
        """End the chosen episode, after a question."""
        control, position = self._control(), self.queue.position
        if control is None or position is None:
            return
        if self.session.view.rows[position].state.final:
            self.tell(f"Question {position + 1} is finished; there is nothing to skip.")
            return
        self.console_app.confirm(
            f"Skip question {position + 1}?",
            "Its episode ends before its next attempt and teaches nothing.",
            lambda: control.skip(position),
        )

    def action_stop(self) -> None:
        """End the run, after a question."""
        control = self._control()
        if control is not None:
            self.console_app.confirm(
                "Stop the run?", "What is finished stays; the run can be resumed later.", control.stop
            )

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
            f"Question {asked[0] + 1} is wrong",
            "enter sends it; a remark is shown to the model, none is fine; esc takes it back",
            judge,
        )

    def _announce(self) -> None:
        """Tell what happened to the run as a whole, each thing once, the same words not twice."""
        news = [each for each in self.session.view.happenings if each.at > self._told]
        if not news:
            return
        self._told = news[-1].at
        if not self.console_app.stored:
            for words, serious in dict.fromkeys((each.words, each.serious) for each in news):
                self.tell(words, serious=serious)

    def _judge(self, asked: tuple[int, int], judgement: Judgement) -> None:
        if not self.session.judge(*asked, judgement):
            self.tell("That answer no longer waits for a judgement.")
        self.refresh_view()

    def _ready_to_judge(self) -> tuple[int, int] | None:
        """The attempt on show that waits, once its half second is over."""
        if self._control() is None:
            return None
        asked = self._asked()
        if asked is None:
            waiting = self.session.waits_for_judge(None)
            if waiting is None:
                self.tell("No answer waits for a judgement.")
            else:
                self.queue.select_position(waiting[0])
                self.refresh_view()
            return None
        return asked if self.query_one(JudgeBar).armed else None

    def _asked(self) -> tuple[int, int] | None:
        position = self.queue.position
        return self.session.waits_for_judge(position) if position is not None else None

    def _ask_for_judgement(self) -> None:
        waiting = self.session.view.waiting if self.session.steerable else {}
        asked = self._asked() if waiting else None
        self.query_one(JudgeBar).ask(asked, len(waiting) - 1)

    def _control(self) -> Control | None:
        """The hand on the run; without one, a word about why."""
        if self.session.steerable:
            return self.session.control
        if self.console_app.read_only:
            self.tell("This console is read-only: it watches the run and cannot steer it.")
        elif self.session.control is not None and self.session.control.stopped and self.session.live:
            self.tell("The run is stopping.")
        else:
            self.tell("No run is going on here. Start one with 'merito run' or 'merito demo'.")
        return None
