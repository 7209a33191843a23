"""The Memory screen: the library and its review."""

from __future__ import annotations

from textual.pilot import Pilot

from core.memory.entry import ReviewState
from tests.streams import run_events
from tests.tui.console.stage import Shelves, console, notices, on_screen, settled, sheet, until
from tui.console.app import MeritoApp
from tui.console.screens.dialogs import Confirm, Words
from tui.console.widgets.search import SearchField
from tui.console.widgets.shelf import Shelf


def shelf(app: MeritoApp) -> Shelf:
    return app.screen_stack[0].query_one(Shelf)


async def yes(pilot: Pilot[int]) -> None:
    """Answer the question that is asked."""
    app = pilot.app
    await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
    await pilot.press("y")
    await settled(pilot)


async def test_the_library_lists_every_memory_and_shows_the_chosen_one() -> None:
    app = console(room="memory")
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        assert shelf(app).row_count == 4
        await pilot.press("down")
        await settled(pilot)
        text = sheet(app, "entry")
        assert "- negative" in text
        assert "List the amber visits that lasted over 2 minutes." in text
        assert "replaced predicate: id > 6 -> id > 7" in text
        assert "retrieved 1 time, helped 0" in text
        assert 'CREATE TABLE visit (id INTEGER PRIMARY KEY, name TEXT, "full weight" REAL);' in text


async def test_one_key_rejects_and_u_takes_it_back() -> None:
    app = console(room="memory")
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        memory = shelf(app).chosen.id
        await pilot.press("r")
        await settled(pilot)
        assert app.library.state(memory) is ReviewState.REJECTED
        assert "\N{MULTIPLICATION SIGN} rejected" in on_screen(app)
        assert "1 memory: rejected. u takes it back." in notices(app)
        await pilot.press("u")
        await settled(pilot)
        assert app.library.state(memory) is ReviewState.APPROVED
        history = app.library.history(memory)
        assert [decision.remark for decision in history] == ["", "taken back"], "nothing is overwritten"
        assert {decision.who for decision in history} == {"ana"}


async def test_a_decision_with_a_remark_is_kept_with_its_words() -> None:
    app = console(room="memory")
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press(*"wrong [/b]", "enter")
        await settled(pilot)
        decision = app.library.decisions[-1]
        assert (decision.state, decision.remark) == (ReviewState.REJECTED, "wrong [/b]")
        assert "rejected by ana: wrong [/b]" in sheet(app, "entry")


async def test_a_remark_alone_leaves_the_state() -> None:
    app = console(room="memory")
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press(*"seen", "enter")
        await settled(pilot)
        assert app.library.decisions[-1].state is ReviewState.APPROVED
        assert app.library.decisions[-1].remark == "seen"


async def test_an_approval_takes_a_remark_along() -> None:
    app = console(room="memory")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press(*"checked", "enter")
        await until(pilot, lambda: app.library.decisions)
        last = app.library.decisions[-1]
        assert (last.state, last.remark) == (ReviewState.APPROVED, "checked")


async def test_the_list_is_narrowed_to_one_run() -> None:
    app = console(run_events(40), room="memory")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: shelf(app).row_count == 20)
        await pilot.press("l")
        assert shelf(app).filters["run"] == shelf(app).shown[0].run
        assert len({each.run for each in shelf(app).shown}) == 1


async def test_many_are_marked_and_decided_about_at_once() -> None:
    app = console(room="memory")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("space", "space", "space", "r")
        await yes(pilot)
        assert len(app.library.decisions) == 3
        assert not shelf(app).marks
        await pilot.press("u")
        await settled(pilot)
        assert len(app.library.decisions) == 6


async def test_restore_brings_back_the_state_in_which_it_began() -> None:
    app = console(room="memory")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("r")
        await settled(pilot)
        await pilot.press("o")
        await settled(pilot)
        assert app.library.decisions[-1].state is ReviewState.APPROVED


async def test_filters_and_search_narrow_the_list_and_esc_opens_it_again() -> None:
    app = console(run_events(40), room="memory")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: shelf(app).row_count == 20)
        await pilot.press("p")
        assert {each.polarity.value for each in shelf(app).shown} == {"negative"}
        await pilot.press("escape")
        assert shelf(app).row_count == 20
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, SearchField))
        await pilot.press(*"tramway", "enter")
        await settled(pilot)
        assert {each.database for each in shelf(app).shown} == {"tramway"}
        await pilot.press("t")
        assert len({each.failure for each in shelf(app).shown}) == 1
        await pilot.press("escape")
        assert shelf(app).row_count == 20


async def test_a_filter_that_leaves_nothing_says_how_to_get_out() -> None:
    app = console(room="memory")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, SearchField))
        await pilot.press(*"zzz", "enter")
        await settled(pilot)
        assert "Press esc to remove search and filters." in on_screen(app)


async def test_read_only_is_enforced_below_the_interface() -> None:
    app = console(room="memory", read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("r")
        assert notices(app) == ["This console is read-only: decisions are not possible."]
        screen = app.screen_stack[0]
        app.start(screen._record(app.library, [(shelf(app).chosen, ReviewState.REJECTED)], ""))
        await settled(pilot)
        assert any("decisions were not recorded" in words for words in notices(app))


async def test_a_store_that_another_console_writes_takes_no_decisions() -> None:
    events = run_events(8)
    app = console(events, room="memory", library=Shelves(events, read_only=True))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("a")
        assert notices(app) == ["This console is read-only: decisions are not possible."]


async def test_a_failing_store_becomes_a_notice_and_nothing_is_shown_as_done() -> None:
    app = console(room="memory")
    app.library.failing = "The disk is full: /x [/y]."
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("r")
        await settled(pilot)
        assert notices(app) == ["The disk is full: /x [/y]. Try again."]
        assert shelf(app).chosen.state is ReviewState.APPROVED
        await pilot.press("u")
        assert "You have decided nothing here that could be taken back." in notices(app)


async def test_what_the_run_learns_arrives_in_the_list() -> None:
    events = run_events(8)
    app = console(events, hold=20, room="memory", library=Shelves(events[:20]))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        before = shelf(app).row_count
        app.library._entries = Shelves(events)._entries
        app.staged.let_go.set()
        await until(pilot, lambda: shelf(app).row_count > before)
