"""Keys of a person's own: what [keys] in the settings may say, what is left aside with a word, and
that bar, help and palette tell the keys in force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import MeritoError
from tests.tui.console.stage import console, notices, on_screen, settled, until
from tui import checkup, settings
from tui.console.actions import ACTIONS, MOVE_KEYS, ROOM_ACTIONS, actions_of, key_words
from tui.console.keys import EATEN, Keys, Row, keys_from
from tui.console.preferences import Preferences
from tui.console.rooms import ROOMS
from tui.console.screens.dialogs import Sheet


def under(**rows: Any) -> Keys:
    """The keys under these rows; `_` stands for the dot in an action's name."""
    return keys_from(
        {name.replace("_", ".", 1): Row(keys, "merito.toml") for name, keys in rows.items()}
    )


def test_an_action_gets_other_keys_and_no_other_action_changes() -> None:
    keys = under(run_pause=["P", "ctrl+t"], all_help="f2")
    assert key_words(keys.named("run.pause")) == "P  ctrl+t"
    assert key_words(keys.named("all.help")) == "f2"
    assert keys.named("run.step") in ACTIONS
    assert not keys.troubles


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("?", "question_mark"), ("esc", "escape"), ("F5", "f5"), ("Ctrl+T", "ctrl+t"), (" ", "space"),
        ("shift+tab", "shift+tab"), ("+", "plus"), ("ctrl++", "ctrl+plus"), ("pgup", None), ("P", "P"),
        ("spce", None), ("ctrl", None), ("hyperspace+x", None), ("j", None), ("\x1b", None), ("", None),
        (7, None), (["F6", ""], None), ([], None), ("é", "é"),
    ],
)  # fmt: skip
def test_how_a_key_may_be_written(written: Any, meant: str | None) -> None:
    keys = under(run_step=written)
    if meant is None or meant == "é":
        assert bool(keys.troubles) == (meant is None)
        return
    clashes = {key for action in actions_of("run") for key in action.keys.split(",")}
    if meant not in clashes:
        assert keys.changed["run.step"] == meant


def test_two_actions_may_change_places() -> None:
    keys = under(run_pause="s", run_step="space")
    assert not keys.troubles
    assert keys.named("run.pause").keys == "s"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"run_puase": "p"}, "no action 'run.puase'. Did you mean 'run.pause'?"),
        ({"run_pause": "s"}, "s for run.pause already does run.step."),
        ({"run_pause": "F9", "run_step": "F9"}, "f9 for run.pause already does run.step."),
        ({"memory_approve": "?"}, "? for memory.approve already does all.help."),
        ({"all_theme": "2"}, "2 for all.theme already does room."),
        ({"run_pause": "j"}, "'j' moves in every list and sheet."),
        ({"run_pause": "ctrl+b"}, "ctrl+b for run.pause may not arrive: tmux takes it"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(rows: dict[str, Any], said: str) -> None:
    keys = under(**rows)
    assert said in keys.words
    assert "\n" not in keys.words
    if "ctrl+b" in rows.values():
        assert keys.changed == {"run.pause": "ctrl+b"}, "it may be meant; the person knows the terminal"
    else:
        assert not keys.changed


def test_a_key_is_free_in_another_room() -> None:
    assert not under(run_pause="o", replay_play="a").troubles


def test_every_action_keeps_a_key_that_arrives_whatever_the_terminal_eats() -> None:
    for action in (*ACTIONS, *ROOM_ACTIONS):
        assert set(action.keys.split(",")) - set(EATEN), action.name
        assert not set(action.keys.split(",")) & MOVE_KEYS, action.name
    assert not any(keys_from({}).troubles for _ in ROOMS)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings, "user_config", lambda: tmp_path / "user.toml")
    return tmp_path


def test_the_rows_come_from_both_files_quoted_or_not(files: Path) -> None:
    (files / "user.toml").write_text('[keys]\nrun.pause = "F6"\nrun.step = "F7"\n')
    (files / "merito.toml").write_text('budget = 3\n[keys]\n"run.pause" = ["F8"]\n')
    rows = settings.key_rows()
    assert rows["run.pause"] == settings.Value(["F8"], "merito.toml")
    assert rows["run.step"].value == "F7"
    assert settings.value("budget") == 3
    (files / "merito.toml").write_text("keys = 3")
    with pytest.raises(MeritoError, match=r"\[keys\] is no table"):
        settings.key_rows()


def test_doctor_tells_the_keys_and_what_is_wrong_with_them(files: Path) -> None:
    (files / "merito.toml").write_text('[keys]\nrun.pause = "F6"\nrun.step = "q"\n')
    found = {finding.what: finding for finding in checkup._keys(None)}
    assert found["key run.pause"].found == "f6"
    assert "q for run.step already does all.quit" in found["keys"].found


async def test_bar_help_and_palette_tell_the_keys_in_force_and_they_work() -> None:
    keys = under(run_pause="F6", all_help="F7", room_memory="F8", run_stpe="F9")
    app = console(hold=20, preferences=Preferences(keys=keys))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert "no action 'run.stpe'" in notices(app)[0]
        assert "f6 pause/go" in on_screen(app)
        await pilot.press("space")
        assert not app.staged.control.paused
        await pilot.press("f6")
        assert app.staged.control.paused
        await pilot.press("question_mark", "f7")
        await until(pilot, lambda: isinstance(app.screen, Sheet))
        await pilot.pause()
        text = app.screen.query_one("#sheet").text
        assert "f6                  Hold the run" in text
        assert "f8                  Go to Memory." in text
        await pilot.press("escape", "f8")
        await settled(pilot)
        assert app.current_mode == "memory"
