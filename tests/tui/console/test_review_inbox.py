"""Hundreds of memories reviewed in minutes: what each key of the inbox does."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot

from core.errors import MeritoError
from core.memory.entry import ReviewDecision, ReviewState
from core.memory.staleness import seen
from tests.streams import run_events
from tests.tui.console.stage import Shelves, console, notices, on_screen, settled, sheet, until
from tui.console.app import MeritoApp
from tui.console.screens.dialogs import Confirm, Words
from tui.console.screens.places import ChoosePlace
from tui.console.widgets.search import SearchField
from tui.console.widgets.shelf import Shelf

WAITING = 12


def shelf(app: MeritoApp) -> Shelf:
    return app.screen_stack[0].query_one(Shelf)


def inbox() -> MeritoApp:
    """Twelve memories that wait, three of them the same lesson."""
    events = run_events(24)
    library = Shelves(events)
    entries = [msgspec.structs.replace(e, confirmed=False) for e in library._entries[:WAITING]]
    one = entries[0]
    for place in (4, 9):
        context = msgspec.structs.replace(entries[place].context, failed_sql=one.context.failed_sql)
        entries[place] = msgspec.structs.replace(
            entries[place],
            polarity=one.polarity,
            failure=one.failure,
            context=context,
            revised_sql=one.revised_sql,
        )
    library._entries = entries
    return console(events, room="memory", library=library)


async def confirmed(pilot: Pilot[int]) -> None:
    app = pilot.app
    await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
    await pilot.press("y")
    await settled(pilot)


async def said(pilot: Pilot[int], words: str) -> None:
    app = pilot.app
    await until(pilot, lambda: isinstance(app.screen, Words))
    await pilot.press(*words, "enter")
    await settled(pilot)


async def test_after_a_decision_the_cursor_goes_to_the_next_that_waits() -> None:
    app = inbox()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert f"0 of {WAITING} reviewed" in on_screen(app)
        for key in "aar":
            await pilot.press(key)
            await settled(pilot)
        assert shelf(app).cursor == 3
        assert f"3 of {WAITING} reviewed" in on_screen(app)
        await pilot.press("g", "w")
        await settled(pilot)
        assert shelf(app).cursor == 3, "w goes to what waits"
        await pilot.press("u")
        await settled(pilot)
        assert shelf(app).cursor == 2, "what is taken back is under the cursor"
        assert f"2 of {WAITING} reviewed" in on_screen(app)


async def test_everything_on_show_is_decided_about_after_a_yes_and_taken_back_at_once() -> None:
    app = inbox()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("asterisk", "a")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        assert f"{WAITING} memories: approved?" in on_screen(app)
        await pilot.press("enter")
        await settled(pilot)
        assert app.library.decisions == [], "no is the default"
        await pilot.press("a")
        await confirmed(pilot)
        assert len(app.library.decisions) == WAITING
        await pilot.press("u")
        await settled(pilot)
        assert len(app.library.decisions) == 2 * WAITING
        assert {each.state for each in shelf(app).shown} == {ReviewState.PENDING}


async def test_near_duplicates_stand_together_and_are_decided_about_together() -> None:
    app = inbox()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("n")
        await settled(pilot)
        first = [each.id for each in shelf(app).shown[:3]]
        assert len({shelf(app).groups[memory] for memory in first}) == 1
        assert "≈3" in on_screen(app)
        assert "2 near-duplicates" in sheet(app, "entry")
        await pilot.press("N", "r")
        await confirmed(pilot)
        assert sorted(each.memory for each in app.library.decisions) == sorted(first)


async def test_what_somebody_else_decided_meanwhile_is_shown_and_not_decided_over() -> None:
    app = inbox()
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        memory = shelf(app).chosen.id
        theirs = ReviewDecision(
            memory=memory, state=ReviewState.REJECTED, who="bo", at=1.0, remark="too [/x] narrow"
        )
        app.library.decisions.append(theirs)
        await pilot.press("a")
        await settled(pilot)
        assert app.library.decisions == [theirs]
        assert any('bo decided rejected meanwhile: "too [/x] narrow"' in n for n in notices(app))
        assert "! rejected" in on_screen(app)
        assert "rejected by bo: too [/x] narrow" in sheet(app, "entry")
        await pilot.press("a")
        await settled(pilot)
        assert app.library.state(memory) is ReviewState.APPROVED, "now it is decided knowingly"


async def test_decisions_of_others_arrive_by_themselves() -> None:
    app = inbox()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        memory = shelf(app).shown[5].id
        app.library.decisions.append(
            ReviewDecision(memory=memory, state=ReviewState.REJECTED, who="bo", at=1.0)
        )
        await until(pilot, lambda: shelf(app).every[memory].state is ReviewState.REJECTED)


async def test_a_stale_memory_is_marked_and_asked_about_again() -> None:
    app = inbox()
    memory = app.library._entries[2].id
    app.library._entries = [
        msgspec.structs.replace(each, confirmed=True) for each in app.library._entries
    ]
    app.library.contradicted = {memory: ("column visit.weight is gone",)}
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("w")
        await settled(pilot)
        assert shelf(app).chosen.id == memory
        assert "! stale" in on_screen(app)
        assert "column visit.weight is gone" in sheet(app, "entry")
        await pilot.press("a")
        await settled(pilot)
        assert "! stale" not in on_screen(app)
        assert seen(app.library.decisions[-1].remark)
        await pilot.press("u")
        await settled(pilot)
        assert "! stale" in on_screen(app), "taken back, it is a question again"


async def test_a_tilde_searches_by_meaning_in_the_order_of_nearness() -> None:
    app = inbox()
    nearest = [each.id for each in app.library._entries[5:2:-1]]
    app.library.meaning = nearest
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("tilde")
        await until(pilot, lambda: isinstance(app.focused, SearchField))
        await pilot.press(*"stays", "enter")
        await until(pilot, lambda: [each.id for each in shelf(app).shown] == nearest)
        assert "by meaning: stays" in on_screen(app)
        await pilot.press("escape")
        await settled(pilot)
        assert shelf(app).row_count == WAITING


async def test_where_no_encoder_is_installed_a_search_by_meaning_says_so() -> None:
    app = inbox()
    app.library.meaning = MeritoError("The encoder x cannot be loaded.", "Install it.")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, SearchField))
        await pilot.press(*"~stays", "enter")
        await until(pilot, lambda: any("The encoder x cannot be loaded." in n for n in notices(app)))
        assert shelf(app).row_count == WAITING, "the list stays as it is"


async def test_a_memory_s_origin_opens_in_replay() -> None:
    app = inbox()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("j", "j")
        await settled(pilot)
        position = shelf(app).chosen.position
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, ChoosePlace))
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "replay")
        await until(pilot, lambda: app.screen.playback is not None)
        await settled(pilot)
        assert f"Question {position + 1}" in sheet(app, "episode")


async def test_what_changes_nothing_is_said_and_not_recorded() -> None:
    app = inbox()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("a")
        await settled(pilot)
        made = len(app.library.decisions)
        await pilot.press("g", "a")
        await settled(pilot)
        assert notices(app)[-1] == "1 memory: approved already."
        await pilot.press("r", "g", "r")
        await settled(pilot)
        assert notices(app)[-1] == "1 memory: rejected already."
        assert len(app.library.decisions) == made + 1
        await pilot.press("g", "o")
        await settled(pilot)
        await pilot.press("g", "o")
        await settled(pilot)
        assert notices(app)[-1] == "1 memory: as it began already."


async def test_of_many_those_that_are_so_already_are_counted_apart() -> None:
    app = inbox()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("a")
        await settled(pilot)
        await pilot.press("g", "space", "space", "space", "a")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        assert "2 memories: approved?" in on_screen(app)
        assert "1 memory more: approved already." in on_screen(app)
        await pilot.press("y")
        await until(pilot, lambda: len(app.library.decisions) == 3)


async def test_the_way_to_what_waits_is_offered_while_something_does() -> None:
    events = run_events(2)
    for app, offered in ((inbox(), True), (console(events, room="memory"), False)):
        async with app.run_test(size=(120, 40)) as pilot:
            await settled(pilot)
            assert shelf(app).row_count
            assert ("next to review" in on_screen(app).splitlines()[-1]) is offered


async def test_what_is_on_show_is_exported_and_files_are_imported(tmp_path: Path) -> None:
    app = inbox()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("space", "space", "x")
        await said(pilot, str(tmp_path))
        ((folder, memories),) = app.library.exported
        assert folder == tmp_path
        assert len(memories) == 2
        (tmp_path / "positives.jsonl").touch()
        await pilot.press("x")
        await said(pilot, str(tmp_path))
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        await pilot.press("n")
        await settled(pilot)
        assert len(app.library.exported) == 1, "files are replaced only after a yes"
        await pilot.press("i")
        await said(pilot, "/nowhere")
        await pilot.press("q")
        assert "There is no /nowhere." in on_screen(app)
        field = app.screen.query_one("#words")
        assert field.value == "/nowhereq", "what was typed stays, and letters are letters"
        field.value = ""
        await said(pilot, str(tmp_path))
        assert any(n.startswith("1 new memory from") for n in notices(app))


@pytest.mark.parametrize(("size", "beside"), [((200, 60), True), ((80, 24), False)])
async def test_the_change_stands_side_by_side_where_there_is_room(
    size: tuple[int, int], beside: bool
) -> None:
    app = inbox()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press("tab")
        await settled(pilot)
        text = sheet(app, "entry")
        assert "WHERE id > 0" in text
        assert "WHERE id > 1" in text
        lines = [line for line in text.splitlines() if "WHERE" in line]
        assert any("│" in line for line in lines) == beside
        assert ("- WHERE id > 0" in text) == (not beside)
