"""A person judges in the console: several questions wait, and each kind of word reaches its run."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.database.rows import Outcome, ResultTable
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    EpisodeOutcome,
    Hint,
    JudgementAwaited,
    PromptSent,
    SqlExecuted,
)
from tests.core.run.stage import RIGHT
from tests.streams import EventWriter, run_events
from tests.tui.console.oracle import judged_console
from tests.tui.console.stage import console, notices, on_screen, replaced, settled, sheet, until
from tui.console.app import MeritoApp
from tui.console.screens import correct, dialogs
from tui.console.screens.correct import Correct
from tui.console.screens.dialogs import Confirm, Words
from tui.console.screens.run import RunScreen
from tui.console.widgets import judgebar
from tui.console.widgets.editor import SqlEditor
from tui.console.widgets.judgebar import JudgeBar
from tui.view.judging import ASKED, BY_LUCK


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The half second in which keys are no answer has tests of its own."""
    for module in (judgebar, dialogs, correct):
        monkeypatch.setattr(module, "GUARD", 0.001)


def outcomes(app: MeritoApp) -> list[EpisodeOutcome]:
    episodes = [app.session.view.episode(row.position) for row in app.session.view.rows]
    return [episode.outcome for episode in episodes if episode is not None and episode.outcome]


def waiting(app: MeritoApp) -> list[tuple[int, int]]:
    return list(app.session.view.waiting)


async def all_wait(app: MeritoApp, pilot, count: int) -> None:
    await until(pilot, lambda: len(waiting(app)) == count)
    await settled(pilot)
    await until(pilot, lambda: app.screen_stack[0].query_one(JudgeBar).armed)


async def go(app: MeritoApp, pilot, position: int) -> None:
    """To the question that waits there, by the key for it, once every dialog is closed."""
    room = app.screen_stack[0]
    assert isinstance(room, RunScreen)
    await until(pilot, lambda: app.screen is room)
    await until(pilot, lambda: position in {place for place, _ in waiting(app)})
    await settled(pilot)
    for _ in range(len(waiting(app)) + 1):
        if room.queue.position == position:
            break
        await pilot.press("n")
    await settled(pilot)
    await until(pilot, lambda: room.asked() is not None and room.query_one(JudgeBar).armed)


async def editing(app: MeritoApp, pilot) -> Correct:
    await pilot.press("e")
    await until(pilot, lambda: isinstance(app.screen, Correct))
    screen = app.screen
    assert isinstance(screen, Correct)
    await until(pilot, lambda: screen.editor.schema is not None)
    return screen


async def test_the_questions_that_wait_are_counted_and_gone_to(tmp_path: Path) -> None:
    app = judged_console(tmp_path, 3)
    async with app.run_test(size=(120, 40)) as pilot:
        await all_wait(app, pilot, 3)
        text = on_screen(app)
        assert "? 3 to judge" in text
        assert "2, 3 wait too" in text
        assert "Which boats number 0 have a large crew?" in text
        assert "SELECT crew FROM boat" in sheet(app, "episode"), "what is asked about is in view"
        for expected in (1, 2, 0):
            await pilot.press("n")
            assert app.screen.queue.position == expected  # type: ignore[attr-defined]
        await pilot.press("n")
        await settled(pilot)
        assert app.screen.query_one(JudgeBar).asked == (1, 0)
        await pilot.press("r")
        await until(pilot, lambda: (1, 0) not in waiting(app))
        assert waiting(app) == [(0, 0), (2, 0)]


async def test_right_wrong_skip_and_correction_reach_their_questions(tmp_path: Path) -> None:
    app = judged_console(tmp_path, 4)
    async with app.run_test(size=(120, 40)) as pilot:
        await all_wait(app, pilot, 4)
        await pilot.press("r")
        await until(pilot, lambda: (0, 0) not in waiting(app))
        await settled(pilot)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press(*"names, [please]", "enter")
        await until(pilot, lambda: (1, 1) in waiting(app))
        await settled(pilot)
        episode = app.session.view.episode(1)
        assert episode is not None
        assert episode.attempts[0].remark == "names, [please]"
        assert "names, [please]" in episode.attempts[1].prompt[-1].content
        await go(app, pilot, 2)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        await pilot.press("y")
        await until(pilot, lambda: (2, 0) not in waiting(app))
        await go(app, pilot, 3)
        screen = await editing(app, pilot)
        screen.editor.text = RIGHT
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.armed)
        assert "Alba" in on_screen(app)
        await pilot.press("y")
        await until(pilot, lambda: not isinstance(app.screen, Correct))
        await go(app, pilot, 1)
        await pilot.press("r")
        await until(pilot, lambda: app.session.view.ended)
        assert outcomes(app) == [
            EpisodeOutcome.RIGHT_AT_ONCE,
            EpisodeOutcome.REPAIRED,
            EpisodeOutcome.SKIPPED,
            EpisodeOutcome.CORRECTED,
        ]
        taught = app.session.view.episode(3)
        assert taught is not None
        assert taught.learned is not None
        assert (taught.learned.revised_sql, taught.learned.provenance.judge) == (RIGHT, "ana")


