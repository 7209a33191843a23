"""Ask: a database is looked at, a question put, its answer judged, and the next one profits."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from textual.widgets import Input

import sample_dbs
from core.errors import MeritoError
from core.memory.entry import Polarity
from stores.audit import Audit
from stores.errors import StoreInUse
from stores.store import Store
from tests.core.run.stage import RIGHT, WRONG, harbour
from tests.tui.console.oracle import asking_console
from tests.tui.console.stage import notices, on_screen, refusal, settled, sheet, until
from tui.console.app import MeritoApp
from tui.console.asker import Asker, folders_of
from tui.console.screens import correct, dialogs
from tui.console.screens.ask import AskField, AskScreen
from tui.console.screens.correct import Correct
from tui.console.screens.dialogs import Words
from tui.console.widgets import judgebar
from tui.console.widgets.judgebar import JudgeBar
from tui.order import Order


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The half second in which keys are no answer has tests of its own."""
    for module in (judgebar, dialogs, correct):
        monkeypatch.setattr(module, "GUARD", 0.001)


def room(app: MeritoApp) -> AskScreen:
    screen = app.screen_stack[0]
    assert isinstance(screen, AskScreen)
    return screen


async def put(app: MeritoApp, pilot, question: str) -> None:
    """Type a question and wait until somebody is asked about its answer."""
    await pilot.press("a")
    await until(pilot, lambda: isinstance(app.focused, AskField))
    await pilot.press(*question, "enter")
    await until(pilot, lambda: room(app).session.view.waiting)
    await settled(pilot)
    await until(pilot, lambda: room(app).query_one(JudgeBar).armed)


async def known(app: MeritoApp, pilot) -> None:
    await settled(pilot)
    await until(pilot, lambda: room(app).databases.schema is not None)
    await settled(pilot)


async def test_what_was_learned_is_used_with_the_next_question(tmp_path: Path) -> None:
    app = asking_console(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await known(app, pilot)
        await put(app, pilot, "Which boats have a large crew?")
        assert WRONG in sheet(app, "episode")
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press(*"names", "enter")
        await until(pilot, lambda: (0, 1) in room(app).session.view.waiting)
        await settled(pilot)
        await pilot.press("r")
        await until(pilot, lambda: not room(app).session.live)
        await settled(pilot)
        assert "learned + a positive memory" in sheet(app, "episode")

        await put(app, pilot, "Which boats have a crew beyond 3?")
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press("enter")
        await until(pilot, lambda: (0, 1) in room(app).session.view.waiting)
        await settled(pilot)
        memories = " ".join(sheet(app, "memories").split())
        assert "1 of 1 taken" in memories
        assert "Which boats have a large crew?" in memories
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, dialogs.Confirm) and app.screen.armed)
        await pilot.press("y")
        await until(pilot, lambda: not room(app).session.live)
    await app.asker.close()  # type: ignore[union-attr]
    with Store.open(tmp_path / "merito.sqlite", mode="read") as store:
        assert [record.questions for record in store.runs()] == [1, 1]
        (entry,) = store.entries()
        assert (entry.polarity, entry.provenance.judge) == (Polarity.POSITIVE, "ana")
        assert not list(Audit(store).violations())


async def test_the_persons_own_sql_is_tried_on_the_chosen_database(tmp_path: Path) -> None:
    app = asking_console(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await known(app, pilot)
        await put(app, pilot, "Which boats have a large crew?")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, Correct))
        screen = app.screen
        assert isinstance(screen, Correct)
        screen.editor.text = RIGHT
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.armed)
        await pilot.press("y")
        await until(pilot, lambda: not room(app).session.live)
        await settled(pilot)
        assert "corrected by a person" in sheet(app, "episode")


async def test_tables_columns_and_rows_are_looked_at(tmp_path: Path) -> None:
    app = asking_console(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await known(app, pilot)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "10.5" in on_screen(app))
        text = on_screen(app)
        assert "boat_id" in text
        assert "→ boat" in text
        await pilot.press("enter")
        await settled(pilot)
        assert "boat_id" not in on_screen(app)


def test_each_file_is_offered_once_and_none_that_is_no_database_of_the_users(tmp_path: Path) -> None:
    own = harbour(tmp_path)
    with Store.open(own / "merito.sqlite", create=True):
        pass
    (own / "empty.db").touch()
    (own / "notes.sqlite").write_text("not a database")
    (tmp_path / "linked").symlink_to(own)
    folders = [(own, ""), (tmp_path / "linked", "linked"), (own, "sample")]
    asker = Asker(lambda: Order(stream=""), folders=folders)
    assert [(each.name, each.about) for each in asker.sources] == [("harbour", "")]
    again = asker.add(tmp_path / "linked")
    assert again == asker.sources[0], "what is named again is the one that is there"
    assert len(asker.sources) == 1
    (tmp_path / "bare").mkdir()
    with pytest.raises(MeritoError, match="There is no database in"):
        asker.add(tmp_path / "bare")


