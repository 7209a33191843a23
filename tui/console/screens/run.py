"""Run, the home screen: watch the live run, steer it, judge for it."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from core.run.control import Control
from tui.console.actions import Action, bindings_of
from tui.console.kept import Choice
from tui.console.screens.judging import Judging, Key
from tui.console.screens.runs import NO_MODEL_NEEDED
from tui.console.screens.watch import WatchScreen
from tui.console.widgets.judgebar import JudgeBar

_STEERING = ("run.pause", "run.step", "run.skip", "run.stop")
_JUDGING = ("run.right", "run.wrong", "run.edit")


class RunScreen(Judging, WatchScreen):
    """The live run with its controls."""

    ROOM = "run"
    BINDINGS = bindings_of("run")

    def __init__(self) -> None:
        super().__init__()
        self._told = 0.0
        self._brought: Key | None = None
        """The attempt that was put in view by itself, on a screen that shows one pane at a time."""

    def choices(self) -> dict[str, Choice]:
        """Whether the live question is followed, besides what every room keeps."""
        return super().choices() | {"following": self.follows}

    def take_choices(self, choices: dict[str, Choice]) -> None:
        """Follow, or stay, as it was chosen last time."""
        super().take_choices(choices)
        self.following = self.follows = choices.get("following") is not False

    def compose_body(self) -> Iterable[Widget]:
        """The panes, and the bar that asks for a judgement."""
        yield from super().compose_body()
        yield JudgeBar(self.key)

    def refresh_view(self) -> None:
        """The panes, who waits to be judged, and what should be told."""
        super().refresh_view()
        self.show_judge_bar()
        self._bring_asked()
        self._announce()

    def no_run_words(self) -> str:
        """How to get a run onto this screen."""
        shell = "the shell"
        if self.console_app.to_come is not None:
            shell = "another shell; it is shown here as soon as it begins"
        return (
            f"No run is open here.\n\n"
            f"Start one from {shell}:\n  merito demo\n  merito run STREAM\n\n"
            f"{NO_MODEL_NEEDED}\n\n"
            f"Or watch a stored one: press {self.way_to('replay')}.\n"
            f"Or put a question of your own: press {self.way_to('ask')}.\n"
            f"Every key of a screen: press {self.key('all.help')}."
        )

    @property
    def goes_on(self) -> bool:
        """Nothing follows in a run that is over."""
        return self.session.live

    def live_position(self) -> int | None:
        """An answer that waits for a person comes before what goes on."""
        waiting = self.session.waits_for_judge(None) if self.session.steerable else None
        return super().live_position() if waiting is None else waiting[0]

    def asked(self) -> Key | None:
        """The chosen question's attempt, where it waits for a word."""
        position = self.queue.position
        return self.session.waits_for_judge(position) if position is not None else None

    def look_for_asked(self) -> None:
        """Go to the question that has waited longest."""
        waiting = self.session.waits_for_judge(None)
        if waiting is None:
            self.tell("No answer waits for a judgement.")
        else:
            self._go_to(waiting[0])

    def action_next_waiting(self) -> None:
        """Go to the next question that waits, round and round."""
        waiting = sorted({position for position, _ in self.session.view.waiting})
        if self.hand() is None:
            return
        if not waiting:
            self.tell("No answer waits for a judgement.")
            return
        here = -1 if self.queue.position is None else self.queue.position
        self._go_to(next((each for each in waiting if each > here), waiting[0]))

    def _go_to(self, position: int) -> None:
        self.following = False
        if not self.queue.select_position(position):
            self.search_for("")
            self.queue.select_position(position)
        self._attempt = None
        self.refresh_view()

    def _bring_asked(self) -> None:
        """One pane at a time: what a person is asked about is the one in view."""
        asked = self.asked() if self.session.steerable else None
        if asked is None or asked == self._brought:
            return
        self._brought = asked
        if self.has_class("-narrow") and self.focused is self.queue:
            self.front("episode")

    def offers(self, action: Action) -> bool:
        """Steering while there is something to steer; judging while something waits."""
        if action.name in _JUDGING:
            return self.session.steerable and self.asked() is not None
        if action.name == "run.next":
            return self.session.steerable and bool(set(self.session.view.waiting) - {self.asked()})
        if action.name in _STEERING:
            return self.session.steerable
        return super().offers(action)

    def action_pause(self) -> None:
        """Hold the run, or let it go on."""
        control = self.hand()
        if control is not None:
            (control.resume if control.paused else control.pause)()
            self.refresh_view()

    def action_step(self) -> None:
        """One attempt, then hold."""
        control = self.hand()
        if control is not None:
            control.step()
            self.refresh_view()

    def action_skip(self) -> None:
        """End the chosen episode, after a question."""
        control, position = self.hand(), self.queue.position
        if control is None or position is None:
            return
        if self.session.view.rows[position].state.final:
            self.tell(f"Question {position + 1} is finished; there is nothing to skip.")
            return
        self.console_app.confirm(
            f"Skip question {position + 1}?",
            "Its episode ends before its next attempt and teaches nothing.",
            lambda: control.skip(position, self.console_app.who),
        )

    def action_stop(self) -> None:
        """End the run, after a question."""
        control = self.hand()
        if control is not None:
            self.console_app.confirm(
                "Stop the run?", "What is finished stays; the run can be resumed later.", control.stop
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

    def hand(self) -> Control | None:
        """The hand on the run; without one, a word about why."""
        if self.session.steerable:
            return self.session.control
        if self.console_app.read_only:
            self.tell(self.console_app.restraint.refuses("it shows the run and cannot steer it"))
        elif self.session.control is not None and self.session.control.stopped and self.session.live:
            self.tell("The run is stopping.")
        else:
            self.tell("No run is going on here. Start one with 'merito run' or 'merito demo'.")
        return None