@pytest.mark.parametrize(
    ("key", "outcome", "remark"),
    [("y", EpisodeOutcome.RIGHT_AT_ONCE, ""), ("w", EpisodeOutcome.CORRECTED, BY_LUCK)],
)
async def test_a_correction_with_the_answers_own_rows_is_asked_about_before_it_counts(
    key: str, outcome: EpisodeOutcome, remark: str, tmp_path: Path
) -> None:
    app = judged_console(tmp_path, 1)
    async with app.run_test(size=(80, 24)) as pilot:
        await all_wait(app, pilot, 1)
        screen = await editing(app, pilot)
        screen.editor.text = "SELECT boat.crew FROM boat"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.armed)
        await pilot.pause()
        for words in (
            "Both give the same rows.",
            "y right as it is",
            "w wrong all the same",
            "n edit",
        ):
            assert words in on_screen(app)
        await pilot.press("n")
        assert screen.editor.has_focus
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.armed)
        await pilot.press(key)
        await until(pilot, lambda: app.session.view.ended)
        assert outcomes(app) == [outcome]
        episode = app.session.view.episode(0)
        assert episode is not None
        assert episode.attempts[0].remark == remark
        assert (episode.attempts[0].correction == "SELECT boat.crew FROM boat") == bool(remark)


async def test_a_correction_with_other_rows_has_no_second_way_to_say_yes(tmp_path: Path) -> None:
    app = judged_console(tmp_path, 1)
    async with app.run_test(size=(80, 24)) as pilot:
        await all_wait(app, pilot, 1)
        screen = await editing(app, pilot)
        screen.editor.text = RIGHT
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.armed)
        await pilot.press("w")
        assert app.screen is screen
        assert "yes, learn from it" in on_screen(app)
        await pilot.press("y")
        await until(pilot, lambda: app.session.view.ended)
        assert outcomes(app) == [EpisodeOutcome.CORRECTED]


async def test_the_editor_completes_the_schemas_names(tmp_path: Path) -> None:
    app = judged_console(tmp_path, 1)
    async with app.run_test(size=(120, 40)) as pilot:
        await all_wait(app, pilot, 1)
        screen = await editing(app, pilot)
        screen.editor.text = ""
        await pilot.press(*"SELECT * FROM bo")
        await pilot.pause()
        assert "table" in on_screen(app)
        await pilot.press("tab", *" b WHERE b.", "ctrl+n", "ctrl+n", "tab")
        assert screen.editor.text == "SELECT * FROM boat b WHERE b.crew"
        await pilot.press("ctrl+p", *" > 'a", "tab")
        assert screen.editor.text.startswith("SELECT * FROM boat b WHERE b.crew > 'a"), (
            "no names in text"
        )


async def test_sql_that_a_terminal_would_obey_is_drawn_as_signs_and_stays_what_it_is() -> None:
    hostile = "SELECT '\x1b[31m\x07\u202e', 1\tFROM \x9bboat"
    editor = SqlEditor(hostile)
    drawn = editor.get_line(0).plain
    assert len(drawn) == len(hostile)
    assert not set("\x1b\x07\u202e\x9b") & set(drawn)
    assert editor.text == hostile


async def test_what_does_not_run_says_why_and_cannot_be_confirmed(tmp_path: Path) -> None:
    app = judged_console(tmp_path, 1)
    async with app.run_test(size=(120, 40)) as pilot:
        await all_wait(app, pilot, 1)
        screen = await editing(app, pilot)
        screen.editor.text = "SELECT nme FROM boat"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "no such column: nme" in sheet_of(screen))
        assert screen.editor.has_focus
        assert not screen.armed
        screen.editor.text = "DELETE FROM boat"
        await pilot.press("f5")
        await until(pilot, lambda: "not authorized" in sheet_of(screen))
        screen.editor.text = "  select crew\nFROM boat; "
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "as it stands" in sheet_of(screen))


def sheet_of(screen: Correct) -> str:
    from tui.console.widgets.paper import Paper

    return screen.query_one("#tried", Paper).text