def test_the_samples_named_as_a_root_are_offered_once() -> None:
    folder = sample_dbs.folder()
    inside = folder / "database" if (folder / "database").is_dir() else folder
    asker = Asker(lambda: Order(stream=""), folders=folders_of(inside))
    names = [each.name for each in asker.sources]
    assert names
    assert len(names) == len(set(names))


async def test_another_database_is_opened_and_a_wrong_path_is_told(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / "odd [x].sqlite"
    path.parent.mkdir()
    with sqlite3.connect(path) as conn:
        conn.execute('CREATE TABLE "[/b] t" ("a.b" TEXT)')
        conn.execute("INSERT INTO \"[/b] t\" VALUES ('[/x]' || char(27) || '[31m')")
    conn.close()
    app = asking_console(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await known(app, pilot)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press(*"/nowhere.sqlite", "enter", "q")
        await until(pilot, lambda: "There is no database /nowhere.sqlite." in on_screen(app))
        assert app.screen.query_one(Input).value == "/nowhere.sqliteq", "letters are letters still"
        (tmp_path / "notes.sqlite").write_text("not a database")
        app.screen.query_one(Input).value = str(tmp_path / "notes.sqlite")
        await pilot.press("enter")
        await until(pilot, lambda: "is not an SQLite database" in refusal(app))
        assert not notices(app)
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, Words))
        await until(pilot, lambda: "[/b] t" in on_screen(app))
        assert room(app).databases.chosen.name == "odd [x]"  # type: ignore[union-attr]
        await settled(pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "first rows of [/b] t:" in on_screen(app))
        assert "\x1b[31m" not in on_screen(app)


async def test_the_field_says_which_key_leads_to_it(tmp_path: Path) -> None:
    app = asking_console(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await known(app, pilot)
        name = room(app).databases.chosen.name  # type: ignore[union-attr]
        assert f"press a, then type a question about {name}, then enter" in on_screen(app)
        await pilot.press("a")
        await settled(pilot)
        assert "press a," not in on_screen(app)
        assert f"a question about {name}, then enter" in on_screen(app)
        await pilot.press("escape", "up", "enter")
        await settled(pilot)
        assert room(app).databases.chosen is None
        assert "choose a database first (enter on it), press a, then type a question" in on_screen(app)


async def test_a_second_question_waits_for_the_word_about_the_first(tmp_path: Path) -> None:
    app = asking_console(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await known(app, pilot)
        await pilot.press("a", "enter")
        assert notices(app) == ["The question is empty. Say what you want to know."]
        await pilot.press("escape")
        await put(app, pilot, "Which boats have a large crew?")
        await pilot.press("a", *"And now?", "enter")
        assert any("still open" in words for words in notices(app))
        assert room(app).query_one(AskField).value == "And now?", "what was typed stays"
        await pilot.press("escape", "r")
        await until(pilot, lambda: not room(app).session.live)


async def test_what_keeps_a_question_from_being_answered_is_told_and_it_stays(tmp_path: Path) -> None:
    app = asking_console(tmp_path)

    def gone() -> None:
        raise MeritoError("There is no model at hand.", "Run: merito models pull")

    app.asker._engines_at_hand = gone  # type: ignore[union-attr, assignment]
    async with app.run_test(size=(120, 40)) as pilot:
        await known(app, pilot)
        await pilot.press("a", *"Which?", "enter")
        told = "There is no model at hand. Run: merito models pull"
        await until(pilot, lambda: told in on_screen(app))
        assert not notices(app), "what the banner says is not said twice"
        assert room(app).query_one(AskField).value == "Which?"
        Store.open(tmp_path / "merito.sqlite").close()


async def test_only_a_question_under_way_keeps_other_writers_out(tmp_path: Path) -> None:
    app, path = asking_console(tmp_path), tmp_path / "merito.sqlite"
    async with app.run_test(size=(120, 40)) as pilot:
        await known(app, pilot)
        for runs in (1, 2):
            await put(app, pilot, "Which boats have a large crew?")
            with pytest.raises(StoreInUse):
                Store.open(path)
            await pilot.press("r")
            await until(pilot, lambda: not (room(app).session.live or app.asker.writing))  # type: ignore[union-attr]
            with Store.open(path) as theirs:
                assert len(theirs.runs()) == runs


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_it_is_usable_at_every_size(size: tuple[int, int], tmp_path: Path) -> None:
    app = asking_console(tmp_path)
    async with app.run_test(size=size) as pilot:
        await known(app, pilot)
        assert "boat" in on_screen(app)
        await put(app, pilot, "Which boats have a large crew?")
        text = on_screen(app)
        assert WRONG in text
        assert "correct it" in text
        await pilot.press("r")
        await until(pilot, lambda: not room(app).session.live)


async def test_where_nothing_can_be_asked_the_room_says_what_to_do() -> None:
    for app, words in (
        (MeritoApp(room="ask"), "merito console --root FOLDER"),
        (MeritoApp(room="ask", read_only=True), "This console is read-only: it asks nothing."),
        (MeritoApp(room="ask", read_only=True, recording=True), "merito ask shop.sqlite"),
    ):
        async with app.run_test(size=(120, 40)) as pilot:
            await settled(pilot)
            assert words in on_screen(app)
            await pilot.press("a", "o", "r")
            assert notices(app)