async def test_typing_on_takes_the_confirmation_back(tmp_path: Path) -> None:
    app = judged_console(tmp_path, 1)
    async with app.run_test(size=(120, 40)) as pilot:
        await all_wait(app, pilot, 1)
        screen = await editing(app, pilot)
        screen.editor.text = "SELECT name FROM boat"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.armed)
        await pilot.press("n")
        assert screen.editor.has_focus
        await pilot.press("end", *" y")
        assert isinstance(app.screen, Correct)
        assert screen.editor.text == "SELECT name FROM boat y"
        assert not screen.armed


async def test_what_was_typed_is_never_lost(tmp_path: Path) -> None:
    app = judged_console(tmp_path, 1)
    async with app.run_test(size=(120, 40)) as pilot:
        await all_wait(app, pilot, 1)
        screen = await editing(app, pilot)
        screen.editor.text = "SELECT half a thought"
        await pilot.pause()
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        await pilot.press("y")
        await until(pilot, lambda: app.screen is app.screen_stack[0])
        assert waiting(app) == [(0, 0)], "leaving judges nothing"
        again = await editing(app, pilot)
        assert again.editor.text == "SELECT half a thought"
        again.editor.text = "SELECT crew FROM boat"
        await pilot.pause()
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.screen_stack[0])
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press(*"ab", "escape")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press("c", "enter")
        await until(pilot, lambda: (0, 1) in waiting(app))
        episode = app.session.view.episode(0)
        assert episode is not None
        assert episode.attempts[0].remark == "abc"


async def test_on_a_small_terminal_the_answer_comes_into_view(tmp_path: Path) -> None:
    app = judged_console(tmp_path, 2)
    async with app.run_test(size=(80, 24)) as pilot:
        await all_wait(app, pilot, 2)
        await until(pilot, lambda: "SELECT crew FROM boat" in on_screen(app))
        assert "correct it" in on_screen(app)
        screen = await editing(app, pilot)
        screen.editor.text = RIGHT
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.armed)
        await pilot.pause()
        assert "yes, learn from it" in on_screen(app)


def asked_about(sql: str, hints: int) -> list[AnyEvent]:
    """A run whose first question waits with its repair, which has eight rows."""
    rows = tuple((f"row {n}", n) for n in range(8))
    result = ResultTable(outcome=Outcome.OK, columns=("name", "n"), rows=rows, row_count=8, seconds=0.1)
    made: list[AnyEvent] = []
    for event in run_events(4, plans=[(EpisodeOutcome.REPAIRED, 2)]):
        if isinstance(event, PromptSent):
            told = tuple(Hint(attempt=0, kind="probe", text=f"hint {n}") for n in range(hints))
            event = replaced(event, hints=told)
        if isinstance(event, AnswerWritten):
            event = replaced(event, sql=sql)
        if isinstance(event, SqlExecuted):
            event = replaced(event, sql=sql, result=result)
        made.append(event)
        if isinstance(event, SqlExecuted) and event.attempt == 1:
            break
    writer = EventWriter(seq=made[-1].seq, at=made[-1].at)
    writer.add(JudgementAwaited, position=0, attempt=1)
    return [*made, *writer.events]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
@pytest.mark.parametrize(
    ("sql", "hints"),
    [("SELECT name, n FROM boat", 0), ("SELECT name, n FROM boat", 8), ("SELECT\n" * 30 + "1", 3)],
    ids=["short", "hints", "long"],
)
async def test_the_rows_that_are_judged_are_on_screen_and_the_key_to_all_of_them(
    sql: str, hints: int, size: tuple[int, int]
) -> None:
    app = console(asked_about(sql, hints))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen_stack[0].query_one(JudgeBar).armed)
        await settled(pilot)
        assert ASKED in on_screen(app)
        for n in range(5):
            assert f"row {n}" in on_screen(app)
        footer = on_screen(app).splitlines()[-1]
        assert footer.strip().startswith("enter detail")
        sheet_text = sheet(app, "episode")
        assert sheet_text.index("row 4") < (sheet_text + "hint 0").rindex("hint 0")
        await pilot.resize_terminal(size[0], size[1] - 2)
        await settled(pilot)
        assert "row 4" in on_screen(app), "also where the terminal gets smaller"


async def test_nothing_to_judge_is_said(tmp_path: Path) -> None:
    app = judged_console(tmp_path, 1)
    async with app.run_test(size=(120, 40)) as pilot:
        await all_wait(app, pilot, 1)
        await pilot.press("r")
        await until(pilot, lambda: app.session.view.ended)
        await settled(pilot)
        for key in ("r", "e", "n"):
            await pilot.press(key)
        assert any("No run is going on here." in words for words in notices(app))
